package guest

import (
	"encoding/binary"
	"slices"
)

// System is the number of the call that ends a program, in register a7.
type System uint32

// The systems. SP1 has its number in t0, which is zero behind a loop and so halts it after either.
const (
	Linux System = 93
	ZKVM  System = 0 // RISC Zero's, of a kernel
)

// Where programs have their code and data: addresses that every machine gives to its users.
const (
	codeAt  = 0x78100000
	dataAt  = 0x78200000
	headers = 0xb0 // bytes before the code, of the file and of its page
)

// Program is a loop as an executable.
type Program struct {
	Loop
	XLEN         int // bits of a register: 32 or 64
	System       System
	Instructions uint32 // that it retires, the call at its end included
}

// turns is how often the loop runs, and how many instructions that do nothing are before it.
func (p *Program) turns() (n, nops uint32) {
	const counter, ends, tail = 2, 2, 3
	rest, each := p.Instructions-uint32(len(p.start))-counter-tail, uint32(len(p.body))+ends
	return rest / each, rest % each
}

// Exit is the program's exit code, seven bits of its sum.
func (p *Program) Exit() int {
	n, _ := p.turns()
	if p.XLEN == 32 {
		return int(p.sum32(n) & 127)
	}
	return int(p.sum64(n) & 127)
}

// code are the instructions.
func (p *Program) code() []uint32 {
	n, nops := p.turns()
	body := append(slices.Clone(p.body), addi(t0, t0, -1))
	return slices.Concat(
		p.start, set(t0, n), slices.Repeat([]uint32{addi(0, 0, 0)}, int(nops)),
		body, []uint32{bnez(t0, -4*int32(len(body)))},
		[]uint32{addi(a7, 0, int32(p.System)), andi(a0, s, 127), ecall},
	)
}

// ELF is the executable: a segment of code, and one of data, which are zero.
func (p *Program) ELF() []byte {
	header, each := 64, 56
	if p.XLEN == 32 {
		header, each = 52, 32
	}
	le := binary.LittleEndian
	raw := append([]byte{0x7f, 'E', 'L', 'F', byte(p.XLEN / 32), 1, 1}, make([]byte, 9)...)
	half := func(values ...int) {
		for _, v := range values {
			raw = le.AppendUint16(raw, uint16(v))
		}
	}
	word := func(values ...uint32) {
		for _, v := range values {
			raw = le.AppendUint32(raw, v)
		}
	}
	long := func(values ...int) {
		for _, v := range values {
			if p.XLEN == 32 {
				raw = le.AppendUint32(raw, uint32(v))
			} else {
				raw = le.AppendUint64(raw, uint64(v))
			}
		}
	}
	segment := func(flags uint32, offset, at, file, memory int) {
		word(1) // PT_LOAD
		if p.XLEN == 64 {
			word(flags)
		}
		long(offset, at, at, file, memory)
		if p.XLEN == 32 {
			word(flags)
		}
		long(1 << 12)
	}
	code := p.code()
	size := 4 * len(code)
	half(2, 243) // ET_EXEC, EM_RISCV
	word(1)
	long(codeAt+headers, header, 0)
	word(0) // no compressed code, no registers of floating point
	half(header, each, 2, 0, 0, 0)
	segment(4|1, headers, codeAt+headers, size, size)
	segment(4|2, 0, dataAt, 0, 4*(words+ahead))
	raw = append(raw, make([]byte, headers-len(raw))...)
	word(code...)
	return raw
}
