package riscv

import (
	"fmt"

	"github.com/zkbench/zkbench/riscv/call"
)

const mostOutput = 1 << 26 // bytes

// call executes a guest's call. It returns false if there is no such call, or if it failed.
func (m *machine) call(t *thread) bool {
	x := &t.x
	switch x[a7] {
	case call.Input:
		return m.giveInput(t)
	case call.Commit:
		return m.commit(t)
	case call.Begin:
		return m.begin(t, x[a0], x[a1])
	case call.End:
		return m.end(t)
	}
	if x[a7] < call.Input {
		return m.linux(t)
	}
	return m.precompile(t)
}

// InputAddress is the address of the input of a bare program for 64 bits. It does not depend on the input, so that tables which
// prove a run can have it as a constant.
const InputAddress = 1 << 46

// The input of other programs is in memory below these addresses. On 32-bit machines the upper half of the addresses
// is sign-extended.
const (
	inputTop   = mmapTop
	inputTop32 = 1 << 31
)

// giveInput maps the input if it is not mapped yet, and returns its address and length to the guest.
func (m *machine) giveInput(t *thread) bool {
	n := uint64(len(m.Input))
	if m.inputAt == 0 {
		size := (n + pageMask) &^ pageMask
		at, ok := m.inputPlace(size)
		if !ok {
			return m.refuse(OutOfMemory, fmt.Sprintf("%d bytes of input, and no free addresses for them", n))
		}
		if n > 0 {
			m.mem.setRights(at, at+size, readable|writable)
			if kind := m.mem.write(at, m.Input); kind != 0 {
				return m.refuse(kind, fmt.Sprintf("%d bytes of input", n))
			}
			m.mem.setRights(at, at+size, readable)
		}
		m.inputAt = at
	}
	t.x[a0], t.x[a1] = m.inputAt, n
	return true
}

// inputPlace returns the address at which the pages of the input are mapped, or false if there is no room for them. Without
// an input it is 0, except in a bare program for 64 bits.
func (m *machine) inputPlace(size uint64) (at uint64, ok bool) {
	switch isa := m.program.ISA; {
	case isa.XLEN == 64 && isa != rv64gc:
		return InputAddress, !m.mem.mapped(InputAddress, InputAddress+size)
	case size == 0:
		return 0, true
	case isa.XLEN == 32:
		at = m.mem.below(inputTop32, size)
	default:
		at = m.mem.below(inputTop, size)
	}
	return at, at != 0
}

// commit appends bytes of the guest to the output.
func (m *machine) commit(t *thread) bool {
	addr, n := t.x[a0], t.x[a1]
	if n > mostOutput-uint64(len(m.output)) {
		return m.refuse(BadCall, fmt.Sprintf("%d bytes of output after %d; accepted: %d", n, len(m.output), mostOutput))
	}
	part := make([]byte, n)
	if kind := m.mem.read(addr, part); kind != 0 {
		return m.refuse(kind, fmt.Sprintf("%d bytes of output at %#x", n, addr))
	}
	m.output = append(m.output, part...)
	t.x[a0] = 0
	return true
}
