package group

import (
	"math/big"
	"math/bits"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/zkbench/zkbench/group/internal/integer"
)

// glv splits scalars along the endomorphism φ(x, y) = (βx, y), which acts on
// the prime-order subgroup as multiplication by λ: k = k1 + λ·k2 mod r with k1
// and k2 of about half the length (Gallant, Lambert, Vanstone, CRYPTO 2001).
//
// All integers are two's complement modulo 2^256; that suffices because the
// results are below 2^129 in absolute value.
type glv struct {
	// Short basis vectors (a, b) of the lattice {(a, b): a + λb = 0 mod r}.
	a1, b1, a2, b2 integer.Limbs
	// g1 = round(2^320·b2/r), g2 = round(-2^320·b1/r) as magnitudes; the
	// rounded quotients c_i = k·g_i / 2^320 are then off by less than
	// 1 + 2^-65, because k·|error| <= 2^256·(1/2)/2^320.
	g1, g2     integer.Limbs
	neg1, neg2 bool
	halfBits   int // bound on the bits of |k1| and |k2|
}

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
		a1: twosComplement(&v1[0]), b1: twosComplement(&v1[1]),
		a2: twosComplement(&v2[0]), b2: twosComplement(&v2[1]),
	}
	scaled := func(b *big.Int) (integer.Limbs, bool) {
		q := new(big.Int).Lsh(new(big.Int).Abs(b), 321)
		q.Div(q, r).Add(q, big.NewInt(1)).Rsh(q, 1)
		return twosComplement(q), b.Sign() < 0
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

// split returns |k1|, |k2| and their signs.
func (g *glv) split(k *integer.Limbs) (k1, k2 integer.Limbs, neg1, neg2 bool) {
	c1, c2 := mulShift320(k, &g.g1), mulShift320(k, &g.g2)
	if g.neg1 {
		c1 = negate(&c1)
	}
	if g.neg2 {
		c2 = negate(&c2)
	}
	// (k1, k2) = (k, 0) - c1·(a1, b1) - c2·(a2, b2)
	k1 = subLow(k, mulLow(&c1, &g.a1))
	k1 = subLow(&k1, mulLow(&c2, &g.a2))
	k2 = subLow(&integer.Limbs{}, mulLow(&c1, &g.b1))
	k2 = subLow(&k2, mulLow(&c2, &g.b2))
	if neg1 = k1[3]>>63 == 1; neg1 {
		k1 = negate(&k1)
	}
	if neg2 = k2[3]>>63 == 1; neg2 {
		k2 = negate(&k2)
	}
	return k1, k2, neg1, neg2
}

// mulShift320 returns (x·y) >> 320, rounded down, of two 256-bit magnitudes.
func mulShift320(x, y *integer.Limbs) integer.Limbs {
	var p [8]uint64
	for i, xi := range x {
		var carry uint64
		for j, yj := range y {
			hi, lo := bits.Mul64(xi, yj)
			var c uint64
			lo, c = bits.Add64(lo, p[i+j], 0)
			hi += c // hi <= 2^64-2, so no overflow
			lo, c = bits.Add64(lo, carry, 0)
			p[i+j], carry = lo, hi+c
		}
		p[i+4] = carry
	}
	return integer.Limbs{p[5], p[6], p[7], 0}
}

// mulLow returns x·y modulo 2^256.
func mulLow(x, y *integer.Limbs) *integer.Limbs {
	var p integer.Limbs
	for i := range 4 {
		var carry uint64
		for j := range 4 - i {
			hi, lo := bits.Mul64(x[i], y[j])
			var c uint64
			lo, c = bits.Add64(lo, p[i+j], 0)
			hi += c
			lo, c = bits.Add64(lo, carry, 0)
			p[i+j], carry = lo, hi+c
		}
	}
	return &p
}

func subLow(x, y *integer.Limbs) (z integer.Limbs) {
	var b uint64
	for i := range z {
		z[i], b = bits.Sub64(x[i], y[i], b)
	}
	return z
}

func negate(x *integer.Limbs) integer.Limbs { return subLow(&integer.Limbs{}, x) }

func twosComplement(v *big.Int) integer.Limbs {
	z := integer.FromBig(new(big.Int).Abs(v))
	if v.Sign() < 0 {
		z = negate(&z)
	}
	return z
}
