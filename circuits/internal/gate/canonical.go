package gate

import (
	"fmt"
	"math/big"

	"github.com/consensys/gnark/constraint/solver"
	"github.com/consensys/gnark/frontend"
)

// AssertBelow asserts that the given limbs, the lowest first, form an integer below bound. The parameter
// width is the number of bits of each limb. The caller must assert that each limb is below 2^width.
//
// The prover names the index i of the highest limb that differs from the same limb of the bound. All limbs
// above limb i must equal those of the bound. The caller's function inRange must assert that bound_i - 1 -
// limb_i is below 2^width. This takes some five gates per limb, while a comparison bit by bit takes one gate
// per bit.
func AssertBelow(api frontend.API, limbs []frontend.Variable, width int, bound *big.Int, inRange func(v frontend.Variable)) error {
	of := make([]*big.Int, len(limbs)) // the bound's limbs
	mask := new(big.Int).Lsh(big.NewInt(1), uint(width))
	mask.Sub(mask, big.NewInt(1))
	rest := new(big.Int).Set(bound)
	inputs := []frontend.Variable{len(limbs)}
	for i := range limbs {
		of[i] = new(big.Int).And(rest, mask)
		rest.Rsh(rest, uint(width))
		inputs = append(inputs, of[i])
	}
	if rest.Sign() != 0 || bound.Sign() <= 0 {
		return fmt.Errorf("bound of %d bits does not fit %d limbs of %d bits", bound.BitLen(), len(limbs), width)
	}
	first, err := api.Compiler().NewHint(FirstDifference, len(limbs), append(inputs, limbs...)...)
	if err != nil {
		return err
	}
	var above, gap frontend.Variable = 0, 0 // above: 1 if the limb is above the one that is named
	for i := range limbs {
		api.AssertIsBoolean(first[i])
		if i > 0 {
			AssertProductZero(api, above, limbs[i], of[i])
		}
		above = api.Add(above, first[i])
		// first[i]·(of[i] - 1 - limbs[i]), zero in all places but one.
		top := new(big.Int).Sub(of[i], big.NewInt(1))
		gap = api.Add(gap, MulOffset(api, first[i], Offset{api.Neg(limbs[i]), top}))
	}
	api.AssertIsEqual(above, 1)
	inRange(gap)
	return nil
}

// FirstDifference computes the hint for AssertBelow. The hint's inputs are n (the number of limbs), the n
// limbs of the bound, and the n limbs that are compared with them. The hint's outputs are n bits. Exactly one
// bit is set. It belongs to the highest limb that differs from the same limb of the bound, or to the lowest
// limb if no limb differs.
func FirstDifference(_ *big.Int, inputs, outputs []*big.Int) error {
	n := len(outputs)
	if len(inputs) != 1+2*n {
		return fmt.Errorf("%d inputs for %d limbs", len(inputs), n)
	}
	bound, limbs := inputs[1:1+n], inputs[1+n:]
	for i := range outputs {
		outputs[i].SetUint64(0)
	}
	at := n - 1
	for at > 0 && limbs[at].Cmp(bound[at]) == 0 {
		at--
	}
	outputs[at].SetUint64(1)
	return nil
}

// AssertBits asserts that v is below 2^n. It returns v's bits, the lowest first.
func AssertBits(api frontend.API, v frontend.Variable, n int) ([]frontend.Variable, error) {
	bits, err := api.Compiler().NewHint(Bits, n, v)
	if err != nil {
		return nil, err
	}
	terms := make([]frontend.Variable, n)
	for i, b := range bits {
		api.AssertIsBoolean(b)
		terms[i] = api.Mul(b, new(big.Int).Lsh(big.NewInt(1), uint(i)))
	}
	api.AssertIsEqual(Sum(api, terms), v)
	return bits, nil
}

// Bits computes the hint for AssertBits: the bits of the hint's input, the lowest first.
func Bits(_ *big.Int, inputs, outputs []*big.Int) error {
	for i := range outputs {
		outputs[i].SetUint64(uint64(inputs[0].Bit(i)))
	}
	return nil
}

// Hints returns the hint functions that a solver needs for circuits that use this package.
func Hints() []solver.Hint { return []solver.Hint{FirstDifference, Bits} }
