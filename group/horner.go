package group

import "github.com/zkbench/zkbench/internal/arith/vec52"

// leastHorner returns the number of sums from which horner takes less time than separate Jacobian
// doublings (docs/arithmetic.md has the times of both).
func (w *wide[E, PE]) leastHorner() int {
	if w.field.Block() == 5*vec52.Width {
		return 2
	}
	return 4
}

// horner keeps the sums as projective points in SIMD vectors, and doubles and adds them by complete
// formulas.
func (w *wide[E, PE]) horner(dst []affine[E], at []int32, doublings int) {
	f, n := w.field, len(dst)
	b, size := f.Block(), f.ProjectiveWords()
	all := (n + vec52.Width - 1) / vec52.Width * size
	w.projective = vec52.Resize(w.projective, 2*all)
	sums, addends := w.projective[:all], w.projective[all:]
	f.SetIdentities(sums)
	for last := len(at) - n; last >= 0; last -= n {
		if last < len(at)-n {
			for p := 0; p < all; p += size {
				f.Double(sums[p:p+size], doublings)
			}
		}
		f.SetIdentities(addends)
		for j, position := range at[last : last+n] {
			if position < 0 {
				continue
			}
			x, y, from := w.locate(position)
			to := addends[j/vec52.Width*size+j%vec52.Width:]
			for l := 0; l < b; l += vec52.Width {
				to[2*b+l] = to[b+l] // Z is one, which the identity's Y is
				to[l], to[b+l] = x[l+from], y[l+from]
			}
		}
		f.AddProjective(sums, addends)
	}
	w.toAffine(dst, sums)
}

// toAffine sets dst to projective points with one inversion for all: x = X/Z and y = Y/Z, or (0, 0)
// if Z = 0.
func (w *wide[E, PE]) toAffine(dst []affine[E], points []uint64) {
	b, size := w.field.Block(), w.field.ProjectiveWords()
	w.z = resize(w.z, len(dst))
	product := PE(&w.element)
	product.SetUint64(1)
	for j := range dst {
		p, z := &dst[j], &w.z[j]
		place, lane := points[j/vec52.Width*size:], j%vec52.Width
		w.field.Get(wordsOf(&p.X), place, lane)
		w.field.Get(wordsOf(&p.Y), place[b:], lane)
		w.field.Get(wordsOf(z), place[2*b:], lane)
		if PE(z).IsZero() {
			*p = affine[E]{}
			continue
		}
		w.fromEntry(p)
		PE(z).Mul(z, &w.out)
		// x and y times all z before, and in the end 1/(all z up to theirs): x/z, y/z.
		PE(&p.X).Mul(&p.X, &w.element)
		PE(&p.Y).Mul(&p.Y, &w.element)
		product.Mul(&w.element, z)
	}
	product.Inverse(&w.element)
	for j := len(dst) - 1; j >= 0; j-- {
		if p, z := &dst[j], &w.z[j]; !PE(z).IsZero() {
			PE(&p.X).Mul(&p.X, &w.element)
			PE(&p.Y).Mul(&p.Y, &w.element)
			product.Mul(&w.element, z)
		}
	}
}
