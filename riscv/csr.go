package riscv

import "fmt"

// Registers of control and status (volume I, chapters "Zicsr", "F" and "Zicntr").
const (
	csrFlags, csrRounding, csrFloat    = 0x001, 0x002, 0x003
	csrCycle, csrTime, csrInstructions = 0xc00, 0xc01, 0xc02
)

// csr executes what reads such registers: counters, and a rounding mode that is always the same, to nearest. The flags
// that operations raise are not kept, so they cannot be read; what is written to them alone is never seen.
// done are the cycles of this call of execute, this one included.
func (m *machine) csr(h *hart, in *instr, done uint64) bool {
	w := uint32(in.imm)
	number, f3 := field(w, 20, 12), field(w, 12, 3)
	source := h.x[in.rs1]
	if f3 >= 5 {
		source = uint64(in.rs1)
	}
	writes := f3&3 == 1 || in.rs1 != 0
	switch number {
	case csrFlags:
		if in.rd == sink {
			return true
		}
		return m.refuse(Unsupported, fmt.Sprintf("%#x: reads the flags of floating point, which are not kept; accepted: to write them", w))
	case csrRounding:
		if writes && f3&3 != 3 && source&7 != nearestEven { // 3: clears bits, all of which are clear
			return m.refuse(Unsupported, fmt.Sprintf("%#x: sets rounding mode %d; accepted: %d, to nearest, ties to even", w, source&7, nearestEven))
		}
		h.x[in.rd] = nearestEven
		return true
	case csrFloat:
		if in.rd != sink || f3&3 != 3 && source>>5&7 != nearestEven {
			return m.refuse(Unsupported, fmt.Sprintf("%#x: reads the flags of floating point, which are not kept, or sets another rounding mode; accepted: to set the mode to nearest", w))
		}
		return true
	case csrCycle, csrInstructions:
		if !writes {
			h.x[in.rd] = uint64(m.program.ISA.extend(m.cycles + done - 1))
			return true
		}
	case csrTime:
		if !writes {
			m.time += clockStep
			h.x[in.rd] = uint64(m.program.ISA.extend(m.time))
			return true
		}
	}
	return m.refuse(IllegalInstruction, fmt.Sprintf("%#x: register of control %#x", w, number))
}
