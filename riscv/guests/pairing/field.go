package main

import (
	"encoding/binary"

	"github.com/zkbench/zkbench/riscv/guests/pairing/internal/limbs"
)

// field has the methods of the type fp, which the build's tags select. An fp is an element of
// BN254's base field and has one representation, so == reports whether two elements are equal. A
// result may be an operand.
type field[E any] interface {
	*E
	FromLimbs(x *[4]uint64) // x is below p, the least significant limb first
	Limbs() [4]uint64
	Add(x, y *E)
	Sub(x, y *E)
	Mul(x, y *E)
}

func conforms[E comparable, P field[E]]() {}

var _ = conforms[fp]

// constant returns the element x < p. The least significant limb is first, and limbs that are
// omitted are zero.
func constant(x ...uint64) (z fp) {
	var all [4]uint64
	copy(all[:], x)
	z.FromLimbs(&all)
	return z
}

var (
	zero fp
	one  = constant(1)
)

// invert sets z to x^(p-2), which is 1/x for x != 0.
func invert(z, x *fp) {
	e := limbs.P
	e[0] -= 2
	base := *x
	*z = one
	for i := 253; i >= 0; i-- {
		z.Mul(z, z)
		if e[i/64]>>(i%64)&1 == 1 {
			z.Mul(z, &base)
		}
	}
}

// appendBytes appends x as 32 big-endian bytes.
func appendBytes(b []byte, x *fp) []byte {
	l := x.Limbs()
	for i := 3; i >= 0; i-- {
		b = binary.BigEndian.AppendUint64(b, l[i])
	}
	return b
}
