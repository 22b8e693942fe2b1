package riscv

import "fmt"

// FaultKind says what a guest did that ends it.
type FaultKind uint8

// The kinds of faults.
const (
	_                  FaultKind = iota
	IllegalInstruction           // none that the instruction set has
	Unsupported                  // one that this package does not execute, such as another rounding mode
	WildAccess                   // of an address that is not mapped, or not for this
	Misaligned                   // of an address that is no multiple of the size
	WriteToCode                  // a program that changes itself
	WildJump                     // to an address without code
	OutOfMemory                  // more pages than the limit
	OutOfCycles                  // more instructions than the limit
	UnknownCall                  // an ecall that there is not
	BadCall                      // an ecall whose arguments are not accepted
	Deadlock                     // every thread waits for ever
	Aborted                      // by a signal of its own, or ebreak
)

func (k FaultKind) String() string {
	return [...]string{
		"no fault", "illegal instruction", "unsupported instruction", "wild access", "misaligned access", "write to code", "wild jump",
		"out of memory", "out of cycles", "unknown call", "bad call", "deadlock", "aborted",
	}[k]
}

// Fault is the error of a guest that was ended.
type Fault struct {
	Kind     FaultKind
	PC       uint64 // of the instruction
	Function string // that has it, demangled; empty: no symbol does
	Cycle    uint64 // instructions that were retired, a call that was refused with them
	Detail   string // the address, the encoding, what is accepted
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

// refuse says what was wrong, and is false.
func (m *machine) refuse(kind FaultKind, detail string) bool {
	m.fault = &Fault{Kind: kind, Detail: detail}
	return false
}

// noBlock is why there is none at h.pc.
func (m *machine) noBlock(h *hart) stop {
	if m.full {
		return stopFull
	}
	if m.seen > mostSeen {
		m.fault = &Fault{Kind: OutOfMemory, PC: h.pc, Detail: fmt.Sprintf("counts of functions by sections; accepted: %d", mostSeen)}
		return stopFault
	}
	m.fault = &Fault{Kind: WildJump, PC: h.pc, Detail: "there is no code"}
	for _, a := range []uint64{h.pc, h.pc + 2} { // of a page each, where the second is a page's first
		if m.mem.rightsAt(a)&executable != 0 && m.mem.page(a) == nil {
			m.fault.Kind, m.fault.Detail = OutOfMemory, "code"
		}
	}
	return stopFault
}

// unmapped says of memory that there is not what it is beyond, or what a bare program can be given there.
func (m *machine) unmapped(kind FaultKind, addr uint64) string {
	const gap, end = 1 << 20, stackTop - stackSize // below a stack Linux maps nothing in so many bytes
	switch {
	case kind != WildAccess || m.mem.rightsAt(addr) != 0:
		return ""
	case m.program.ISA != rv64gc:
		return "; nothing is mapped there, and Options.Map (--map) can"
	case end-gap <= addr && addr < end:
		return fmt.Sprintf("; it is below the first thread's stack, which has %d bytes", stackSize)
	}
	return ""
}

// ExitError is the error of a guest that has ended itself with a code other than 0: it says that it failed, so what it committed
// to before is no result.
//
// Code is the low byte of what the guest passed to exit or exit_group, from 1 to 255. It is 255 if that byte is 0 and what
// the guest passed is not: Linux would report exit(256) as a success. If a thread ends by exit with a code other
// than 0, the guest has failed with the first such code, whatever the other threads end with; Linux would report the
// code of the first thread, or that of exit_group.
type ExitError struct {
	Code   int
	Output []byte // what it committed to until then
}

func (e *ExitError) Error() string { return fmt.Sprintf("guest: exit code %d", e.Code) }
