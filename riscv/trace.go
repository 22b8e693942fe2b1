package riscv

// Step is one retired instruction of a run, as Options.Trace receives it. Together with Program.Instructions and
// Program.Segments it says all that the instruction read and wrote in integer registers and memory, except what
// the machine itself does in a call. On 32-bit machines values of registers and addresses are sign-extended.
type Step struct {
	Address uint64 // of the instruction
	Next    uint64 // address at which the thread continues
	A, B    uint64 // contents of registers Rs1 and Rs2 before the instruction
	Result  uint64 // contents of register Rd after it

	// Memory is the address that a load or a store accesses. Before and After are the aligned eight bytes that
	// contain this address, as a little-endian number, before and after the instruction. A misaligned access may
	// also access the next eight bytes. All three are 0 for other instructions.
	Memory, Before, After uint64

	Call *Call // nil: the instruction is not an ecall
}

// Call is an ecall: a call of package call, of a precompile, or of Linux. The first call of call.Input writes the
// input to memory, at the address that it returns. A precompile and a call of Linux may write anywhere.
type Call struct {
	Number    uint64    // register a7
	Arguments [2]uint64 // registers a0 and a1 before the call
	Results   [2]uint64 // registers a0 and a1 after it
	Refused   bool      // the machine did not execute the call, and the run ends with a Fault
}

// traced is the next instruction of a traced run.
type traced struct {
	step Step
	in   *instr // nil: there is none, and the run will end with a fault
}

// before returns the instruction that a hart executes next, and what it will find.
func (m *machine) before(h *hart) (next traced) {
	b := m.blockAt(h.pc)
	if b == nil {
		return next
	}
	next.in = &b.code[0]
	s := &next.step
	s.Address, s.A, s.B = b.start, h.x[next.in.rs1], h.x[next.in.rs2]
	switch {
	case next.in.op.class() == Memory:
		s.Memory = uint64(m.program.ISA.extend(s.A + uint64(next.in.imm)))
		s.Before = m.mem.word(s.Memory)
	case next.in.op == opEcall:
		s.Call = &Call{Number: h.x[a7], Arguments: [2]uint64{h.x[a0], h.x[a1]}}
	}
	return next
}

// after returns the step after the hart has executed the instruction.
func (t *traced) after(m *machine, h *hart) Step {
	s := &t.step
	s.Next, s.Result = h.pc, h.x[t.in.rd]
	switch {
	case t.in.op.class() == Memory:
		s.After = m.mem.word(s.Memory)
	case s.Call != nil:
		s.Call.Results, s.Call.Refused = [2]uint64{h.x[a0], h.x[a1]}, m.fault != nil
	}
	return *s
}

// word returns the aligned eight bytes that contain an address, whatever its rights are. It creates no page.
func (m *memory) word(addr uint64) uint64 {
	p := m.pages[addr>>pageBits]
	if p == nil {
		return 0
	}
	return p[addr&pageMask>>3]
}
