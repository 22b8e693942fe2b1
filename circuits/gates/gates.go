// Package gates has a gnark circuit that consists of arithmetic gates only. The circuit repeats a group of
// three multiplications and one addition. The study of Plonk systems uses this circuit (docs/measure.md).
package gates

import (
	"fmt"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark/frontend"

	"github.com/zkbench/zkbench"
)

// MinGates is the number of gates of the smallest circuit.
const MinGates = 4

// Circuit proves knowledge of X and Y for which Last, a public input, is the result of the last gate in a
// chain. The first gate of the chain takes X and Y. Each later gate takes Y and the result of the gate
// before it. The number of gates that New takes includes two gates outside the chain: one for the public
// input, and one that compares the result with Last. So if this number is a power of two, the circuit fills
// PLONK's domain exactly.
type Circuit struct {
	X, Y frontend.Variable
	Last frontend.Variable `gnark:",public"`
	n    int
}

// New returns the circuit of n gates. It returns zkbench.ErrParams if n is less than MinGates.
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

// IsAddition reports whether gate i is an addition. Every fourth gate is an addition; the others are
// multiplications.
func IsAddition(i int) bool { return i%4 == 3 }

// Define implements frontend.Circuit. It returns zkbench.ErrParams if New did not make the circuit.
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

// Assign returns the assignment for x and y.
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

// AssignPublic returns the assignment of the public value alone. A verifier makes a public witness from it,
// with frontend.NewWitness and the option frontend.PublicOnly.
func (c *Circuit) AssignPublic(last fr.Element) *Circuit { return &Circuit{Last: last, n: c.n} }
