package riscv

import "github.com/ianlancetaylor/demangle"

// Limits of names that are demangled. A level of a type is a letter of the name and a call of the library.
const (
	longestMangled   = 1 << 12
	longestDemangled = 14 // bits of a length in bytes
)

// readable is a function's name as its source has it: names of C++ (Itanium C++ ABI, section 5.1) and of Rust (both
// of its schemes; the older one's hash is left out) are demangled, and others stay as they are.
func (f *function) readable() string {
	if len(f.name) > longestMangled {
		return f.name
	}
	return printable(demangle.Filter(f.name, demangle.MaxLength(longestDemangled)))
}

// names are the readable names of functions, each made once, however many sections count the function.
type names struct {
	functions []function
	known     map[int]string
}

// of is the name of the function of an index; empty: none is known (functionAt).
func (n *names) of(i int) string {
	if i < 0 {
		return ""
	}
	name, ok := n.known[i]
	if !ok {
		name = n.functions[i].readable()
		n.known[i] = name
	}
	return name
}
