// Package gates is a circuit of gnark of nothing but arithmetic gates, three
// multiplications and one addition in turn, as the study of Plonk systems has it
// (docs/measure.md).
package gates

import (
	"fmt"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark/frontend"

	"github.com/zkbench/zkbench"
)

// MinGates is the number of gates of the least circuit.
const MinGates = 4

// Circuit proves knowledge of x and y from which gates, each of which takes what the one
// before gave, and y, lead to Last. Of its n gates one is taken by the public input and
// one compares, so that a power of two is just the size of PLONK's domain.
type Circuit struct {
	X, Y frontend.Variable
	Last frontend.Variable `gnark:",public"`
	n    int
}

// New returns the circuit of n gates. Fewer than MinGates are an ErrParams.
func New(n int) (*Circuit, error) {
	if err := check(n); err != nil {
		return nil, err
	}
	return &Circuit{n: n}, nil
}

func check(n int) error {
	if n < MinGates {
		return fmt.Errorf("%w: %d gates, accepted are %d and more", zkbench.ErrParams, n, MinGates)
	}
	return nil
}

// IsAddition tells the kind of a gate: each fourth is an addition.
func IsAddition(i int) bool { return i%4 == 3 }

// Define implements frontend.Circuit. A circuit that New did not make is an ErrParams.
func (c *Circuit) Define(api frontend.API) error {
	if err := check(c.n); err != nil {
		return err
	}
	v := c.X
	for i := range c.n - 2 {
		if IsAddition(i) {
			v = api.Add(v, c.Y)
		} else {
			v = api.Mul(v, c.Y)
		}
	}
	api.AssertIsEqual(v, c.Last)
	return nil
}

// Assign returns the assignment of x and y.
func (c *Circuit) Assign(x, y fr.Element) *Circuit {
	v := x
	for i := range c.n - 2 {
		if IsAddition(i) {
			v.Add(&v, &y)
		} else {
			v.Mul(&v, &y)
		}
	}
	return &Circuit{X: x, Y: y, Last: v, n: c.n}
}

// AssignPublic returns the assignment of the public value alone, of which a verifier makes a public
// witness: frontend.NewWitness with frontend.PublicOnly.
func (c *Circuit) AssignPublic(last fr.Element) *Circuit { return &Circuit{Last: last, n: c.n} }
