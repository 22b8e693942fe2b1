package zkvm

import (
	"slices"
	"testing"
)

// codes are the codes of all operations.
func codes() (all []uint64) {
	for _, o := range operations {
		if o.operands != withAmount {
			all = append(all, o.op)
		}
	}
	for way := range ways {
		all = append(all, codeShift+uint64(way))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// flagged returns a search for a row of a table that executes an instruction of another family. It reads only the columns that the
// operation reads, and what the table states of them alone. Its prime is greater than all codes.
func flagged(t *testing.T, number int, without int) (s *search, r row) {
	x := newSearched(t, number, setting{shape: shape{limb: 4, half: 2, byte: 1}, prime: largestPrime, words: 5})
	program := x.complete.links[slices.IndexFunc(x.complete.links, func(m *sent) bool { return m.bus == busProgram })]
	op := program.tuple[1]
	columns := op.columns | program.times.columns
	s = &search{field: x.field, tuples: make(map[string][][]uint64), ranges: x.ranges}
	for i, zero := range x.complete.zero {
		if i != without && zero.columns&^columns == 0 {
			r.zero = append(r.zero, zero)
		}
	}
	for _, m := range x.complete.lookups {
		for i, e := range m.tuple {
			if e.columns != 0 && e.columns&^columns == 0 {
				r.lookups = append(r.lookups, &sent{bus: m.bus, asks: true, times: m.times, tuple: []polynomial{e}, columns: e.columns})
				for _, tuple := range x.lookups[m.bus] {
					s.tuples[m.bus] = append(s.tuples[m.bus], tuple[i:i+1])
				}
			}
		}
	}
	family := newMachine(rv64).instructions()[number].code
	for _, code := range codes() {
		if code&^(codesPerFamily-1) != family {
			s.tuples[busProgram] = append(s.tuples[busProgram], []uint64{code})
		}
	}
	r.links = []*sent{{bus: busProgram, asks: true, times: program.times, tuple: []polynomial{op}, columns: op.columns}}
	return s, x.field.decide(r, program.times, 1)
}

// TestFamilies: no row executes an instruction of another family.
func TestFamilies(t *testing.T) {
	for number, family := range newMachine(rv64).instructions() {
		if s, r := flagged(t, number, -1); s.find(r) {
			t.Errorf("%s: a row has the code of another family", family.table.name())
		}
	}
}
