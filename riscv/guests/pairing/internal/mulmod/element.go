// Package mulmod implements BN254's base field on plain integers. For products it calls the
// machine's precompile that multiplies modulo any 256-bit number.
package mulmod

import (
	"github.com/zkbench/zkbench/riscv/guest"
	"github.com/zkbench/zkbench/riscv/guests/pairing/internal/limbs"
)

// Element is an integer below p, the modulus of BN254's base field. The least significant limb
// comes first. The zero value is zero. Results may alias operands.
type Element [4]uint64

// FromLimbs sets z to x, which must be below p.
func (z *Element) FromLimbs(x *[4]uint64) { *z = *x }

// Limbs returns x as an integer below p.
func (x *Element) Limbs() [4]uint64 { return *x }

// Add sets z to x + y.
func (z *Element) Add(x, y *Element) {
	limbs.Add((*[4]uint64)(z), (*[4]uint64)(x), (*[4]uint64)(y))
}

// Sub sets z to x - y.
func (z *Element) Sub(x, y *Element) {
	limbs.Sub((*[4]uint64)(z), (*[4]uint64)(x), (*[4]uint64)(y))
}

// Mul sets z to x·y.
func (z *Element) Mul(x, y *Element) {
	guest.MulMod((*[4]uint64)(z), (*[4]uint64)(x), (*[4]uint64)(y), &limbs.P)
}
