package riscv

import (
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// Limits of names that are demangled. A level of a type is a letter of the name and a call of the library.
const (
	longestMangled   = 1 << 12
	longestDemangled = 14 // bits of a length in bytes
)

// names are the readable names of a program's functions, each made once, whoever asks for it.
type names struct {
	functions []function
	known     map[int]string
	spent     int // of mostDemangling
}

// mostDemangling is what a run's names may cost together. Short names can stand for long ones, so that the names of a
// file of 1 MB would take 1 GB. Names of 100 bytes for 200 have room for 90,000 functions.
const mostDemangling = 1 << 25

func newNames(p *Program) *names {
	return &names{functions: p.functions, known: make(map[int]string)}
}

// of is the name of the function of an index; empty: none is known (functionAt).
func (n *names) of(i int) string {
	if i < 0 {
		return ""
	}
	name, ok := n.known[i]
	if !ok {
		name = n.readable(n.functions[i].name)
		n.known[i] = name
	}
	return name
}

// readable is a symbol as its source has it: names of C++ (Itanium C++ ABI, section 5.1) and of Rust (both of its
// schemes; the older one's hash is left out) are demangled. Others stay as they are, and all do when what there is for
// them is spent.
func (n *names) readable(symbol string) string {
	if !strings.HasPrefix(symbol, "_") || len(symbol) > longestMangled || n.spent > mostDemangling {
		return symbol
	}
	name := demangle.Filter(symbol, demangle.MaxLength(longestDemangled))
	n.spent += len(name) + len(symbol)*len(symbol)/64 // the library takes more than a linear time
	return printable(name)
}
