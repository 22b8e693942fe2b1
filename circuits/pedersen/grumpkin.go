package pedersen

import (
	"fmt"
	"math/big"

	"github.com/consensys/gnark-crypto/ecc/grumpkin"
	"github.com/consensys/gnark/frontend"

	"github.com/zkbench/zkbench/circuits/internal/gate"
	"github.com/zkbench/zkbench/hash/pedersen"
)

// point is a point of the running sum.
type point struct{ x, y frontend.Variable }

func constant(p *grumpkin.G1Affine) point {
	return point{p.X.BigInt(new(big.Int)), p.Y.BigInt(new(big.Int))}
}

// add adds (x, y) to p by the incomplete formulas, nine gates:
//
//	λ = (y - p.y)/(x - p.x), x' = λ² - p.x - x, y' = λ(p.x - x') - p.y
func (p point) add(api frontend.API, x gate.Offset, y frontend.Variable) point {
	dx := api.Add(x.V, api.Neg(p.x), x.K)
	lambda := api.DivUnchecked(api.Sub(y, p.y), dx)
	sum := api.Add(p.x, x.V, x.K)
	nx := api.Sub(api.Mul(lambda, lambda), sum)
	ny := api.Sub(api.Mul(lambda, api.Sub(p.x, nx)), p.y)
	return point{nx, ny}
}

// The windows of the circuit without tables are a sign and two bits,
//
//	d = s(1 + 2m_0 + 4m_1), e = (d + 7)/2.
const (
	plainWidth = 3
	plainLimb  = 10 // windows of a limb that is compared
)

// hashGrumpkin computes Barretenberg's pedersen_hash of two elements, without tables.
func hashGrumpkin(api frontend.API, inputs [pedersen.Inputs]frontend.Variable) (frontend.Variable, error) {
	n := pedersen.Windows(plainWidth)
	first := pedersen.Start(plainWidth)
	sum := constant(&first)
	for i, v := range inputs {
		digits, err := api.Compiler().NewHint(SignedDigits, 3*n, v)
		if err != nil {
			return nil, err
		}
		var limbs []frontend.Variable
		for j := range n {
			x, y, d := signedWindow(api, [3]frontend.Variable(digits[3*j:]), pedersen.OddMultiples(i, plainWidth, j, 4))
			sum = sum.add(api, x, y)
			if j%plainLimb == 0 {
				limbs = append(limbs, 0)
			}
			weight := new(big.Int).Lsh(big.NewInt(1), uint(plainWidth*(j%plainLimb)))
			limbs[len(limbs)-1] = accumulate(api, limbs[len(limbs)-1], d, weight)
		}
		if err := assertScalar(api, v, limbs, plainWidth*plainLimb, func(gap frontend.Variable) error {
			_, err := gate.AssertBits(api, gap, plainWidth*plainLimb)
			return err
		}); err != nil {
			return nil, err
		}
	}
	return sum.x, nil
}

// signedWindow returns d·G and d. digits are the s, m_0 and m_1 of d, and points are 1, 3, 5 and 7 times G.
func signedWindow(api frontend.API, digits [3]frontend.Variable, points []grumpkin.G1Affine) (x gate.Offset, y, d frontend.Variable) {
	s, m0, m1 := digits[0], digits[1], digits[2]
	gate.AssertSign(api, s)
	api.AssertIsBoolean(m0)
	api.AssertIsBoolean(m1)
	x, absolute := lookUp(api, m0, m1, points)
	// s + s(2m_0 + 4m_1)
	magnitude := gate.Offset{V: api.Add(api.Mul(m0, 2), api.Mul(m1, 4)), K: big.NewInt(1)}
	return x, gate.MulOffset(api, s, absolute), gate.MulOffset(api, s, magnitude)
}

// accumulate returns limb + weight·(d + 7)/2.
func accumulate(api frontend.API, limb, d frontend.Variable, weight *big.Int) frontend.Variable {
	field := api.Compiler().Field()
	halfWeight := new(big.Int).ModInverse(big.NewInt(2), field)
	halfWeight.Mul(halfWeight, weight).Mod(halfWeight, field)
	k := new(big.Int).Mul(halfWeight, big.NewInt(1<<plainWidth-1))
	return api.Add(limb, api.Mul(d, halfWeight), k.Mod(k, field))
}

// lookUp selects a point by two bits.
func lookUp(api frontend.API, m0, m1 frontend.Variable, p []grumpkin.G1Affine) (x, y gate.Offset) {
	var xs, ys [4]big.Int
	for k := range p {
		p[k].X.BigInt(&xs[k])
		p[k].Y.BigInt(&ys[k])
	}
	return interpolate(api, m0, m1, xs), interpolate(api, m0, m1, ys)
}

// interpolate selects c[low + 2·high].
func interpolate(api frontend.API, low, high frontend.Variable, c [4]big.Int) gate.Offset {
	l, r := new(big.Int).Sub(&c[1], &c[0]), new(big.Int).Sub(&c[2], &c[0])
	m := new(big.Int).Sub(&c[3], &c[1])
	m.Sub(m, r)
	return gate.Offset{V: gate.Bilinear(api, low, high, l, r, m), K: &c[0]}
}

// assertScalar asserts that the limbs, of width bits and each in range, are the canonical form of v: their
// sum is v, and below the modulus.
func assertScalar(api frontend.API, v frontend.Variable, limbs []frontend.Variable, width int, inRange func(gap frontend.Variable) error) error {
	var sum frontend.Variable = 0
	for i, limb := range limbs {
		sum = api.Add(sum, api.Mul(limb, new(big.Int).Lsh(big.NewInt(1), uint(width*i))))
	}
	api.AssertIsEqual(sum, v)
	var ranged error
	err := gate.AssertBelow(api, limbs, width, api.Compiler().Field(), func(gap frontend.Variable) { ranged = inRange(gap) })
	if err != nil {
		return err
	}
	return ranged
}

// SignedDigits computes a hint for the form Grumpkin. For each window of three bits of a scalar it gives s,
// m_0 and m_1 such that the window's signed digit is s(1 + 2m_0 + 4m_1).
func SignedDigits(_ *big.Int, inputs, outputs []*big.Int) error {
	if len(inputs) != 1 || len(outputs)%3 != 0 {
		return fmt.Errorf("%d inputs, %d outputs", len(inputs), len(outputs))
	}
	for j := 0; j < len(outputs); j += 3 {
		e := int64(inputs[0].Bit(j) + inputs[0].Bit(j+1)<<1 + inputs[0].Bit(j+2)<<2)
		d, s := 2*e-7, int64(1)
		if d < 0 {
			d, s = -d, -1
		}
		outputs[j].SetInt64(s)
		outputs[j+1].SetInt64(d >> 1 & 1)
		outputs[j+2].SetInt64(d >> 2)
	}
	return nil
}
