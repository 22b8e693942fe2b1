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
