//go:build bigint

package main

// mul is Karatsuba's product.
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
