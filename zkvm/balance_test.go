package zkvm

import (
	"testing"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/stark/air"
)

// isCounted reports whether a tuple is one that a table answers as often as the prover says: fixed tables, the program, and cells that
// are never written. If a row does not ask for it, the prover counts it once less.
func (t *tuple) isCounted() bool {
	switch t.bus {
	case busHalf, busSign, busAnd, busBytes, busPower, busProgram, busTarget:
		return true
	case busCell:
		return t.values[0] == spaceReadOnly || t.values[0] == spaceRegisters && t.values[1] >= firstConstant
	}
	return false
}

// balancing returns the messages, by the name of their table and their number in it, that cannot be left out: some row of an honest run
// sends them, and the run would not be balanced without them, however the prover counts.
func balancing(t *testing.T) map[string]map[int]bool {
	t.Helper()
	all := make(map[string]map[int]bool)
	for _, c := range inAllTables(t) {
		f := forge(c)
		for at, columns := range filled(t, c) {
			p, fixed := compiledTables()[at.name()], f.fixedOf(at)
			if all[at.name()] == nil {
				all[at.name()] = make(map[int]bool)
			}
			for row := 0; row < len(columns[0]) && len(all[at.name()]) < len(p.Messages); row++ {
				values := air.Evaluate(p.Program, rowOf{columns, fixed, c.about.Publics, row})
				for i, m := range p.Messages {
					if sent, n := tupleOf(m, values); n != goldilocks.Element(0) && (m.Asks == 0 || !sent.isCounted()) {
						all[at.name()][i] = true
					}
				}
			}
		}
	}
	return all
}
