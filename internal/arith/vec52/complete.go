package vec52

// The functions in this file work on projective points of a curve y² = x³ + b of odd order, for sums over secrets.
// Their operations and memory accesses do not depend on any point or digit. The identity is (0 : 1 : 0).

// Choices is the number of multiples of each point that AddSelected can add: the multiples by 1 to Choices.
// AddSelected can also add their negatives or 0, so its digits range from -Choices to Choices.
const Choices = 16

// ProjectiveWords returns the number of 64-bit words that eight projective points take.
func (f *Field) ProjectiveWords() int { return 3 * f.Block() }

// SetIdentities sets all projective points in sums to the identity.
func (f *Field) SetIdentities(sums []uint64) {
	clear(sums)
	one := f.one()
	for at := f.Block(); at < len(sums); at += f.ProjectiveWords() {
		f.fill(sums[at:], &one)
	}
}

// AddSelected adds multiples of affine points to the eight projective points in sum. The affine points come in
// groups of eight; a multiple of point k of each group is added to point k of sum. For each group, the parameter
// digits has eight digits, one for each point: if the digit is d, AddSelected adds d times the point. The
// parameter table holds multiples of the points. For each group, these are first the points themselves, then twice
// the points, and so on, up to Choices times the points.
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

// AddProjective adds each point in others to the point at the same position in sums. Both parameters hold
// projective points in groups of eight, and must have the same length.
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

// Double doubles each of the eight projective points in sum n times.
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
