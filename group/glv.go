package group

import (
	"math/big"
	"math/bits"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/zkbench/zkbench/group/internal/integer"
)

// glv splits scalars along the endomorphism φ(x, y) = (βx, y), which acts on the prime-order
// subgroup as multiplication by λ: k = k1 + λ·k2 mod r, with k1 and k2 of about half the length
// (Gallant, Lambert, Vanstone, CRYPTO 2001).
//
// Halves are two's complement modulo 2^192. That is enough because the results are below 2^129 in
// absolute value.
type glv struct {
	// Short basis vectors (a, b) of the lattice {(a, b): a + λb = 0 mod r}.
	a1, b1, a2, b2 half
	// g1 = round(2^320·b2/r), g2 = round(-2^320·b1/r) as magnitudes; the
	// rounded quotients c_i = k·g_i / 2^320 are then off by less than
	// 1 + 2^-65, because k·|error| <= 2^256·(1/2)/2^320.
	g1, g2     integer.Limbs
	neg1, neg2 bool
	halfBits   int // bound on the bits of |k1| and |k2|
}

// half is an integer of three words. As a struct, it stays in registers.
type half struct{ lo, mid, hi uint64 }

// newGLV prepares the splitting for order r and eigenvalue lambda.
func newGLV(r, lambda *big.Int) *glv {
	var l ecc.Lattice
	ecc.PrecomputeLattice(r, lambda, &l)
	// det = a1·b2 - a2·b1 = ±r; orient the basis so that it is r.
	v1, v2 := l.V1, l.V2
	det := new(big.Int).Sub(new(big.Int).Mul(&v1[0], &v2[1]), new(big.Int).Mul(&v2[0], &v1[1]))
	if det.Sign() < 0 {
		v1, v2 = v2, v1
	}
	g := &glv{
		a1: halfOf(&v1[0]), b1: halfOf(&v1[1]),
		a2: halfOf(&v2[0]), b2: halfOf(&v2[1]),
	}
	scaled := func(b *big.Int) (integer.Limbs, bool) {
		q := new(big.Int).Lsh(new(big.Int).Abs(b), 321)
		q.Div(q, r).Add(q, big.NewInt(1)).Rsh(q, 1)
		return integer.FromBig(q), b.Sign() < 0
	}
	g.g1, g.neg1 = scaled(&v2[1])
	g.g2, g.neg2 = scaled(new(big.Int).Neg(&v1[1]))
	// |k1| <= |a1| + |a2|, |k2| <= |b1| + |b2|: each coefficient of the
	// remainder is below one in absolute value.
	bound := func(x, y *big.Int) int {
		return new(big.Int).Add(new(big.Int).Abs(x), new(big.Int).Abs(y)).BitLen()
	}
	g.halfBits = max(bound(&v1[0], &v2[0]), bound(&v1[1], &v2[1]))
	return g
}

// split returns |k1|, |k2| and whether each is negative.
func (g *glv) split(k *integer.Limbs) (k1, k2 integer.Limbs, neg1, neg2 bool) {
	c1, c2 := mulShift320(k, &g.g1), mulShift320(k, &g.g2)
	if g.neg1 {
		c1 = subHalf(half{}, c1)
	}
	if g.neg2 {
		c2 = subHalf(half{}, c2)
	}
	// (k1, k2) = (k, 0) - c1·(a1, b1) - c2·(a2, b2)
	k1, neg1 = magnitude(subHalf(subHalf(half{k[0], k[1], k[2]}, mulHalf(c1, g.a1)), mulHalf(c2, g.a2)))
	k2, neg2 = magnitude(subHalf(subHalf(half{}, mulHalf(c1, g.b1)), mulHalf(c2, g.b2)))
	return k1, k2, neg1, neg2
}

// mulShift320 returns (x·y) >> 320, rounded down, of two 256-bit magnitudes.
func mulShift320(x, y *integer.Limbs) half {
	_, p1, p2, p3, p4 := addRow(0, 0, 0, 0, x[0], y)
	_, p1, p2, p3, p4 = addRow(p1, p2, p3, p4, x[1], y)
	_, p1, p2, p3, p4 = addRow(p1, p2, p3, p4, x[2], y)
	_, _, p2, p3, p4 = addRow(p1, p2, p3, p4, x[3], y)
	return half{p2, p3, p4}
}

// addRow returns p + x·y, least significant word first.
func addRow(p0, p1, p2, p3, x uint64, y *integer.Limbs) (z0, z1, z2, z3, z4 uint64) {
	hi0, lo0 := bits.Mul64(x, y[0])
	hi1, lo1 := bits.Mul64(x, y[1])
	hi2, lo2 := bits.Mul64(x, y[2])
	hi3, lo3 := bits.Mul64(x, y[3])
	z0, c := bits.Add64(p0, lo0, 0)
	z1, c = bits.Add64(p1, lo1, c)
	z2, c = bits.Add64(p2, lo2, c)
	z3, c = bits.Add64(p3, lo3, c)
	hi3 += c // hi3 <= 2^64-2, so no overflow
	z1, c = bits.Add64(z1, hi0, 0)
	z2, c = bits.Add64(z2, hi1, c)
	z3, c = bits.Add64(z3, hi2, c)
	return z0, z1, z2, z3, hi3 + c
}

// mulHalf returns x·y modulo 2^192.
func mulHalf(x, y half) half {
	hi00, lo00 := bits.Mul64(x.lo, y.lo)
	hi01, lo01 := bits.Mul64(x.lo, y.mid)
	hi10, lo10 := bits.Mul64(x.mid, y.lo)
	mid, c := bits.Add64(hi00, lo01, 0)
	hi := hi01 + hi10 + c
	mid, c = bits.Add64(mid, lo10, 0)
	return half{lo00, mid, hi + c + x.lo*y.hi + x.mid*y.mid + x.hi*y.lo}
}

func subHalf(x, y half) half {
	lo, b := bits.Sub64(x.lo, y.lo, 0)
	mid, b := bits.Sub64(x.mid, y.mid, b)
	return half{lo, mid, x.hi - y.hi - b}
}

// magnitude returns |x|, and whether x is negative.
func magnitude(x half) (k integer.Limbs, negative bool) {
	if negative = x.hi>>63 == 1; negative {
		x = subHalf(half{}, x)
	}
	return integer.Limbs{x.lo, x.mid, x.hi}, negative
}

// halfOf converts v, which must fit.
func halfOf(v *big.Int) half {
	l := integer.FromBig(new(big.Int).Abs(v))
	x := half{l[0], l[1], l[2]}
	if v.Sign() < 0 {
		x = subHalf(half{}, x)
	}
	return x
}

// subLow returns x - y modulo 2^256.
func subLow(x, y *integer.Limbs) (z integer.Limbs) {
	var b uint64
	for i := range z {
		z[i], b = bits.Sub64(x[i], y[i], b)
	}
	return z
}
