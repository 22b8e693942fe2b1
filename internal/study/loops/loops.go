// Package loops contains loops, each of which repeats one instruction on independent registers. In such a loop, the
// number of instructions that the processor executes per cycle shows how many it can execute in parallel. In another
// loop, Chain, each addition needs the result of the previous one. The time of this loop gives the clock frequency if
// the processor's counters cannot be read.
package loops

import "github.com/zkbench/zkbench/goldilocks"

// Loop is a loop that repeats one instruction.
type Loop struct {
	Kernel string // name of a goldilocks.Kernel, or "scalar" for instructions on general registers
	// Name is add, sub or mul, on 64-bit lanes, or Chain. On avx2 and avx512, mul is VPMULUDQ, which multiplies
	// 32-bit numbers to 64 bits and from which 64-bit products are built. On avx512, mullo gives the low 64 bits of a
	// product. On sve and sve2, mul gives the low 64 bits and mulhi the high 64 bits.
	Name string
	// Instructions is how often one pass executes the instruction. A pass has two more instructions, which are the
	// loop's own.
	Instructions int
	// Run runs the given number of passes. It cannot be preempted; a thousand passes take some ten microseconds.
	Run func(passes int)
}

// Chain names the scalar loop in which each instruction needs the result of the previous one. Each instruction takes
// one cycle.
const Chain = "chain"

const (
	scalar = "scalar"
	// each is the value of Instructions of all loops.
	each = 96
)

// All returns the loops that this processor and this build of the program can run. The first one is Chain. A build
// without assembly has no loops.
func All() (all []Loop) {
	for _, l := range assembled {
		if _, err := goldilocks.KernelNamed(l.Kernel); l.Kernel == scalar || err == nil {
			all = append(all, l)
		}
	}
	return all
}
