package riscv

import "fmt"

// Control and status registers (volume I, chapters "Zicsr", "F" and "Zicntr").
const (
	csrFlags, csrRounding, csrFloat    = 0x001, 0x002, 0x003
	csrCycle, csrTime, csrInstructions = 0xc00, 0xc01, 0xc02
)

// csr executes an instruction that reads or writes a control and status register: counters, the
// floating-point flags, and a rounding mode that is always to nearest. done is the number of cycles of this
// call of execute, including this one.
func (m *machine) csr(h *hart, in *instr, done uint64) bool {
	w := uint32(in.imm)
	number, f3 := field(w, 20, 12), field(w, 12, 3)
	source := h.x[in.rs1]
	if f3 >= 5 {
		source = uint64(in.rs1)
	}
	writes := f3&3 == 1 || in.rs1 != 0
	switch number {
	case csrFlags, csrRounding, csrFloat:
		if !m.program.ISA.Float {
			break
		}
		const allFlags, modeBits = 1<<5 - 1, 5
		flags, mode := uint64(h.flags), uint64(nearestEven)
		old := [...]uint64{csrFlags: flags, csrRounding: mode, csrFloat: mode<<modeBits | flags}[number]
		now := [...]uint64{1: source, 2: old | source, 3: old &^ source}[f3&3]
		if writes && number != csrRounding {
			flags = now & allFlags
		}
		if number == csrFloat {
			now >>= modeBits
		}
		if mode = now & 7; writes && number != csrFlags && mode != nearestEven {
			return m.refuse(Unsupported, fmt.Sprintf("%#x: sets rounding mode %d; accepted: %d, to nearest, ties to even", w, mode, nearestEven))
		}
		h.flags, h.x[in.rd] = uint8(flags), old
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
	return m.refuse(IllegalInstruction, fmt.Sprintf("%#x: control register %#x", w, number))
}
