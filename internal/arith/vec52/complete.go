package vec52

// The functions in this file work on projective points of a curve y² = x³ + b of odd order, for sums over secrets.
// Their operations and memory accesses do not depend on any point or digit. The identity is (0 : 1 : 0).

// Choices is the number of multiples that AddSelected's table has of each point. AddSelected's digits go from
// -Choices to Choices.
const Choices = 16

// ProjectiveWords returns how many words a place of eight projective points takes.
func (f *Field) ProjectiveWords() int { return 3 * f.Block() }

// SetIdentities sets all projective points in sums to the identity.
func (f *Field) SetIdentities(sums []uint64) {
	clear(sums)
	one := f.one()
	for at := f.Block(); at < len(sums); at += f.ProjectiveWords() {
		f.fill(sums[at:], &one)
	}
}

// AddSelected adds multiples of points to sum, which is one place of projective points, lane by lane. For every
// eight points, digits has Width digits, and each digit says which multiple of its point is added. For every eight
// points, table has Choices places of affine points: the points' multiples by 1 to Choices.
func (f *Field) AddSelected(sum, table []uint64, digits []int64) {
	n := len(digits) / Width
	if len(sum) != f.ProjectiveWords() || len(digits)%Width != 0 || len(table) != n*Choices*f.PlaceWords() {
		panic("vec52: lengths")
	}
	switch {
	case n == 0:
	case !f.wide:
		f.addSelectedPortable(sum, table, digits)
	case f.limbs == 5:
		addSelected5(&sum[0], &table[0], &digits[0], &f.constants[0], n)
	default:
		addSelected8(&sum[0], &table[0], &digits[0], &f.constants[0], n)
	}
}

// AddProjective adds others to sums, point by point. Both hold projective points and must have the same length.
func (f *Field) AddProjective(sums, others []uint64) {
	n := len(sums) / f.ProjectiveWords()
	if len(others) != len(sums) {
		panic("vec52: lengths")
	}
	switch {
	case n == 0:
	case !f.wide:
		f.addProjectivePortable(sums, others)
	case f.limbs == 5:
		addPoints5(&sums[0], &others[0], &f.constants[0], n)
	default:
		addPoints8(&sums[0], &others[0], &f.constants[0], n)
	}
}

// Double doubles n times each point of sum, which is one place of projective points.
func (f *Field) Double(sum []uint64, n int) {
	switch {
	case n == 0:
	case !f.wide:
		f.doublePortable(sum, n)
	case f.limbs == 5:
		double5(&sum[0], &f.constants[0], n)
	default:
		double8(&sum[0], &f.constants[0], n)
	}
}
