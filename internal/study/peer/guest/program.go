package guest

import (
	"slices"

	"github.com/zkbench/zkbench/internal/study/rv"
)

// System is the number of the system call that ends a program. The program puts it into register a7.
type System uint32

// The values of System. SP1 reads the number of a system call from register t0, which is 0 after a loop; for SP1, 0
// means halt. SP1 can therefore run programs made with either value.
const (
	Linux System = 93
	ZKVM  System = 0 // RISC Zero, where the program is a kernel
)

// Addresses of code and data, which all the machines give to user programs.
const (
	codeAt = 0x781000b0 // not at the start of a page: the file's headers come before the code
	dataAt = 0x78200000
)

// Program is an executable that runs a loop.
type Program struct {
	Loop
	XLEN         int // bits of a register: 32 or 64
	System       System
	Instructions uint32 // number of instructions that the program retires, including the call at its end
}

// turns returns the number of turns of the loop, and the number of nops before it.
func (p *Program) turns() (n, nops uint32) {
	const counter, ends, tail = 2, 2, 3
	rest, each := p.Instructions-uint32(len(p.start))-counter-tail, uint32(len(p.body))+ends
	return rest / each, rest % each
}

// Exit returns the exit code of the program: the low seven bits of its sum.
func (p *Program) Exit() int {
	n, _ := p.turns()
	if p.XLEN == 32 {
		return int(p.sum32(n) & 127)
	}
	return int(p.sum64(n) & 127)
}

// code returns the instructions of the program.
func (p *Program) code() []uint32 {
	n, nops := p.turns()
	body := append(slices.Clone(p.body), rv.Addi(t0, t0, -1))
	return slices.Concat(
		p.start, set(t0, n), slices.Repeat([]uint32{rv.Nop}, int(nops)),
		body, []uint32{rv.B(1, t0, 0, -4*int32(len(body)))},
		[]uint32{rv.Addi(a7, 0, int32(p.System)), andi(a0, s, 127), rv.Ecall},
	)
}

// ELF returns the program as an ELF executable. It has a segment with the code, and a segment with data, which are all
// zeros.
func (p *Program) ELF() []byte {
	return rv.ELF(p.XLEN, codeAt,
		rv.Segment{At: codeAt, Flags: 4 | 1, Data: rv.Text(p.code()...)},
		rv.Segment{At: dataAt, Flags: 4 | 2, Memory: 4 * (words + ahead)})
}
