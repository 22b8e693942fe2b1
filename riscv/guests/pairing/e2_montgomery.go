//go:build !bigint && !precompile

package main

import "github.com/zkbench/zkbench/riscv/guests/pairing/internal/limbs"

// mul sets z to x·y. It takes four products and two reductions, which is less than the three of
// each in Karatsuba's method (Longa: Efficient algorithms for large prime characteristic fields and
// their application to bilinear pairings, TCHES 2023, section 3).
func (z *e2) mul(x, y *e2) {
	var minus, a0 fp
	limbs.Complement((*[4]uint64)(&minus), (*[4]uint64)(&y.a1))
	a0.MulAdd(&x.a0, &y.a0, &x.a1, &minus)
	z.a1.MulAdd(&x.a0, &y.a1, &x.a1, &y.a0)
	z.a0 = a0
}

// square sets z to x² = (a0 + a1)(a0 - a1) + 2·a0·a1·u.
func (z *e2) square(x *e2) {
	var sum, difference, twice fp
	limbs.Square2((*[4]uint64)(&sum), (*[4]uint64)(&difference), (*[4]uint64)(&twice), x.pair())
	z.a1.Mul(&twice, &x.a1)
	z.a0.Mul(&sum, &difference)
}
