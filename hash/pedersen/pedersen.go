// Package pedersen implements the Pedersen hash of Barretenberg on Grumpkin, the curve y² = x³ - 17 over
// BN254's scalar field. The hash of two field elements is
//
//	H(a, b) = x(2·G_len + a·G_0 + b·G_1)
//
// Here x is the x-coordinate of a point, and G_len, G_0 and G_1 are constant points of Barretenberg. The
// hash is collision resistant under the discrete logarithm assumption. It is not a random oracle.
package pedersen

import (
	"math/big"
	"sync"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/grumpkin"
	"github.com/consensys/gnark-crypto/ecc/grumpkin/fp"
)

// Inputs is the number of field elements that a hash takes.
const Inputs = 2

// Offset returns 2·G_len, the constant point that each hash adds.
func Offset() grumpkin.G1Affine { return points().offset }

// Generator returns G_i, for i < Inputs.
func Generator(i int) grumpkin.G1Affine { return points().generators[i] }

type constants struct {
	offset     grumpkin.G1Affine
	generators [Inputs]grumpkin.G1Affine
}

// points returns the points that Barretenberg derives by hashing (derive_generators); the tests derive them
// again.
var points = sync.OnceValue(func() *constants {
	c := new(constants)
	var length grumpkin.G1Affine
	parse(&length,
		"0x2df8b940e5890e4e1377e05373fae69a1d754f6935e6a780b666947431f2cdcd",
		"0x2ecd88d15967bc53b885912e0d16866154acb6aac2d3f85e27ca7eefb2c19083")
	c.offset.Double(&length)
	parse(&c.generators[0],
		"0x083e7911d835097629f0067531fc15cafd79a89beecb39903f69572c636f4a5a",
		"0x1a7f5efaad7f315c25a918f30cc8d7333fccab7ad7c90f14de81bcc528f9935d")
	parse(&c.generators[1],
		"0x054aa86a73cb8a34525e5bbed6e43ba1198e860f5f3950268f71df4591bde402",
		"0x209dcfbf2cfb57f9f6046f44d71ac6faf87254afc7407c04eb621a6287cac126")
	return c
})

func parse(p *grumpkin.G1Affine, x, y string) {
	for _, c := range []struct {
		e *fp.Element
		s string
	}{{&p.X, x}, {&p.Y, y}} {
		if _, err := c.e.SetString(c.s); err != nil {
			panic(err) // of a constant
		}
	}
}

// Hash returns the hash of two elements.
func Hash(a, b *fr.Element) fr.Element {
	c := points()
	sum := new(grumpkin.G1Jac).FromAffine(&c.offset)
	var e big.Int
	var term grumpkin.G1Jac
	for i, x := range []*fr.Element{a, b} {
		term.FromAffine(&c.generators[i])
		term.ScalarMultiplication(&term, x.BigInt(&e))
		sum.AddAssign(&term)
	}
	var p grumpkin.G1Affine
	p.FromJacobian(sum)
	return fr.Element(p.X)
}
