package peer

import (
	"errors"
	"math/big"
	"math/rand/v2"

	"github.com/consensys/gnark-crypto/ecc/bls12-381"
	blsfr "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254"
	bnfr "github.com/consensys/gnark-crypto/ecc/bn254/fr"
)

// GLVCaseName is the case that measures a curve's yardstick.
func GLVCaseName(curve string) string { return "ScalarMul/curve=" + curve }

// GLVCases measure the yardstick: one GLV scalar multiplication of
// gnark-crypto's G1 by a scalar of full length, in Jacobian coordinates, the way
// gnark-crypto's own benchmark repeats it.
//
// Two choices keep the unit small, so that ours never look better for them: the
// result is not converted to affine form (some 4 %), and the scalars are few
// enough for the branch predictor to learn. Over many scalars the same
// multiplication takes about a quarter longer on BN254, a seventh on BLS12-381.
func GLVCases() []Case {
	return []Case{
		{
			Name: GLVCaseName(CurveBN254),
			Setup: func() (func() error, map[string]float64, error) {
				g, _, _, _ := bn254.Generators()
				mul := func(p *bn254.G1Jac, k *big.Int) { p.ScalarMultiplication(&g, k) }
				return glv(bnfr.Modulus(), mul, func(p, q *bn254.G1Jac) { p.AddAssign(q) },
					func(p *bn254.G1Jac) bool { return p.Z.IsZero() })
			},
		},
		{
			Name: GLVCaseName(CurveBLS12381),
			Setup: func() (func() error, map[string]float64, error) {
				g, _, _, _ := bls12381.Generators()
				mul := func(p *bls12381.G1Jac, k *big.Int) { p.ScalarMultiplication(&g, k) }
				return glv(blsfr.Modulus(), mul, func(p, q *bls12381.G1Jac) { p.AddAssign(q) },
					func(p *bls12381.G1Jac) bool { return p.Z.IsZero() })
			},
		},
	}
}

// glv times mul, p = k G, over scalars drawn once from a fixed seed, after it has
// checked that k G and (r - k) G cancel for each.
func glv[P any](r *big.Int, mul func(p *P, k *big.Int), add func(p, q *P), isZero func(*P) bool,
) (func() error, map[string]float64, error) {
	const scalars = 8 // the mean over a few draws, which differ by some 5 %; a power of two
	inputs := rand.NewChaCha8([32]byte{})
	ks := make([]*big.Int, scalars)
	for i := range ks {
		wide := make([]byte, 64)
		if _, err := inputs.Read(wide); err != nil {
			return nil, nil, err
		}
		ks[i] = new(big.Int).SetBytes(wide)
		ks[i].Mod(ks[i], r)
		var p, q P
		mul(&p, ks[i])
		mul(&q, new(big.Int).Sub(r, ks[i]))
		if isZero(&p) {
			return nil, nil, errors.New("scalar multiplication: a multiple of the generator vanishes")
		}
		if add(&p, &q); !isZero(&p) {
			return nil, nil, errors.New("scalar multiplication: k G and (r - k) G do not cancel")
		}
	}
	var p P
	next := 0
	return func() error {
		mul(&p, ks[next])
		next = (next + 1) & (scalars - 1)
		return nil
	}, nil, nil
}
