package group

import (
	"math/big"
	"sync"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/zkbench/zkbench/group/internal/curve"
	"github.com/zkbench/zkbench/group/internal/integer"
)

// BLS12381 returns the group G1 of BLS12-381 (y² = x³ + 4, the subgroup of
// prime order), on gnark-crypto's types.
func BLS12381() Group[fr.Element, bls12381.G1Affine] { return bls12381Group() }

// Eigenvalue z²-1 for z = -0xd201000000010000 and its cube root of unity, as
// in gnark-crypto's ecc/bls12-381.
const (
	bls12381Lambda = "228988810152649578064853576960394133503"
	bls12381Beta   = "4002409555221667392624310435006688643935503118305586438271171395842971157480381377015405980053539358417135540939436"
)

var bls12381Group = sync.OnceValue(func() Group[fr.Element, bls12381.G1Affine] {
	g := &native[fr.Element, fp.Element, bls12381.G1Affine, bls12381.G1Jac, *fr.Element, *fp.Element, *bls12381.G1Affine, *bls12381.G1Jac]{
		name: "BLS12_381_BBS_GURVY", domain: "BLS12-381",
		order: fr.Modulus(),
		base: &vectorOps[fp.Element]{
			add:   func(z, a, b []fp.Element) { v := fp.Vector(z); v.Add(a, b) },
			sub:   func(z, a, b []fp.Element) { v := fp.Vector(z); v.Sub(a, b) },
			mul:   func(z, a, b []fp.Element) { v := fp.Vector(z); v.Mul(a, b) },
			scale: func(z, a []fp.Element, c *fp.Element) { v := fp.Vector(z); v.ScalarMul(a, c) },
		},
		scal: &vectorOps[fr.Element]{
			add:   func(z, a, b []fr.Element) { v := fr.Vector(z); v.Add(a, b) },
			sub:   func(z, a, b []fr.Element) { v := fr.Vector(z); v.Sub(a, b) },
			mul:   func(z, a, b []fr.Element) { v := fr.Vector(z); v.Mul(a, b) },
			scale: func(z, a []fr.Element, c *fr.Element) { v := fr.Vector(z); v.ScalarMul(a, c) },
			inner: func(a, b []fr.Element) fr.Element { v := fr.Vector(a); return v.InnerProduct(b) },
		},
		fromWide: func(c0, c1, c2 integer.Limbs) fr.Element {
			// A factor of 2^256·x as a field element, whose raw integer.Limbs are
			// x·R², brings raw integer.Limbs into Montgomery form and scales by x.
			k := &bls12381Wide
			x, y, z := fr.Element(c0), fr.Element(c1), fr.Element(c2)
			x.Mul(&x, &k[0])
			y.Mul(&y, &k[1])
			z.Mul(&z, &k[2])
			return *x.Add(&x, y.Add(&y, &z))
		},
		pointLen:    bls12381.SizeOfG1AffineCompressed,
		encode:      func(dst []byte, p *bls12381.G1Affine) []byte { b := p.Bytes(); return append(dst, b[:]...) },
		parse:       curve.BLS12381().Take,
		hashToPoint: bls12381.HashToG1,
	}
	return newNative(g, fp.Modulus(), decimal(bls12381Lambda), decimal(bls12381Beta), 4)
})

// bls12381Wide holds 2^256·x for x = 1, 2^248, 2^496.
var bls12381Wide = func() (k [3]fr.Element) {
	for i := range k {
		k[i].SetBigInt(new(big.Int).Lsh(big.NewInt(1), uint(256+248*i)))
	}
	return k
}()
