package group

import (
	"math/big"
	"sync"

	"github.com/zkbench/zkbench/group/internal/curve"
)

// decompressor computes the points y² = x³ + b from compressed x, over a field of order p = 3 mod
// 4.
type decompressor[E comparable, PE elementPtr[E]] struct {
	ops      *vectorOps[E]
	power    func(y, a []E) // y = a^((p+1)/4); nil: by ops
	b        E
	flags    curve.Flags
	pointLen int
	exponent []uint8    // (p+1)/4, 4 bits each, most significant first
	scratch  *sync.Pool // *decompressed
}

// decompressed holds the points that a decompressor returns, and its scratch.
type decompressed[E any] struct {
	x, y   []E
	v      []E
	larger []bool
	bytes  []byte
}

func newDecompressor[E comparable, PE elementPtr[E]](c constants[E], form *radix52[E, PE], pointLen int) *decompressor[E, PE] {
	d := &decompressor[E, PE]{
		ops: c.ops, flags: c.flags, pointLen: pointLen,
		scratch: &sync.Pool{New: func() any { return new(decompressed[E]) }},
	}
	PE(&d.b).SetUint64(c.b)
	exp := new(big.Int).Rsh(new(big.Int).Add(c.modulus, big.NewInt(1)), 2)
	if form != nil {
		d.power = newPowers(form, c.modulus, exp).raise
	}
	for i := (exp.BitLen() + 3) / 4; i > 0; i-- {
		w := uint8(0)
		for k := 3; k >= 0; k-- {
			w = w<<1 | uint8(exp.Bit(4*(i-1)+k))
		}
		d.exponent = append(d.exponent, w)
	}
	return d
}

// decompress sets out.x and out.y to the n points of src. If an encoding is not a point, it returns
// its index and the reason, and sets only the points before it.
func (d *decompressor[E, PE]) decompress(out *decompressed[E], src []byte, n int) (set int, reason string) {
	// Lanes are filled up to a multiple of eight, so that vector code does all.
	lanes := (n + 7) &^ 7
	out.v = resize(out.v, 19*lanes)
	x, rhs, y := out.v[:lanes], out.v[lanes:2*lanes], out.v[2*lanes:3*lanes]
	out.x, out.y = x, y
	clear(x)
	out.larger = resize(out.larger, n)
	for i := range n {
		out.bytes = append(out.bytes[:0], src[i*d.pointLen:(i+1)*d.pointLen]...)
		if out.larger[i], reason = d.flags.Take(out.bytes); reason != "" {
			n = i // the points before it count, and may be bad themselves
			break
		}
		if PE(&x[i]).SetBytesCanonical(out.bytes) != nil {
			n, reason = i, "point coordinate not below the field modulus"
			break
		}
	}
	// All y together: y = (x³+b)^((p+1)/4), one exponentiation over vectors.
	d.ops.mul(rhs, x, x)
	d.ops.mul(rhs, rhs, x)
	for i := range rhs {
		PE(&rhs[i]).Add(&rhs[i], &d.b)
	}
	d.squareRoots(y, rhs, out.v[3*lanes:])
	for i := range n {
		if x3b := rhs[i]; *PE(&rhs[i]).Square(&y[i]) != x3b {
			return i, "point not on the curve"
		}
		if PE(&y[i]).LexicographicallyLargest() != out.larger[i] {
			if PE(&y[i]).IsZero() {
				return i, "sign bit of a point with y = 0"
			}
			PE(&y[i]).Neg(&y[i])
		}
	}
	return n, reason
}

// squareRoots sets y = a^((p+1)/4), a square root if a has one, by 4-bit windows. tmp has room for
// 16 vectors.
func (d *decompressor[E, PE]) squareRoots(y, a, tmp []E) {
	if d.power != nil {
		d.power(y, a)
		return
	}
	n := len(a)
	power := func(k uint8) []E { return tmp[int(k)*n : int(k+1)*n] }
	copy(power(1), a)
	for k := uint8(2); k < 16; k++ {
		d.ops.mul(power(k), power(k-1), a)
	}
	copy(y, power(d.exponent[0])) // the leading window is not zero
	for _, w := range d.exponent[1:] {
		for range 4 {
			d.ops.mul(y, y, y)
		}
		if w != 0 {
			d.ops.mul(y, y, power(w))
		}
	}
}
