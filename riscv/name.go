package riscv

import (
	"strings"

	"github.com/ianlancetaylor/demangle"
)

// Limits of demangled names. One letter of a name can be one level of a type, and one recursive call in the library.
const (
	longestMangled   = 1 << 12
	longestDemangled = 14 // bits of a length in bytes
)

// names holds the readable names of a program's functions. Each is computed once.
type names struct {
	functions []function
	known     map[int]string
	spent     int // used up of mostDemangling
}

// mostDemangling limits the work for all names of a run. Short symbols can stand for long names, so that the
// names of a file of 1 MB could take 1 GB. The limit suffices for 90,000 functions with names of 100 bytes
// for symbols of 200.
const mostDemangling = 1 << 25

func newNames(p *Program) *names {
	return &names{functions: p.functions, known: make(map[int]string)}
}

// name returns the name of the function with this index. It is empty for index -1 (see functionAt).
func (n *names) name(i int) string {
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

// readable returns a symbol as its source has it: it demangles names of C++ (Itanium C++ ABI, section 5.1)
// and of Rust (both schemes; the hash of the older one is left out). Other symbols are returned unchanged,
// and so are all once mostDemangling is used up.
func (n *names) readable(symbol string) string {
	if !strings.HasPrefix(symbol, "_") || len(symbol) > longestMangled || n.spent > mostDemangling {
		return symbol
	}
	name := demangle.Filter(symbol, demangle.MaxLength(longestDemangled))
	n.spent += len(name) + len(symbol)*len(symbol)/64 // the library takes more than linear time
	return printable(name)
}
