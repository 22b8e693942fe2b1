package adapter

// The vector operations of scalarField are plain loops: on these groups a point
// addition costs as much as ten to a hundred of their steps.

// sameLength panics if lengths differ, as Group demands.
func sameLength(n int, others ...int) {
	for _, m := range others {
		if m != n {
			panic("group: vectors of different lengths")
		}
	}
}

func (f *scalarField) AddVec(z, a, b []Scalar) {
	sameLength(len(z), len(a), len(b))
	for i := range z {
		f.Add(&z[i], &a[i], &b[i])
	}
}

func (f *scalarField) SubVec(z, a, b []Scalar) {
	sameLength(len(z), len(a), len(b))
	for i := range z {
		f.Sub(&z[i], &a[i], &b[i])
	}
}

func (f *scalarField) MulVec(z, a, b []Scalar) {
	sameLength(len(z), len(a), len(b))
	for i := range z {
		f.Mul(&z[i], &a[i], &b[i])
	}
}

func (f *scalarField) ScaleVec(z, a []Scalar, c *Scalar) {
	sameLength(len(z), len(a))
	factor := *c // may be an element of z
	for i := range z {
		f.Mul(&z[i], &a[i], &factor)
	}
}

func (f *scalarField) InnerProduct(a, b []Scalar) Scalar {
	sameLength(len(a), len(b))
	var sum, product Scalar
	for i := range a {
		f.Mul(&product, &a[i], &b[i])
		f.Add(&sum, &sum, &product)
	}
	return sum
}

func (f *scalarField) Powers(z []Scalar, x *Scalar) {
	base, power := *x, f.one
	for i := range z {
		z[i] = power
		f.Mul(&power, &power, &base)
	}
}

// BatchInvert uses Montgomery's trick: it inverts the product once and unwinds it.
func (f *scalarField) BatchInvert(z []Scalar) {
	prefix := make([]Scalar, len(z)) // product of the non-zero elements before i
	product := f.one
	for i := range z {
		prefix[i] = product
		if !f.IsZero(&z[i]) {
			f.Mul(&product, &product, &z[i])
		}
	}
	f.Inverse(&product, &product)
	for i := len(z) - 1; i >= 0; i-- {
		if f.IsZero(&z[i]) {
			continue
		}
		prefixInverse := product
		f.Mul(&product, &product, &z[i])
		f.Mul(&z[i], &prefixInverse, &prefix[i])
	}
}

func (f *scalarField) Fold(z, lo, hi []Scalar, c *Scalar) {
	sameLength(len(z), len(lo))
	if len(hi) > len(lo) {
		panic("group: Fold: hi is longer than lo")
	}
	factor := *c
	for i := range z {
		if i < len(hi) {
			var product Scalar
			f.Mul(&product, &hi[i], &factor)
			f.Add(&z[i], &lo[i], &product)
		} else {
			z[i] = lo[i]
		}
	}
}
