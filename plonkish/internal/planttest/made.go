package planttest

import (
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/plonkish/internal/inside"
)

// Alone checks the forged witness in c. The witness must break exactly one constraint of the circuit. If that
// constraint is left out, the circuit must accept the witness.
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

// AloneWire checks the witness in c with one change: the cell in the given column and row holds the value of
// the parameter own, and not the value of the cells that are wired to it. This change must break the cell's
// wire and no other constraint.
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

// Tables checks the lookup tables of circuits. The keys of the map want must be the names of these tables.
// Each table must have exactly the rows in the map's value for the table's name, in any order.
func Tables(t testing.TB, want map[string][][]fr.Element, circuits ...*inside.Circuit) {
	t.Helper()
	checked := make(map[string]bool)
	for _, c := range circuits {
		same := make(map[*fr.Element]bool)
		for _, k := range c.Constraints {
			if k.Table == nil || same[&k.Table[0][0]] {
				continue
			}
			same[&k.Table[0][0]], checked[k.TableName] = true, true
			rows, ok := want[k.TableName]
			if !ok {
				t.Errorf("table %q has no definition", k.TableName)
				continue
			}
			left := make(map[[4]fr.Element]int)
			for _, row := range rows {
				left[[4]fr.Element(append(slices.Clone(row), make([]fr.Element, 4-len(row))...))]++
			}
			if len(k.Table[0]) != len(rows) || len(k.Table) != len(rows[0]) {
				t.Errorf("table %q has %d rows of %d columns, its definition %d of %d", k.TableName, len(k.Table[0]), len(k.Table), len(rows), len(rows[0]))
			}
			for i := range k.Table[0] {
				row := tableRow(k.Table, i)
				if left[row]--; left[row] < 0 {
					t.Errorf("table %q has a row that its definition has not, or not so often: %v", k.TableName, row[:len(k.Table)])
					break
				}
			}
		}
	}
	for name := range want {
		if !checked[name] {
			t.Errorf("no circuit looks anything up in table %q", name)
		}
	}
}
