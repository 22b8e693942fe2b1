package group

import (
	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/zkbench/zkbench/group/internal/curve"
)

// BLS12381 returns the group G1 of BLS12-381 (y² = x³ + 4, the subgroup of prime order), on
// gnark-crypto's types. The group runs on the fastest kernel, or on the given one.
func BLS12381(on ...Kernel) Group[fr.Element, bls12381.G1Affine] { return bls12381Group(on) }

var bls12381Group = onEach(func(on Kernel) Group[fr.Element, bls12381.G1Affine] {
	return newNative(
		"BLS12_381_BBS_GURVY", "BLS12-381", on,
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
		points[bls12381.G1Affine, bls12381.G1Jac, *bls12381.G1Affine, *bls12381.G1Jac]{
			pointLen:    bls12381.SizeOfG1AffineCompressed,
			encode:      func(dst []byte, p *bls12381.G1Affine) []byte { b := p.Bytes(); return append(dst, b[:]...) },
			hashToPoint: bls12381.HashToG1,
			clearing:    curve.ClearBLS12381,
		},
		constants[fp.Element]{
			modulus: fp.Modulus(), b: 4, flags: curve.BLS12381(),
			// λ = z²-1 for z = -0xd201000000010000, and β, as in gnark-crypto's
			// ecc/bls12-381.
			lambda: bls12381Lambda,
			beta:   "4002409555221667392624310435006688643935503118305586438271171395842971157480381377015405980053539358417135540939436",
			ops: &vectorOps[fp.Element]{
				add:   func(z, a, b []fp.Element) { v := fp.Vector(z); v.Add(a, b) },
				sub:   func(z, a, b []fp.Element) { v := fp.Vector(z); v.Sub(a, b) },
				mul:   func(z, a, b []fp.Element) { v := fp.Vector(z); v.Mul(a, b) },
				scale: func(z, a []fp.Element, c *fp.Element) { v := fp.Vector(z); v.ScalarMul(a, c) },
			},
		},
	)
})

const bls12381Lambda = "228988810152649578064853576960394133503"
