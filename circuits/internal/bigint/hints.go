package bigint

import (
	"fmt"
	"math/big"

	"github.com/consensys/gnark/constraint/solver"

	"github.com/zkbench/zkbench/circuits/internal/gate"
)

// Hints are the hints of this package's circuits.
func Hints() []solver.Hint { return append(gate.Hints(), Residue, Ratio, Quotient) }

// operands takes the modulus and n elements off a hint's inputs.
func operands(inputs []*big.Int, n int) (p *big.Int, of []*big.Int, rest []*big.Int, err error) {
	if len(inputs) < (1+n)*Limbs {
		return nil, nil, nil, fmt.Errorf("%d inputs for %d elements", len(inputs), n)
	}
	for i := range n {
		of = append(of, join(inputs[(1+i)*Limbs:(2+i)*Limbs]))
	}
	return join(inputs[:Limbs]), of, inputs[(1+n)*Limbs:], nil
}

func put(outputs []*big.Int, v *big.Int) {
	for i, l := range split(v, len(outputs)) {
		outputs[i].Set(l)
	}
}

// Residue is the hint of a product: of p, a and b it gives a·b mod p.
func Residue(_ *big.Int, inputs, outputs []*big.Int) error {
	p, of, _, err := operands(inputs, 2)
	if err != nil {
		return err
	}
	put(outputs, new(big.Int).Mod(new(big.Int).Mul(of[0], of[1]), p))
	return nil
}

// Ratio is the hint of a division: of p, a and b it gives a/b mod p, of b = 0 it gives 0.
func Ratio(_ *big.Int, inputs, outputs []*big.Int) error {
	p, of, _, err := operands(inputs, 2)
	if err != nil {
		return err
	}
	d := new(big.Int).ModInverse(new(big.Int).Mod(of[1], p), p)
	if d == nil {
		d = new(big.Int)
	}
	put(outputs, d.Mul(d, of[0]).Mod(d, p))
	return nil
}

// Quotient is the hint of a comparison: of p, a, b, c and k it gives (a·b + k·p - c)/p,
// rounded down where there is a remainder.
func Quotient(_ *big.Int, inputs, outputs []*big.Int) error {
	p, of, rest, err := operands(inputs, 3)
	if err != nil {
		return err
	}
	if len(rest) != 1 {
		return fmt.Errorf("%d inputs for 3 elements and a factor", len(inputs))
	}
	q := new(big.Int).Mul(of[0], of[1])
	q.Add(q, new(big.Int).Mul(rest[0], p)).Sub(q, of[2])
	put(outputs, q.Div(q, p))
	return nil
}
