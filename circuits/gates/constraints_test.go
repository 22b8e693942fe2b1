package gates_test

import (
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/circuits/internal/circuittest"
	"github.com/zkbench/zkbench/internal/testing/forgery"
)

// TestConstraints holds the circuit's one assertion by a last value that no gate gives.
func TestConstraints(t *testing.T) {
	c := circuit(t, 16)
	wrong := c.Assign(fr.NewElement(3), fr.NewElement(5))
	wrong.Last = 1
	m := circuittest.Matrix{
		Circuit: c, Honest: c.Assign(fr.NewElement(3), fr.NewElement(5)),
		Forgeries: map[string]circuittest.Forgery{"Define/equal": {Assignment: wrong}},
	}
	forgery.Check(t, "circuits/gates", m.Constraints(t))
}
