// Package integer represents integers below 2^256 as limbs, and recodes them into the signed digits
// that multi-scalar multiplication works on.
package integer

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"math/bits"

	"github.com/zkbench/zkbench"
)

// Limbs is an integer below 2^256, least significant limb first.
type Limbs [4]uint64

// FromBytes decodes 32 big-endian bytes.
func FromBytes(b []byte) (l Limbs) {
	for i := range l {
		l[i] = binary.BigEndian.Uint64(b[24-8*i:])
	}
	return l
}

// FromBig converts x, which must be in [0, 2^256).
func FromBig(x *big.Int) Limbs {
	var b [32]byte
	return FromBytes(x.FillBytes(b[:]))
}

// BitLen returns the number of bits of l, or 0 if l is 0.
func (l *Limbs) BitLen() int {
	for i := 3; i >= 0; i-- {
		if l[i] != 0 {
			return 64*i + bits.Len64(l[i])
		}
	}
	return 0
}

// Less reports whether l < m.
func (l *Limbs) Less(m *Limbs) bool {
	for i := 3; i >= 0; i-- {
		if l[i] != m[i] {
			return l[i] < m[i]
		}
	}
	return false
}

// Digits returns how many signed digits of width c are needed for every integer below 2^length.
// The digits hold one more bit than the integer, because the top digit may produce a carry.
func Digits(length, c int) int { return (length + c) / c }

// Recode splits k into signed digits of c bits: k = Σ digit_w·2^(w·c) with -2^(c-1) < digit_w <=
// 2^(c-1). It writes them, the least significant first, to dst[0], dst[stride], dst[2·stride] and
// so on. If k is below 2^bits, dst must have room for Digits(bits, c) digits. This number
// includes room for the last carry.
func Recode(dst []int16, stride int, k *Limbs, c int) {
	mask, half := uint64(1)<<c-1, uint64(1)<<(c-1)
	var carry uint64
	for at, pos := 0, 0; at < len(dst); at, pos = at+stride, pos+c {
		d := window(k, pos)&mask + carry
		// No branch: the digits are random and would be mispredicted. d <= 2^c,
		// so half-d wraps exactly for d > half, and d - 2^c fits.
		carry = (half - d) >> 63
		dst[at] = int16(int64(d) - int64(carry<<c))
	}
}

// window returns the bits of k from position pos on, at least 16 of them.
func window(k *Limbs, pos int) uint64 {
	i, s := pos/64, uint(pos%64)
	if i >= 4 {
		return 0
	}
	v := k[i] >> s
	if s > 48 && i < 3 {
		v |= k[i+1] << (64 - s)
	}
	return v
}

// Layout says how a table of multiples of fixed points covers the digits of a scalar. For each
// point P and each position p, the table holds multiples of the point Q = 2^(Window·Spacing·p)·P:
// the multiples by 1 to 2^(Window-1).
//
// Digit w uses position w/Spacing and belongs to the partial sum w%Spacing. Horner's rule over the
// partial sums costs (Spacing-1)·Window doublings for a whole sum.
type Layout struct {
	Window, Spacing   int // width of a digit in bits; digits that share a position
	Digits, Positions int
}

// NewLayout returns the layout for scalars with the given number of bits. It returns ErrParams if
// window is not from 2 to 12, or if spacing is not from 1 to the number of digits.
func NewLayout(bits, window, spacing int) (Layout, error) {
	if window < 2 || window > 12 {
		return Layout{}, fmt.Errorf("%w: table window %d, accepted are 2 to 12", zkbench.ErrParams, window)
	}
	digits := Digits(bits, window)
	if spacing < 1 || spacing > digits {
		return Layout{}, fmt.Errorf("%w: table spacing %d, accepted are 1 to %d", zkbench.ErrParams, spacing, digits)
	}
	return Layout{window, spacing, digits, (digits + spacing - 1) / spacing}, nil
}
