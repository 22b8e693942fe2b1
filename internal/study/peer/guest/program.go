package guest

import (
	"slices"

	"github.com/zkbench/zkbench/internal/study/rv"
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
	codeAt = 0x781000b0 // behind what a file has before its code
	dataAt = 0x78200000
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
	body := append(slices.Clone(p.body), rv.Addi(t0, t0, -1))
	return slices.Concat(
		p.start, set(t0, n), slices.Repeat([]uint32{rv.Nop}, int(nops)),
		body, []uint32{rv.B(1, t0, 0, -4*int32(len(body)))},
		[]uint32{rv.Addi(a7, 0, int32(p.System)), andi(a0, s, 127), rv.Ecall},
	)
}

// ELF is the executable: a segment of code, and one of data, which are zero.
func (p *Program) ELF() []byte {
	return rv.ELF(p.XLEN, codeAt,
		rv.Segment{At: codeAt, Flags: 4 | 1, Data: rv.Text(p.code()...)},
		rv.Segment{At: dataAt, Flags: 4 | 2, Memory: 4 * (words + ahead)})
}
