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

// The input is in memory below these addresses. On 32-bit machines the upper half of the addresses is sign-extended.
const (
	inputTop   = mmapTop
	inputTop32 = 1 << 31
)

// giveInput maps the input if it is not mapped yet, and returns its address and length to the guest.
func (m *machine) giveInput(t *thread) bool {
	n := uint64(len(m.Input))
	if m.inputAt == 0 && n > 0 {
		top := uint64(inputTop)
		if m.program.ISA.XLEN == 32 {
			top = inputTop32
		}
		size := (n + pageMask) &^ pageMask
		at := m.mem.below(top, size)
		if at == 0 {
			return m.refuse(OutOfMemory, fmt.Sprintf("%d bytes of input", n))
		}
		m.mem.setRights(at, at+size, readable|writable)
		if kind := m.mem.write(at, m.Input); kind != 0 {
			return m.refuse(kind, fmt.Sprintf("%d bytes of input", n))
		}
		m.mem.setRights(at, at+size, readable)
		m.inputAt = at
	}
	t.x[a0], t.x[a1] = m.inputAt, n
	return true
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
