//go:build bigint || !precompile

package main

func (z *e2) add(x, y *e2) {
	z.a0.Add(&x.a0, &y.a0)
	z.a1.Add(&x.a1, &y.a1)
}

func (z *e2) sub(x, y *e2) {
	z.a0.Sub(&x.a0, &y.a0)
	z.a1.Sub(&x.a1, &y.a1)
}

// square is (a0 + a1)(a0 - a1) + 2·a0·a1·u.
func (z *e2) square(x *e2) {
	var sum, difference, twice fp
	sum.Add(&x.a0, &x.a1)
	difference.Sub(&x.a0, &x.a1)
	twice.Add(&x.a0, &x.a0)
	z.a1.Mul(&twice, &x.a1)
	z.a0.Mul(&sum, &difference)
}

// mulXi is the product by ξ = 9 + u.
func (z *e2) mulXi(x *e2) {
	var nine e2
	nine.double(x)
	nine.double(&nine)
	nine.double(&nine)
	nine.add(&nine, x)
	a0 := x.a0
	z.a0.Sub(&nine.a0, &x.a1)
	z.a1.Add(&nine.a1, &a0)
}
