package plant

import (
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/plonkish/internal/inside"
)

// Alone checks a witness that a test has forged: it breaks one constraint of its circuit and no other, so
// that it is accepted if that constraint is left out.
func Alone(t testing.TB, c *inside.Circuit) {
	t.Helper()
	s := newSolver(c)
	switch broken := s.broken(); len(broken) {
	case 0:
		t.Error("the circuit accepts the forged witness")
	case 1:
		s.refuses(t, broken[0])
	default:
		for _, i := range broken[:2] {
			t.Errorf("the forged witness breaks %d constraints, and one of them is %q", len(broken), c.Constraints[i].Name)
		}
	}
}

// AloneWire checks a forged witness that gives a cell a value of its own: it breaks the cell's wire and
// nothing else.
func AloneWire(t testing.TB, c *inside.Circuit, column, row int, own fr.Element) {
	t.Helper()
	cell := column*(len(c.Unknown)/c.Columns) + row
	i := slices.IndexFunc(c.Constraints, func(k inside.Constraint) bool { return k.Cell == cell })
	if i < 0 {
		t.Errorf("the cell in column %d of row %d is wired to no other, so that a prover chooses it", column, row)
		return
	}
	s := newSolver(c)
	s.values[len(s.Values)] = own
	if own == s.values[c.Unknown[cell]] {
		t.Errorf("the cell in column %d of row %d holds what the others hold", column, row)
	}
	s.refuses(t, i)
}

// refuses checks that the circuit refuses the solver's values by a constraint alone.
func (s *solver) refuses(t testing.TB, constraint int) {
	t.Helper()
	name := s.Constraints[constraint].Name
	if s.Check(s.values, constraint, false) == nil {
		t.Errorf("%s: the circuit accepts the forged witness", name)
	}
	if err := s.Check(s.values, constraint, true); err != nil {
		t.Errorf("%s: the forged witness breaks another constraint too: %v", name, err)
	}
}
