// Package pedersen has gnark circuits for chains of two-to-one Pedersen hashes.
package pedersen

import (
	"fmt"
	"slices"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark/constraint/solver"
	"github.com/consensys/gnark/frontend"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/circuits/internal/gate"
	"github.com/zkbench/zkbench/hash/pedersen"
)

// Circuit proves knowledge of a first value and of one other value for each hash. The chain h_(i+1) = H(h_i,
// Others_i) begins with First and ends in Last.
type Circuit struct {
	form   Form
	First  frontend.Variable
	Others []frontend.Variable
	Last   frontend.Variable `gnark:",public"`
}

// Form selects a variant of the circuit.
type Form string

// The forms of the circuit.
const (
	Edwards  Form = "edwards"  // a hash on the embedded curve, with windows of two bits and complete addition
	Grumpkin Form = "grumpkin" // Barretenberg's hash, with windows of three bits
	Tables   Form = "tables"   // Barretenberg's hash, with points looked up in tables
)

// Forms returns all forms.
func Forms() []Form { return []Form{Edwards, Grumpkin, Tables} }

// New returns a circuit of n hashes. It returns zkbench.ErrParams if the form is unknown or n is negative.
func New(form Form, n int) (*Circuit, error) {
	if n < 0 {
		return nil, fmt.Errorf("%w: %d hashes, accepted are 0 and more", zkbench.ErrParams, n)
	}
	if err := form.check(); err != nil {
		return nil, err
	}
	return &Circuit{form: form, Others: make([]frontend.Variable, n)}, nil
}

func (f Form) check() error {
	if !slices.Contains(Forms(), f) {
		return fmt.Errorf("%w: form %q, accepted are %q", zkbench.ErrParams, f, Forms())
	}
	return nil
}

// Assign returns the assignment for a chain's first value and its other values, one for each hash. It
// returns zkbench.ErrParams if the number of others is not the number of hashes.
func (c *Circuit) Assign(first fr.Element, others ...fr.Element) (*Circuit, error) {
	if len(others) != len(c.Others) {
		return nil, fmt.Errorf("%w: %d others for a circuit of %d hashes", zkbench.ErrParams, len(others), len(c.Others))
	}
	a := &Circuit{form: c.form, First: first, Others: make([]frontend.Variable, len(others))}
	for i := range others {
		a.Others[i] = others[i]
		first = c.form.hash(&first, &others[i])
	}
	a.Last = first
	return a, nil
}

// AssignPublic returns the assignment of a chain's last value alone. A verifier makes a public witness from
// it, with frontend.NewWitness and the option frontend.PublicOnly.
func (c *Circuit) AssignPublic(last fr.Element) *Circuit {
	return &Circuit{form: c.form, Others: make([]frontend.Variable, len(c.Others)), Last: last}
}

// Define implements frontend.Circuit.
func (c *Circuit) Define(api frontend.API) error {
	if err := c.form.check(); err != nil {
		return err
	}
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

// Hints returns the hints that solvers of these circuits need.
func Hints() []solver.Hint { return append(gate.Hints(), SignedDigits, Digits, Points, Multiplicities) }

// hash computes what the circuits of a form compute.
func (f Form) hash(a, b *fr.Element) fr.Element {
	if f == Edwards {
		return pedersen.HashEdwards(a, b)
	}
	return pedersen.Hash(a, b)
}

// Constraints returns the number of gates that a circuit with n hashes has on PLONK. It returns 0 if New
// refuses the form.
func Constraints(form Form, n int) int {
	switch form {
	case Edwards:
		return 4534*n + 1
	case Grumpkin:
		return 3284*n + 1
	case Tables:
		return 57_789 + 1606*n
	}
	return 0
}
