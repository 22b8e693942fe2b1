// Package loops has loops of one instruction each, on registers that do not wait for each
// other. How many of its instructions are done in a cycle tells what a processor's vector
// units do with that instruction; how long a cycle is, the loop of dependent additions
// tells, where the processor's counters cannot be read.
package loops

import "github.com/zkbench/zkbench/goldilocks"

// Loop is an instruction again and again.
type Loop struct {
	Kernel string // goldilocks.Kernel's, or scalar for instructions on general registers
	// Name is add, sub, mul, of 64-bit lanes. The mul of avx2 and avx512 is VPMULUDQ, of 32
	// bits to 64, of which they make products; avx512 has that of 64 bits as mullo. Those of
	// sve and sve2 are the lower 64 bits, and mulhi is the upper. Or Name is Chain.
	Name string
	// Instructions are those that Name says in one pass: the loop has two more, of its own.
	Instructions int
	// Run does so many passes. It cannot be preempted: a thousand passes take some ten
	// microseconds.
	Run func(passes int)
}

// Chain is the name of the scalar loop in which each instruction waits for the last, one
// cycle: as many cycles as instructions.
const Chain = "chain"

const (
	scalar = "scalar"
	// each is how many instructions a pass has.
	each = 96
)

// All are the loops that this processor and build can run, Chain first. A build without
// assembly has none.
func All() (all []Loop) {
	for _, l := range assembled {
		if _, err := goldilocks.KernelNamed(l.Kernel); l.Kernel == scalar || err == nil {
			all = append(all, l)
		}
	}
	return all
}
