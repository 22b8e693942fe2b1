package riscv

// Counts are retired instructions by their class.
type Counts [classes]uint64

// Total is how many they are.
func (c Counts) Total() (n uint64) {
	for _, v := range c {
		n += v
	}
	return n
}

func (c Counts) plus(d Counts) Counts {
	for i, v := range d {
		c[i] += v
	}
	return c
}

// Function is a function of a guest and what was executed of it, without what it called.
type Function struct {
	Name string // of the symbol table, demangled; empty: code that no symbol names
	Counts
}

// PrecompileCalls are how often a precompile was called, and how many units of work that was (Guest.Units).
type PrecompileCalls struct {
	Name         string
	Calls, Units uint64
}

// Tally is what was executed.
type Tally struct {
	Cycles      uint64            // instructions that were retired
	Classes     Counts            // the same by their class
	Functions   []Function        // the same by function, those first that took most
	Precompiles []PrecompileCalls // in the order of Options
}

// Section is what threads executed between calls that begin and end it, with the sections in it.
type Section struct {
	Name    string // after those that it was begun in, with slashes: exchange/pairing
	Entered uint64
	Tally
}
