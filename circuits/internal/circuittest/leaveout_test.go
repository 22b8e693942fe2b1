package circuittest_test

import (
	"math/big"
	"testing"

	"github.com/consensys/gnark/frontend"

	"github.com/zkbench/zkbench/circuits/internal/circuittest"
	"github.com/zkbench/zkbench/circuits/internal/gate"
	"github.com/zkbench/zkbench/internal/testing/golden"
)

// signed asserts a sign in two ways, and in its own: what a test's circuit asserts is no gadget's.
type signed struct{ S frontend.Variable }

func (c *signed) Define(api frontend.API) error {
	gate.AssertSign(api, c.S)
	gate.AssertProductZero(api, api.Sub(c.S, 1), c.S, big.NewInt(-1))
	api.AssertIsDifferent(c.S, 0)
	return nil
}

// TestMatrix: each statement of a gadget is listed once, with what is left out with it, and one
// without a forgery is told.
func TestMatrix(t *testing.T) {
	m := circuittest.Matrix{
		Name: "signed", Circuit: new(signed), Honest: &signed{-1},
		// Each of the two implies the other.
		Forgeries: map[string]circuittest.Forgery{"AssertSign/equal": {Redundant: "AssertProductZero"}, "AssertProductZero": {Assignment: &signed{3}}},
		Calls:     []string{"AssertProductZero"},
	}
	names, planted := []string{}, 0
	for _, c := range m.Constraints(t) {
		names = append(names, c.Name+" "+c.Redundant)
		if c.Planted != nil {
			planted++
			if c.Planted(false) == nil || c.Planted(true) == nil {
				t.Errorf("%s: the other assertion does not refuse 3", c.Name)
			}
		}
	}
	golden.Equal(t, "statements", []string{"signed: AssertProductZero ", "signed: AssertSign/equal AssertProductZero"}, names)
	golden.Equal(t, "forgeries", 1, planted)
	m.Forgeries = nil
	for _, c := range m.Constraints(t) {
		if c.Planted != nil || c.Redundant != "" {
			t.Errorf("%s is held by nothing", c.Name)
		}
	}
}

// TestSwitched: without its statements a circuit takes what they refuse, on both systems.
func TestSwitched(t *testing.T) {
	for name, b := range circuittest.Builders() {
		modes := make(map[circuittest.Statement]circuittest.Mode)
		for _, s := range circuittest.Statements(t, b, new(signed), &signed{-1}, nil) {
			modes[s] = circuittest.LeftOut
		}
		for _, v := range []int{-1, 0, 3} {
			golden.Equal(t, name+": whole", v == -1, circuittest.Solves(t, circuittest.Compile(t, b, new(signed)), &signed{v}, nil) == nil)
			golden.Equal(t, name+": without its statements", v != 0, circuittest.Solves(t, circuittest.Compile(t, circuittest.Switched(b, modes), new(signed)), &signed{v}, append(gate.Hints(), circuittest.Free)) == nil)
		}
	}
}
