package riscv

import "fmt"

// FaultKind is the reason why the machine ended a guest.
type FaultKind uint8

// The reasons why a guest is ended.
const (
	_                  FaultKind = iota
	IllegalInstruction           // an instruction that is not in the instruction set
	Unsupported                  // an instruction that this package does not execute, for example one with another rounding mode
	WildAccess                   // access to an address that is not mapped, or not with this right
	Misaligned                   // access to an address that is not a multiple of the size
	WriteToCode                  // a write to code
	WildJump                     // a jump to an address without code
	OutOfMemory                  // more pages than the limit allows
	OutOfCycles                  // more instructions than the limit allows
	UnknownCall                  // an ecall that the machine does not have
	BadCall                      // an ecall whose arguments are not accepted
	Deadlock                     // every thread waits forever
	Aborted                      // a signal that the guest sends to itself, or ebreak
)

func (k FaultKind) String() string {
	return [...]string{
		"no fault", "illegal instruction", "unsupported instruction", "wild access", "misaligned access", "write to code", "wild jump",
		"out of memory", "out of cycles", "unknown call", "bad call", "deadlock", "aborted",
	}[k]
}

// Fault is the error for a guest that the machine ended.
type Fault struct {
	Kind     FaultKind
	PC       uint64 // address of the instruction
	Function string // demangled name of the function with the instruction; empty if no symbol names it
	Cycle    uint64 // number of retired instructions, including a call that was refused
	Detail   string // for example the address, the encoding, and what is accepted
}

func (f *Fault) Error() string {
	in := ""
	if f.Function != "" {
		in = " in " + f.Function
	}
	detail := f.Detail
	if detail != "" {
		detail = ": " + detail
	}
	return fmt.Sprintf("guest: %v at %#x%s after %d cycles%s", f.Kind, f.PC, in, f.Cycle, detail)
}

// refuse sets the fault that ends the guest, and returns false.
func (m *machine) refuse(kind FaultKind, detail string) bool {
	m.fault = &Fault{Kind: kind, Detail: detail}
	return false
}

// noBlock returns why there is no block at h.pc.
func (m *machine) noBlock(h *hart) stop {
	if m.full {
		return stopFull
	}
	if m.seen > mostSeen {
		m.fault = &Fault{Kind: OutOfMemory, PC: h.pc, Detail: fmt.Sprintf("counts of functions in all sections; accepted: %d", mostSeen)}
		return stopFault
	}
	m.fault = &Fault{Kind: WildJump, PC: h.pc, Detail: "there is no code"}
	for _, a := range []uint64{h.pc, h.pc + 2} { // the second half can be on the next page
		if m.mem.rightsAt(a)&executable != 0 && m.mem.page(a) == nil {
			m.fault.Kind, m.fault.Detail = OutOfMemory, "code"
		}
	}
	return stopFault
}

// unmapped explains a wild access: it names what the address is beyond, or how a bare program can have memory
// there.
func (m *machine) unmapped(kind FaultKind, addr uint64) string {
	const gap, end = 1 << 20, stackTop - stackSize // Linux maps nothing in the last gap bytes below a stack
	switch {
	case kind != WildAccess || m.mem.rightsAt(addr) != 0:
		return ""
	case m.program.ISA != rv64gc:
		return "; nothing is mapped there; map it with Options.Map (--map)"
	case end-gap <= addr && addr < end:
		return fmt.Sprintf("; it is below the first thread's stack, which has %d bytes", stackSize)
	}
	return ""
}

// ExitError is the error for a guest that ended itself with a code other than 0. Such a guest has failed, so
// the output that it wrote before does not count as a result.
//
// Code is the low byte of what the guest passed to exit or exit_group, from 1 to 255. If that byte is 0 but
// the guest passed another number, Code is 255; Linux would report exit(256) as a success. If a thread ends
// by exit with a code other than 0, the guest has failed with the first such code, whatever the other threads
// end with. Linux would report the code of the first thread, or the code that was passed to exit_group.
type ExitError struct {
	Code   int
	Output []byte // what the guest committed to until then
}

func (e *ExitError) Error() string { return fmt.Sprintf("guest: exit code %d", e.Code) }
