package group

import (
	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fp"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/group/internal/curve"
)

// BN254 returns the group G1 of BN254 (y² = x³ + 3, prime order), on gnark-crypto's types. The
// group runs on the fastest kernel, or on the given one.
func BN254(on ...Kernel) Group[fr.Element, bn254.G1Affine] { return bn254Group(on) }

var bn254Group = onEach(func(on Kernel) Group[fr.Element, bn254.G1Affine] {
	return newNative(
		"BN254", "BN254", on,
		newScalars(fr.Modulus(),
			&vectorOps[fr.Element]{
				add:   func(z, a, b []fr.Element) { v := fr.Vector(z); v.Add(a, b) },
				sub:   func(z, a, b []fr.Element) { v := fr.Vector(z); v.Sub(a, b) },
				mul:   func(z, a, b []fr.Element) { v := fr.Vector(z); v.Mul(a, b) },
				scale: func(z, a []fr.Element, c *fr.Element) { v := fr.Vector(z); v.ScalarMul(a, c) },
			},
			func(a, b []fr.Element) fr.Element { v := fr.Vector(a); return v.InnerProduct(b) },
			func(a, b, c fr.Element) fr.Element { return *c.Add(&c, a.Mul(&a, &b)) },
		),
		points[bn254.G1Affine, bn254.G1Jac, *bn254.G1Affine, *bn254.G1Jac]{
			pointLen:    bn254.SizeOfG1AffineCompressed,
			encode:      func(dst []byte, p *bn254.G1Affine) []byte { b := p.Bytes(); return append(dst, b[:]...) },
			hashToPoint: bn254.HashToG1,
			clearing:    1,
		},
		constants[fp.Element]{
			modulus: fp.Modulus(), b: 3, flags: curve.BN254(),
			// λ = 36u³+18u²+6u+1 for u = 0x44e992b44a6909f1, and β, as in
			// gnark-crypto's ecc/bn254.
			lambda: bn254Lambda,
			beta:   "2203960485148121921418603742825762020974279258880205651966",
			ops: &vectorOps[fp.Element]{
				add:   func(z, a, b []fp.Element) { v := fp.Vector(z); v.Add(a, b) },
				sub:   func(z, a, b []fp.Element) { v := fp.Vector(z); v.Sub(a, b) },
				mul:   func(z, a, b []fp.Element) { v := fp.Vector(z); v.Mul(a, b) },
				scale: func(z, a []fp.Element, c *fp.Element) { v := fp.Vector(z); v.ScalarMul(a, c) },
			},
		},
	)
})

const bn254Lambda = "4407920970296243842393367215006156084916469457145843978461"
