//go:build !bigint && !precompile

package main

// mul takes four products and two reductions, which is less than Karatsuba's three of each (Longa:
// Efficient algorithms for large prime characteristic fields and their application to bilinear pairings,
// TCHES 2023, section 3).
func (z *e2) mul(x, y *e2) {
	var minus, a0 fp
	minus.Sub(&zero, &y.a1)
	a0.MulAdd(&x.a0, &y.a0, &x.a1, &minus)
	z.a1.MulAdd(&x.a0, &y.a1, &x.a1, &y.a0)
	z.a0 = a0
}
