package zkvm

import (
	"slices"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// needless has constraints that may be left out one by one, by table.
var needless = map[string][]string{
	// One of several flags is 1. If one of them is not stated to be a bit, it is 1 less the others. Where it is then -1, the operation has a
	// code that none has, or the constraints of all its flags hold.
	"logic":        {"and is a bit", "or is a bit", "xor is a bit"},
	"words":        {"load is a bit", "load half is a bit"},
	"narrow words": {"load byte is a bit", "load half is a bit"},
}

// TestNeeded leaves out the constraints and messages of each table that is searched, one by one. Then there is another row, or a row that
// executes an instruction of another table, or honest runs are not balanced.
func TestNeeded(t *testing.T) {
	testsize.Full(t)
	balancing := balancing(t)
	forSearched(t, func(t *testing.T, all []*searched) {
		late := make(map[*searched][]*search)
		for _, x := range all {
			late[x] = x.late(t)
		}
		x := all[0]
		name := x.table.name()
		var found []string
		for i, c := range x.program.Constraints {
			if !x.isStatedByAsk(x.complete.zero[i]) && !hasOther(t, all, late, constraints, i) && !x.hasForeign(t, i) {
				found = append(found, c.Name)
			}
		}
		golden.Equal(t, "constraints that are not needed", needless[name], found)
		for i, m := range x.complete.lookups {
			if !hasOther(t, all, late, lookups, i) {
				t.Errorf("look-up %d, %s, is not needed", m.number, m.bus)
			}
		}
		for i, m := range x.complete.links {
			if !balancing[name][m.number] && !hasOther(t, all, late, links, i) {
				t.Errorf("link %d, %s, is not needed", m.number, m.bus)
			}
		}
	})
}

// kind is a kind of parts of a row.
type kind int

const (
	constraints kind = iota
	lookups
	links
)

// without returns a row without one of its parts.
func (r row) without(of kind, i int) row {
	switch of {
	case constraints:
		r.zero = slices.Delete(slices.Clone(r.zero), i, i+1)
	case lookups:
		r.lookups = slices.Delete(slices.Clone(r.lookups), i, i+1)
	case links:
		r.links = slices.Delete(slices.Clone(r.links), i, i+1)
	}
	return r
}

// hasOther reports whether a table, in any of its settings, has another row if a part is left out. It gives up the search of a scenario
// that takes long.
func hasOther(t *testing.T, all []*searched, late map[*searched][]*search, of kind, part int) bool {
	found := func(s *search, r row) bool {
		if of == links && s.expect != nil {
			s.expect = slices.Delete(slices.Clone(s.expect), part, part+1)
		}
		s.visited, s.limit = 0, 5000
		return s.find(r)
	}
	longest := 0
	for _, x := range all {
		begun := x.field.decide(x.complete.without(of, part), x.begins, 1)
		if slices.ContainsFunc(late[x], func(s *search) bool { return found(s, begun) }) {
			return true
		}
		longest = max(longest, len(x.scenarios))
	}
	// Some rows come with some operands only, and others with words of some length only.
	for i := range longest {
		for _, x := range all {
			if i >= len(x.scenarios) {
				continue
			}
			r, s := x.complete.without(of, part), x.search(t, &x.scenarios[i])
			if found(s, x.field.decide(r, x.begins, 1)) {
				return true
			}
			if s.expect = nil; i < somePadding && found(s, x.field.decide(r, x.begins, 0)) {
				return true
			}
		}
	}
	return false
}

// hasForeign reports whether a row can execute an instruction of another table if a constraint is left out.
func (x *searched) hasForeign(t *testing.T, constraint int) bool {
	number := slices.IndexFunc(newMachine(rv64).instructions(), func(f family) bool { return f.table.name() == x.table.name() })
	if number < 0 {
		return false
	}
	s, r := flagged(t, number, constraint)
	s.limit = 5000
	return s.find(r)
}

// isStatedByAsk reports whether a constraint says that the multiplicity of an ask is a bit. Package air states that otherwise.
func (x *searched) isStatedByAsk(zero polynomial) bool {
	return slices.ContainsFunc(slices.Concat(x.complete.lookups, x.complete.links), func(m *sent) bool {
		return m.asks && len(x.field.Sub(zero, x.field.Mul(m.times, x.field.Sub(x.field.of(1), m.times))).terms) == 0
	})
}
