package vec52

// Projective points of a curve y² = x³ + b of odd order, for sums over secrets: what is done
// with them, and where in memory, depends on no point and no digit. Eight lie in a place of
// three blocks, X, Y and Z, of coordinates below 1.1 p; (0 : 1 : 0) is the identity.

// Choices is the number of multiples of a point in a table: digits are -Choices to Choices.
const Choices = 16

// ProjectiveWords is the number of words of eight projective points.
func (f *Field) ProjectiveWords() int { return 3 * f.Block() }

// SetIdentities sets places of projective points to the identity.
func (f *Field) SetIdentities(sums []uint64) {
	clear(sums)
	one := f.one()
	for at := f.Block(); at < len(sums); at += f.ProjectiveWords() {
		f.fill(sums[at:], &one)
	}
}

// AddSelected adds the multiples of points that digits name to a sum, one place after the
// other, lane by lane: table has Choices places for each, of 1 to Choices times eight points.
func (f *Field) AddSelected(sum, table []uint64, digits []int64) {
	n := len(digits) / Width
	if len(sum) != f.ProjectiveWords() || len(digits)%Width != 0 || len(table) != n*Choices*f.PlaceWords() {
		panic("lanes: lengths")
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

// AddProjective adds others to sums, place by place.
func (f *Field) AddProjective(sums, others []uint64) {
	n := len(sums) / f.ProjectiveWords()
	if len(others) != len(sums) {
		panic("lanes: lengths")
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

// Double doubles a place of projective points n times.
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
