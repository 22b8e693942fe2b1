package riscv

import "fmt"

// noReservation is not the address of a word.
const noReservation = ^uint64(0)

// atomic executes the instructions of extension A. One thread runs at a time, so a load and a store are one
// step. A reservation ends when another thread may run.
func (m *machine) atomic(h *hart, in *instr) bool {
	double := (in.op-opLrW)&1 == 1
	size := 4
	if double {
		size = 8
	}
	addr := h.x[in.rs1]
	if addr%uint64(size) != 0 {
		return m.refuse(Misaligned, fmt.Sprintf("atomic, %d bytes at %#x", size, addr))
	}
	b := h.x[in.rs2]
	switch in.op {
	case opScW, opScD:
		reserved := m.reserved
		m.reserved = noReservation // whether it succeeds or not
		if reserved != addr {
			h.x[in.rd] = 1
			return true
		}
		if !m.store(addr, b, size) {
			return false
		}
		h.x[in.rd] = 0
		return true
	}
	a, ok := m.load(addr, size)
	if !ok {
		return false
	}
	if !double {
		a, b = word(uint32(a)), word(uint32(b))
	}
	var v uint64
	switch in.op {
	case opLrW, opLrD:
		m.reserved = addr
		h.x[in.rd] = a
		return true
	case opSwapW, opSwapD:
		v = b
	case opAmoAddW, opAmoAddD:
		v = a + b
	case opAmoXorW, opAmoXorD:
		v = a ^ b
	case opAmoAndW, opAmoAndD:
		v = a & b
	case opAmoOrW, opAmoOrD:
		v = a | b
	case opAmoMinW, opAmoMinD:
		v = uint64(min(int64(a), int64(b)))
	case opAmoMaxW, opAmoMaxD:
		v = uint64(max(int64(a), int64(b)))
	case opAmoMinuW, opAmoMinuD: // sign extension keeps the order of words
		v = min(a, b)
	case opAmoMaxuW, opAmoMaxuD:
		v = max(a, b)
	}
	if !m.store(addr, v, size) {
		return false
	}
	h.x[in.rd] = a
	return true
}
