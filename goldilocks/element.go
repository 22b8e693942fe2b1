// Package goldilocks implements the field with p = 2^64 - 2^32 + 1 elements, with its extensions,
// vectors and transforms. Functions take and return canonical elements. Vector operations run on
// the widest kernel that the processor has.
//
// Nothing here is constant-time: additions, reductions, Inverse, Exp and the transforms branch on
// their operands. Use the package for the public data of proofs, not for secrets whose timing an
// attacker can measure.
//
// Names and constants follow Remco Bloemen, "The Goldilocks Prime". The provers plonky2, Plonky3
// and Polygon's Hermez prover use this field.
package goldilocks

import (
	"encoding/binary"
	"fmt"
	"math/bits"

	"github.com/zkbench/zkbench"
)

// Modulus is p = 2^64 - 2^32 + 1.
const Modulus = 0xffffffff00000001

// epsilon is 2^64 mod p.
const epsilon = 1<<32 - 1

// Element is an element of the field: its least non-negative representative, below Modulus.
// Operations take and return such values. For other values their results are undefined, except for
// Reduce and Canonical.
type Element uint64

// Reduce returns v mod p.
func Reduce(v uint64) Element {
	if v >= Modulus {
		v -= Modulus
	}
	return Element(v)
}

// Canonical reports whether e is below Modulus.
func (e Element) Canonical() bool { return e < Modulus }

// Add returns e + f.
func (e Element) Add(f Element) Element {
	sum, carry := bits.Add64(uint64(e), uint64(f), 0)
	// e + f < 2p, so one subtraction does; a carry means 2^64 <= e + f, and then the
	// difference wraps to the right value.
	reduced, borrow := bits.Sub64(sum, Modulus, 0)
	if carry != 0 || borrow == 0 {
		return Element(reduced)
	}
	return Element(sum)
}

// Sub returns e - f.
func (e Element) Sub(f Element) Element {
	d, borrow := bits.Sub64(uint64(e), uint64(f), 0)
	return Element(d - epsilon*borrow) // adding p is subtracting 2^32 - 1 modulo 2^64
}

// Neg returns -e.
func (e Element) Neg() Element { return Element(0).Sub(e) }

// Double returns 2e.
func (e Element) Double() Element { return e.Add(e) }

// Mul returns e * f.
func (e Element) Mul(f Element) Element {
	hi, lo := bits.Mul64(uint64(e), uint64(f))
	return Reduce128(hi, lo)
}

// Square returns e^2.
func (e Element) Square() Element { return e.Mul(e) }

// Reduce128 returns hi * 2^64 + lo mod p.
func Reduce128(hi, lo uint64) Element { return Reduce(reduce128(hi, lo)) }

// reduce128 returns a number below 2^64 that equals hi * 2^64 + lo modulo p.
//
// With hi = h 2^32 + l, 2^64 = 2^32 - 1 and 2^96 = -1: lo - h + l (2^32 - 1).
func reduce128(hi, lo uint64) uint64 {
	d, borrow := bits.Sub64(lo, hi>>32, 0)
	// Borrowed: d >= 2^64 - 2^32 + 1 is above epsilon, so this does not wrap.
	d -= epsilon * borrow
	s, carry := bits.Add64(d, (hi&epsilon)*epsilon, 0)
	// Carried: s <= (2^32-1)^2 - 1 so that this does not wrap.
	return s + epsilon*carry
}

// Exp returns e^n. It defines 0^0 as 1.
func (e Element) Exp(n uint64) Element {
	r := Element(1)
	for i := bits.Len64(n) - 1; i >= 0; i-- {
		r = r.Square()
		if n>>i&1 != 0 {
			r = r.Mul(e)
		}
	}
	return r
}

// Inverse returns 1/e, or 0 if e is 0.
func (e Element) Inverse() Element {
	// By Fermat e^(p-2), and p - 2 = 2^64 - 2^32 - 1 is 31 ones, a zero, 32 ones. xN is
	// e to the power of N ones.
	x2 := e.squares(1).Mul(e)
	x3 := x2.squares(1).Mul(e)
	x6 := x3.squares(3).Mul(x3)
	x12 := x6.squares(6).Mul(x6)
	x24 := x12.squares(12).Mul(x12)
	x30 := x24.squares(6).Mul(x6)
	x31 := x30.squares(1).Mul(e)
	x32 := x31.squares(1).Mul(e)
	return x31.squares(33).Mul(x32)
}

// squares returns e^(2^n).
func (e Element) squares(n int) Element {
	for range n {
		e = e.Square()
	}
	return e
}

// SetBytes sets e to the value of eight bytes, the least significant first. If b does not have
// eight bytes, or its value is not below Modulus, the error is of type *zkbench.DecodeError and e
// keeps its value.
func (e *Element) SetBytes(b []byte) error {
	if len(b) != 8 {
		return &zkbench.DecodeError{Path: "element", Offset: min(len(b), 8), Reason: fmt.Sprintf("%d bytes; there must be 8", len(b))}
	}
	v := Element(binary.LittleEndian.Uint64(b))
	if !v.Canonical() {
		return &zkbench.DecodeError{Path: "element", Reason: "not below the modulus"}
	}
	*e = v
	return nil
}

// Bytes returns e as eight bytes, the least significant first.
func (e Element) Bytes() (b [8]byte) {
	binary.LittleEndian.PutUint64(b[:], uint64(e))
	return b
}
