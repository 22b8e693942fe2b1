package adapter

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"math/bits"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/group/internal/integer"
)

// Scalar is a scalar of one of the groups that are not on gnark-crypto. A scalar x is an integer
// modulo a prime of at most 256 bits. It is stored in Montgomery form, as x·2^256 modulo the prime,
// with the least significant limb first. The zero value is 0.
type Scalar struct{ l integer.Limbs }

// scalarField provides arithmetic modulo an odd q of 256 bits or less. Unlike gnark-crypto's fields
// it does not need spare bits above q: FP256BN's order has all 256.
type scalarField struct {
	q         integer.Limbs
	qInv      uint64 // -1/q mod 2^64
	one       Scalar // 2^256 mod q
	r2, r3    Scalar // 2^512 and 2^768 mod q
	orderBits int
}

func newScalarField(order *big.Int) scalarField {
	f := scalarField{q: integer.FromBig(order), orderBits: order.BitLen()}
	inv := f.q[0] // right to 3 bits, since odd squares are 1 mod 8
	for range 5 {
		inv *= 2 - f.q[0]*inv // doubles the right bits: 6, 12, 24, 48, 96
	}
	f.qInv = -inv
	power := func(n uint) Scalar {
		x := new(big.Int).Lsh(big.NewInt(1), n)
		return Scalar{integer.FromBig(x.Mod(x, order))}
	}
	f.one, f.r2, f.r3 = power(256), power(512), power(768)
	return f
}

// reduce sets z to carry·2^256 + t, less q if that is not negative. This reduces any value below 2q
// completely.
func (f *scalarField) reduce(z, t *integer.Limbs, carry uint64) {
	var d integer.Limbs
	var b uint64
	for i := range d {
		d[i], b = bits.Sub64(t[i], f.q[i], b)
	}
	keep := -(b &^ carry) // all ones if t is below q
	for i := range z {
		z[i] = t[i]&keep | d[i]&^keep
	}
}

// Add sets z = a + b. The sum is below 2q, so one reduction is enough.
func (f *scalarField) Add(z, a, b *Scalar) {
	var t integer.Limbs
	var c uint64
	for i := range t {
		t[i], c = bits.Add64(a.l[i], b.l[i], c)
	}
	f.reduce(&z.l, &t, c)
}

// Sub sets z = a - b. It adds q back if the difference is negative.
func (f *scalarField) Sub(z, a, b *Scalar) {
	var t integer.Limbs
	var borrow, c uint64
	for i := range t {
		t[i], borrow = bits.Sub64(a.l[i], b.l[i], borrow)
	}
	for i := range t {
		z.l[i], c = bits.Add64(t[i], f.q[i]&-borrow, c)
	}
}

func (f *scalarField) Neg(z, a *Scalar) { f.Sub(z, &Scalar{}, a) }

// Mul sets z to Montgomery's product a·b/2^256, interleaved word by word (Koç, Acar, Kaliski,
// Analyzing and comparing Montgomery multiplication algorithms, 1996, CIOS). a may be any 256-bit
// integer if b < q. Then the accumulator stays below 2^256 + q after each word, which fits 257
// bits, and the result before the last reduction is below (2^256·q + 2^256·q)/2^256 = 2q.
func (f *scalarField) Mul(z, a, b *Scalar) {
	var t integer.Limbs
	var top uint64 // of t, 0 or 1 between words
	for _, w := range b.l {
		var c, carry uint64
		for j := range t {
			// t + a·w + c <= 2(2^64-1) + (2^64-1)² < 2^128: hi takes both carries.
			hi, lo := bits.Mul64(a.l[j], w)
			lo, carry = bits.Add64(lo, c, 0)
			hi += carry
			t[j], carry = bits.Add64(t[j], lo, 0)
			c = hi + carry
		}
		var over uint64
		top, over = bits.Add64(top, c, 0)

		m := t[0] * f.qInv
		hi, lo := bits.Mul64(m, f.q[0])
		_, carry = bits.Add64(t[0], lo, 0)
		c = hi + carry
		for j := 1; j < 4; j++ {
			hi, lo = bits.Mul64(m, f.q[j])
			lo, carry = bits.Add64(lo, c, 0)
			hi += carry
			t[j-1], carry = bits.Add64(t[j], lo, 0)
			c = hi + carry
		}
		t[3], carry = bits.Add64(top, c, 0)
		top = over + carry
	}
	f.reduce(&z.l, &t, top)
}

// Inverse sets z = a^(q-2), which is 1/a by Fermat, or 0 if a is 0.
func (f *scalarField) Inverse(z, a *Scalar) {
	e := f.q // its lowest limb is above 2 for all orders in use: no borrow
	e[0] -= 2
	base, acc := *a, f.one
	for i := 255; i >= 0; i-- {
		f.Mul(&acc, &acc, &acc)
		if e[i/64]>>(i%64)&1 == 1 {
			f.Mul(&acc, &acc, &base)
		}
	}
	*z = acc
}

func (f *scalarField) IsZero(a *Scalar) bool   { return *a == Scalar{} }
func (f *scalarField) Equal(a, b *Scalar) bool { return *a == *b }

// canonical returns the integer in [0, q).
func (f *scalarField) canonical(a *Scalar) integer.Limbs {
	var z Scalar
	f.Mul(&z, a, &Scalar{integer.Limbs{1}})
	return z.l
}

func (f *scalarField) ScalarFromUint64(v uint64) Scalar {
	z := Scalar{integer.Limbs{v}}
	f.Mul(&z, &z, &f.r2)
	return z
}

// ScalarFromWide passes both halves to Mul unreduced, since its first factor may be any 256-bit
// integer: hi·2^768/2^256 + lo·2^512/2^256 = (hi·2^256 + lo)·2^256.
func (f *scalarField) ScalarFromWide(wide []byte) Scalar {
	if len(wide) != group.WideLen {
		panic("group: ScalarFromWide takes group.WideLen bytes")
	}
	hi, lo := Scalar{integer.FromBytes(wide)}, Scalar{integer.FromBytes(wide[32:])}
	f.Mul(&hi, &hi, &f.r3)
	f.Mul(&lo, &lo, &f.r2)
	f.Add(&hi, &hi, &lo)
	return hi
}

func (f *scalarField) AppendScalars(dst []byte, s ...Scalar) []byte {
	for i := range s {
		l := f.canonical(&s[i])
		for k := 3; k >= 0; k-- {
			dst = binary.BigEndian.AppendUint64(dst, l[k])
		}
	}
	return dst
}

func (f *scalarField) DecodeScalars(dst []Scalar, src []byte) error {
	if len(src) != 32*len(dst) {
		return &zkbench.DecodeError{Path: "scalars", Reason: fmt.Sprintf("%d bytes, want %d", len(src), 32*len(dst))}
	}
	for i := range dst {
		l := integer.FromBytes(src[32*i : 32*i+32])
		var borrow uint64
		for k := range l {
			_, borrow = bits.Sub64(l[k], f.q[k], borrow)
		}
		if borrow == 0 {
			return &zkbench.DecodeError{Path: fmt.Sprintf("[%d]", i), Offset: 32 * i, Reason: "scalar not below the group order"}
		}
		dst[i].l = l
		f.Mul(&dst[i], &dst[i], &f.r2)
	}
	return nil
}
