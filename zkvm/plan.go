package zkvm

import (
	"unsafe"

	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/air"
)

// Plan says what a proof takes and how sound it is, before it is made.
type Plan struct {
	Cycles uint64 // instructions that the program retired
	Cells  int    // of traces, sums and quotients, in tables as high as the proof's; docs/zkvm.md counts those of a row
	Bits   int    // proved bits of soundness
	Memory uint64 // bytes that a process takes at most, estimated: by stark.System.Memory, for the run's instructions and memory, and its own
}

// plan returns the plan of a proof of a run in the given form.
func (s *system) plan(form stark.Form, about stark.Statement, x *execution, cycles uint64) (p Plan, err error) {
	p.Cycles = cycles
	widths, err := s.widths()
	if err != nil {
		return p, err
	}
	for i, w := range widths {
		p.Cells += form[i] * w
	}
	protocol, err := s.Security(form, len(about.Messages))
	if err != nil {
		return p, err
	}
	best, err := protocol.Best()
	if err != nil {
		return p, err
	}
	p.Bits = best.Bits()
	p.Memory, err = s.Memory(form)
	p.Memory += cycles*uint64(unsafe.Sizeof(step{})) + x.memory.bytes() + ofProcess
	return p, err
}

// ofProcess is the memory, in bytes, of a process that has a program's key and proves nothing.
const ofProcess = 64 << 20

// widths returns the number of cells in a row of each table.
func (m *machine) widths() (all []int, err error) {
	for _, t := range m.tables() {
		p, err := t.Compile()
		if err != nil {
			return nil, err
		}
		all = append(all, width(p))
	}
	return all, nil
}

// width returns the number of cells in a row of a table: its columns, the two coordinates of a sum for every two messages,
// and those of the quotient's two pieces.
func width(p *air.Program) int { return p.Columns + 2*((len(p.Messages)+1)/2) + 2*2 }
