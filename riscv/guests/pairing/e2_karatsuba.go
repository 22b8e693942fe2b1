//go:build bigint

package main

// mul sets z to x·y, by Karatsuba's method.
func (z *e2) mul(x, y *e2) {
	var low, high, all, sum fp
	low.Mul(&x.a0, &y.a0)
	high.Mul(&x.a1, &y.a1)
	all.Add(&x.a0, &x.a1)
	sum.Add(&y.a0, &y.a1)
	all.Mul(&all, &sum)
	z.a0.Sub(&low, &high)
	all.Sub(&all, &low)
	z.a1.Sub(&all, &high)
}

// square sets z to x² = (a0 + a1)(a0 - a1) + 2·a0·a1·u.
func (z *e2) square(x *e2) {
	var sum, difference, twice fp
	sum.Add(&x.a0, &x.a1)
	difference.Sub(&x.a0, &x.a1)
	twice.Add(&x.a0, &x.a0)
	z.a1.Mul(&twice, &x.a1)
	z.a0.Mul(&sum, &difference)
}
