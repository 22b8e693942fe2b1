// Package planttest tests that each constraint of a plonkish gadget is needed. For each constraint it looks
// for a forgery: a witness that breaks this constraint and satisfies all others. To find one, it changes a
// value near the constraint. Then it changes the values that other constraints decide, so that these
// constraints hold again.
package planttest

import (
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/internal/testing/forgery"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/plonkish/internal/inside"
)

// Check tests that each constraint of the circuits has a forgery. If several constraints have the same name,
// a forgery of one of them is enough. The constraints with the same Line (a field of inside.Constraint) can
// have several names. Long tests check all of these names, and other tests check only some of them. If a
// circuit's witness satisfies the circuit, Check searches for forgeries. A test can also make a forgery
// itself, and pass a circuit whose witness breaks exactly one constraint. Some constraints have no forgery
// because other constraints imply them. The keys of the map redundant are the Lines of such constraints. The
// value of a key names the constraints that imply them.
func Check(t *testing.T, pkg string, redundant map[string]string, circuits ...*inside.Circuit) {
	t.Helper()
	names := make(map[string][]string) // by line
	seen := make(map[string]bool)
	var lines []string
	for _, c := range circuits {
		for _, k := range c.Constraints {
			if len(names[k.Line]) == 0 {
				lines = append(lines, k.Line)
			}
			if !seen[k.Name] {
				seen[k.Name], names[k.Line] = true, append(names[k.Line], k.Name)
			}
		}
	}
	found := make(map[string]*planted) // by name; nil: none yet
	for _, line := range lines {
		for _, name := range sample(names[line]) {
			found[name] = nil
		}
	}
	for _, c := range circuits {
		search(c, found)
	}
	var all []forgery.Constraint
	for _, line := range lines {
		c := forgery.Constraint{Name: line, Number: len(names[line]), Redundant: redundant[line]}
		var forged []*planted
		for _, name := range sample(names[line]) {
			switch p := found[name]; {
			case p != nil && c.Redundant != "":
				t.Errorf("%s: a forgery breaks it alone, and it is said to be redundant", name)
			case p != nil:
				forged = append(forged, p)
			case c.Redundant == "":
				t.Errorf("%s: no forgery", name)
			}
		}
		if len(forged) > 0 {
			c.Planted = func(leftOut bool) error { return check(forged, leftOut) }
		}
		all = append(all, c)
	}
	for line := range redundant {
		if len(names[line]) == 0 {
			t.Errorf("%q is said to be redundant, and is no constraint", line)
		}
	}
	forgery.Check(t, pkg, all)
}

// check returns nil if circuits accept witnesses. With nothing left out, one witness that is accepted is
// enough.
func check(all []*planted, leftOut bool) (err error) {
	for _, p := range all {
		if err = p.circuit.Check(p.values, p.constraint, leftOut); (err == nil) != leftOut {
			return err
		}
	}
	return err
}

// sample returns the last name in short tests, the first and the last in full ones, and all in the long ones.
func sample(names []string) []string {
	most := testsize.Pick(1, 2, len(names))
	if len(names) <= most {
		return names
	}
	some := []string{names[len(names)-1]}
	if most > 1 {
		some = append(some, names[0])
	}
	return some
}

// planted is a witness that breaks one constraint alone.
type planted struct {
	circuit    *inside.Circuit
	constraint int
	values     []fr.Element // if it is a wire, with its cell's own
}

// search finds forgeries of constraints that have none yet.
func search(c *inside.Circuit, found map[string]*planted) {
	s := newSolver(c)
	if broken := s.broken(); len(broken) > 0 {
		if len(broken) == 1 {
			s.made(broken[0], found)
		}
		return
	}
	s.orient()
	// The last constraint of a name has the fewest constraints after it, so it is tried first.
	tries := make(map[string]int)
	for i, k := range slices.Backward(c.Constraints) {
		if p, wanted := found[k.Name]; !wanted || p != nil || tries[k.Name] == instances {
			continue
		}
		tries[k.Name]++
		if values := s.forge(i); values != nil {
			found[k.Name] = &planted{c, i, values}
		}
	}
}

// made records a forgery that a test has made: for the constraint that it breaks, and for wires without which
// that constraint holds.
func (s *solver) made(broken int, found map[string]*planted) {
	name := s.Constraints[broken].Name
	if p, wanted := found[name]; wanted && p == nil {
		found[name] = &planted{s.Circuit, broken, slices.Clone(s.values)}
	}
	own := len(s.Values)
	for i, k := range s.Constraints {
		if p, wanted := found[k.Name]; !wanted || p != nil || k.Cell < 0 || !slices.Contains(s.unknowns(broken), s.of[k.Cell]) {
			continue
		}
		whole := s.of[k.Cell]
		before := s.values[whole]
		restore := s.split(k.Cell, own)
		for _, u := range []int{own, whole} {
			s.values[own] = before
			for _, p := range s.polys(broken) {
				if value, ok := s.affine(p, u, fr.Element{}); ok {
					s.values[u] = value
				}
			}
			if !slices.ContainsFunc(slices.Concat(s.readers[own], s.readers[whole]), func(i int) bool { return !s.holds(i) }) {
				found[k.Name] = &planted{s.Circuit, i, slices.Clone(s.values)}
			}
			s.values[whole] = before
		}
		restore()
	}
}

// instances is the maximum number of constraints of one name that are tried in a circuit.
const instances = 24
