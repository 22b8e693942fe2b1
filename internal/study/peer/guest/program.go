package guest

import (
	"crypto/sha256"
	"encoding/binary"
	"slices"

	"github.com/zkbench/zkbench/internal/study/rv"
)

// System says how a program ends.
type System int

// The values of System. SP1 reads the number of a call from register t0, which is 0 after a loop; for SP1, 0 means halt.
// SP1's executor can therefore run programs made for any system. Its verifier accepts only those that commit to
// something before they halt, and that halt with code 0.
const (
	Linux System = iota // call 93 in register a7, which package zkvm has too
	ZKVM                // call 0 in register a7: RISC Zero, where the program is a kernel
	SP1                 // commitments to an output without bytes, and call 0 in register t0
)

// Addresses of code and data, which all the machines give to user programs.
const (
	codeAt = 0x781000b0 // not at the start of a page: the file's headers come before the code
	dataAt = 0x78200000
)

// Program is an executable that runs a loop.
type Program struct {
	Loop
	XLEN         int // bits of a register: 32 or 64; 64 for SP1
	System       System
	Instructions uint32 // number of instructions that the program retires, including the call at its end
}

// turns returns the number of turns of the loop, and the number of nops before it.
func (p *Program) turns() (n, nops uint32) {
	const counter, ends = 2, 2
	rest, each := p.Instructions-uint32(len(p.start))-counter-uint32(len(p.System.ending(0))), uint32(len(p.body))+ends
	return rest / each, rest % each
}

// For returns the program that does the same turns and ends as another system needs.
func (p Program) For(system System) Program {
	p.Instructions += uint32(len(system.ending(0)) - len(p.System.ending(0)))
	p.System = system
	return p
}

// Exit returns the exit code of the program: the low seven bits of its sum. For SP1 it is 0, and a program whose
// sum has other bits would end with another code.
func (p *Program) Exit() int {
	if p.System == SP1 {
		return 0
	}
	return p.sum()
}

// sum returns the low seven bits of the sum.
func (p *Program) sum() int {
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
		p.System.ending(p.sum()),
	)
}

// ending returns the instructions behind the loop, of a program whose sum has these low seven bits. There are as many for
// every sum.
func (system System) ending(sum int) (code []uint32) {
	switch system {
	case ZKVM:
		return []uint32{rv.Addi(a7, 0, 0), andi(a0, s, 127), rv.Ecall}
	case SP1:
		return endForSP1(sum)
	}
	return []uint32{rv.Addi(a7, 0, 93), andi(a0, s, 127), rv.Ecall}
}

// endForSP1 returns what ends a program for SP1's prover, as SP1's runtime does (crate sp1-zkvm, function
// syscall_halt). A call has its number in t0 and its arguments in a0 and a1. The program commits to the eight words of
// the output's SHA-256, then to eight words about proofs that it verifies, which are 0 where it verifies none, and halts.
func endForSP1(sum int) (code []uint32) {
	const halt, commit, deferred = 0x00, 0x10, 0x1a
	output := sha256.Sum256(nil)
	for i := range int32(len(output) / 4) {
		word := binary.LittleEndian.Uint32(output[4*i:])
		code = append(code, rv.Addi(t0, 0, commit), rv.Addi(a0, 0, i))
		code = append(code, set(a1, word)...)
		code = append(code, slli(a1, a1, 32), srli(a1, a1, 32), rv.Ecall) // the upper half of the register must be 0
	}
	code = append(code, rv.Addi(a1, 0, 0))
	for i := range int32(len(output) / 4) {
		code = append(code, rv.Addi(t0, 0, deferred), rv.Addi(a0, 0, i), rv.Ecall)
	}
	return append(code, rv.Addi(t0, 0, halt), andi(a0, s, 127), xori(a0, a0, int32(sum)), rv.Ecall)
}

// ELF returns the program as an ELF executable. It has a segment with the code, and a segment with data, which are all
// zeros.
func (p *Program) ELF() []byte {
	return rv.ELF(p.XLEN, codeAt,
		rv.Segment{At: codeAt, Flags: 4 | 1, Data: rv.Text(p.code()...)},
		rv.Segment{At: dataAt, Flags: 4 | 2, Memory: 4 * (words + ahead)})
}
