// Package montgomery implements BN254's base field in Montgomery form: x is represented as x·R mod
// p, where R = 2²⁵⁶.
//
// Products follow Montgomery (Modular multiplication without trial division, Math. Comp. 44, 1985),
// limb by limb with the method CIOS (Koç, Acar, Kaliski: Analyzing and comparing Montgomery
// multiplication algorithms, IEEE Micro 16, 1996).
package montgomery

import "github.com/zkbench/zkbench/riscv/guests/pairing/internal/limbs"

//go:generate go run generate.go

// Element represents x as x·R mod p, where p is the modulus of BN254's base field and R is 2²⁵⁶.
// The least significant limb comes first. The zero value is zero. Results may alias operands.
type Element [4]uint64

// inverse is -1/p mod 2⁶⁴.
const inverse = 0x87d20782e4866389

// FromLimbs sets z to the integer x, which must be below p.
func (z *Element) FromLimbs(x *[4]uint64) {
	// R² mod p.
	z.Mul((*Element)(x), &Element{0xf32cfc5b538afa89, 0xb5e71911d44501fb, 0x47ab1eff0a417ff6, 0x06d89f71cab8351f})
}

// Limbs returns x as an integer below p.
func (x *Element) Limbs() [4]uint64 {
	var z Element
	z.Mul(x, &Element{1})
	return z
}

// Add sets z to x + y.
func (z *Element) Add(x, y *Element) {
	limbs.Add((*[4]uint64)(z), (*[4]uint64)(x), (*[4]uint64)(y))
}

// Sub sets z to x - y.
func (z *Element) Sub(x, y *Element) {
	limbs.Sub((*[4]uint64)(z), (*[4]uint64)(x), (*[4]uint64)(y))
}
