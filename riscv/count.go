package riscv

// Counts holds the number of retired instructions of each Class, and is indexed by Class.
type Counts [classes]uint64

// Total returns the number of instructions in all classes.
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

// Function is one function of a guest. Its counts do not include the functions that it calls.
type Function struct {
	Name string // from the symbol table, demangled; empty for code without a symbol
	Counts
}

// PrecompileCalls says how often a precompile was called, and how many units of work its calls counted as
// (see Guest.Units).
type PrecompileCalls struct {
	Name         string
	Calls, Units uint64
}

// Tally has the number of retired instructions: the total, and the numbers for each class and each
// function. It also counts the calls of precompiles.
type Tally struct {
	Cycles      uint64            // retired instructions
	Classes     Counts            // retired instructions by class
	Functions   []Function        // retired instructions by function, the largest count first
	Precompiles []PrecompileCalls // in the order of Options
}

// Section has counts of the instructions that threads executed from the call that begins the section to the
// call that ends it. These counts include the sections inside it.
type Section struct {
	Name    string // with the names of the enclosing sections, for example exchange/pairing
	Entered uint64 // how often it was begun
	Tally
}
