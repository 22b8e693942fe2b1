package group

import (
	"math/big"
	"sync"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fp"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/zkbench/zkbench/group/internal/curve"
	"github.com/zkbench/zkbench/group/internal/integer"
)

// BN254 returns the group G1 of BN254 (y² = x³ + 3, prime order), on
// gnark-crypto's types.
func BN254() Group[fr.Element, bn254.G1Affine] { return bn254Group() }

// Eigenvalue 36u³+18u²+6u+1 and its cube root of unity for u =
// 0x44e992b44a6909f1, as in gnark-crypto's ecc/bn254.
const (
	bn254Lambda = "4407920970296243842393367215006156084916469457145843978461"
	bn254Beta   = "2203960485148121921418603742825762020974279258880205651966"
)

var bn254Group = sync.OnceValue(func() Group[fr.Element, bn254.G1Affine] {
	g := &native[fr.Element, fp.Element, bn254.G1Affine, bn254.G1Jac, *fr.Element, *fp.Element, *bn254.G1Affine, *bn254.G1Jac]{
		name: "BN254", domain: "BN254",
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
			k := &bn254Wide
			x, y, z := fr.Element(c0), fr.Element(c1), fr.Element(c2)
			x.Mul(&x, &k[0])
			y.Mul(&y, &k[1])
			z.Mul(&z, &k[2])
			return *x.Add(&x, y.Add(&y, &z))
		},
		pointLen:    bn254.SizeOfG1AffineCompressed,
		encode:      func(dst []byte, p *bn254.G1Affine) []byte { b := p.Bytes(); return append(dst, b[:]...) },
		parse:       curve.BN254().Take,
		primeOrder:  true,
		hashToPoint: bn254.HashToG1,
	}
	return newNative(g, fp.Modulus(), decimal(bn254Lambda), decimal(bn254Beta), 3)
})

// bn254Wide holds 2^256·x for x = 1, 2^248, 2^496.
var bn254Wide = func() (k [3]fr.Element) {
	for i := range k {
		k[i].SetBigInt(new(big.Int).Lsh(big.NewInt(1), uint(256+248*i)))
	}
	return k
}()
