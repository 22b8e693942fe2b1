// Package pedersen is circuits of gnark for chains of two-to-one Pedersen hashes.
package pedersen

import (
	"fmt"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark/constraint/solver"
	"github.com/consensys/gnark/frontend"

	"github.com/zkbench/zkbench/circuits/internal/gate"
	"github.com/zkbench/zkbench/hash/pedersen"
)

// Circuit proves knowledge of a first value and of as many others as there are
// hashes, whose chain h_(i+1) = H(h_i, Others_i) ends in Last.
type Circuit struct {
	form   Form
	First  frontend.Variable
	Others []frontend.Variable
	Last   frontend.Variable `gnark:",public"`
}

// Form is the form of a circuit.
type Form string

// The forms.
const (
	Edwards  Form = "edwards"  // on the embedded curve, windows of two bits, complete addition
	Grumpkin Form = "grumpkin" // Barretenberg's hash, windows of three bits
	Tables   Form = "tables"   // Barretenberg's hash, points looked up in tables
)

// Forms returns the forms.
func Forms() []Form { return []Form{Edwards, Grumpkin, Tables} }

// New returns a circuit of n hashes.
func New(form Form, n int) *Circuit {
	return &Circuit{form: form, Others: make([]frontend.Variable, n)}
}

// Define implements frontend.Circuit.
func (c *Circuit) Define(api frontend.API) error {
	h := c.First
	hash := hashGrumpkin
	switch c.form {
	case Edwards:
		hash = hashEdwards
	case Tables:
		t := newTabled()
		hash = t.hash
		api.Compiler().Defer(t.prove)
	}
	for i, other := range c.Others {
		var err error
		if h, err = hash(api, [pedersen.Inputs]frontend.Variable{h, other}); err != nil {
			return fmt.Errorf("hash %d: %w", i, err)
		}
	}
	api.AssertIsEqual(h, c.Last)
	return nil
}

// Hints are what solvers of these circuits need.
func Hints() []solver.Hint { return append(gate.Hints(), SignedDigits, Digits, Points, Multiplicities) }

// Hash is what the circuits of a form compute.
func Hash(form Form, a, b *fr.Element) fr.Element {
	if form == Edwards {
		return pedersen.HashEdwards(a, b)
	}
	return pedersen.Hash(a, b)
}

// Constraints is the number of gates of the circuit of n hashes, on PLONK.
func Constraints(form Form, n int) int {
	switch form {
	case Edwards:
		return 4534*n + 1
	case Tables:
		return 57_789 + 1606*n
	}
	return 3284*n + 1
}
