package riscv

import (
	"cmp"
	"slices"
)

// Counts are retired instructions by their class.
type Counts [classes]uint64

// Total is how many they are.
func (c Counts) Total() (n uint64) {
	for _, v := range c {
		n += v
	}
	return n
}

// Function is a function of a guest and what was executed of it, without what it called.
type Function struct {
	Name string // as the symbol table has it; empty: code that no symbol names
	Counts
}

// tally adds up what blocks ran how often, by functions, those first that took most.
func (m *machine) tally() (total Counts, functions []Function) {
	by := make(map[int]*Function)
	add := func(b *block) {
		f := by[b.function]
		if f == nil {
			f = &Function{}
			if b.function >= 0 {
				f.Name = m.program.functions[b.function].name
			}
			by[b.function] = f
		}
		for i := range b.code {
			class := b.code[i].op.class()
			f.Counts[class] += b.runs
			total[class] += b.runs
		}
	}
	for _, b := range m.blocks {
		add(b)
	}
	for _, b := range m.parts {
		add(b)
	}
	for _, f := range by {
		if f.Total() > 0 {
			functions = append(functions, *f)
		}
	}
	slices.SortFunc(functions, func(a, b Function) int {
		return cmp.Or(cmp.Compare(b.Total(), a.Total()), cmp.Compare(a.Name, b.Name))
	})
	return total, functions
}
