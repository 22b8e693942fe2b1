package zkvm

import (
	"cmp"
	"encoding/binary"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/riscv"
)

// Program is a program whose runs are proved: an executable for RV64IM without an operating system.
type Program struct {
	guest        *riscv.Program
	instructions []decoded
	index        map[uint64]int // of the instruction at an address
	constants    []fixedWord    // by address
	data         []fixedWord    // by address
	regions      []region       // by address
}

// mostRegions is the number of regions that a program can have.
const mostRegions = 64

// mostCells is the number of cells that a program can have rows for from the beginning: those that cannot be written, and data.
const mostCells = 1 << 20

// Load parses a statically linked ELF executable for RV64IM, as riscv/c makes it. Compressed instructions are accepted too.
// An instruction that is not of the set has no proof, and so a program may contain it where it does not execute it. Load
// returns the error of riscv.Load, and zkbench.ErrParams if the executable has segments that are not aligned to 8 bytes, not below
// address 2^46, can be written and not read, or have more than 2^35 bytes without data. It returns a *zkbench.LimitError if
// segments have more than 2^23 bytes, without those that are zero at first and can be written.
func Load(elf []byte) (*Program, error) {
	guest, err := riscv.Load(elf, riscv.RV64IM())
	if err != nil {
		guest, err = riscv.Load(elf, riscv.RV64IMC()) // it may have compressed instructions
	}
	if err != nil {
		return nil, err
	}
	for i, s := range guest.Segments() {
		if s.Start%8 != 0 || s.End%8 != 0 || s.End > riscv.InputAddress {
			return nil, fmt.Errorf("%w: segment %d from %#x to %#x, accepted are multiples of 8 up to %#x", zkbench.ErrParams, i, s.Start, s.End, uint64(riscv.InputAddress))
		}
		// A row of a list cannot pass over more cells than that.
		if n := (s.End - s.Start - uint64(len(s.Data))) / 8; n > mostRegion {
			return nil, fmt.Errorf("%w: segment %d has %d cells that are zero at first, accepted are %d", zkbench.ErrParams, i, n, uint64(mostRegion))
		}
		if s.Writable && !s.Readable { // the tables have one space for what can be read and written
			return nil, fmt.Errorf("%w: segment %d from %#x to %#x can be written and not read, accepted is both", zkbench.ErrParams, i, s.Start, s.End)
		}
	}
	p, err := newProgram(guest)
	if err == nil && len(p.regions) > mostRegions {
		err = fmt.Errorf("%w: %d segments with memory that is zero at first, accepted are %d", zkbench.ErrParams, len(p.regions), mostRegions)
	}
	return p, err
}

// newProgram returns the tables of a program, which need not be one that has proofs.
func newProgram(guest *riscv.Program) (*Program, error) {
	p := &Program{guest: guest, index: make(map[uint64]int)}
	segments, cells := guest.Segments(), uint64(0)
	for _, s := range segments {
		cells += placed(s)
	}
	if cells > mostCells {
		return nil, &zkbench.LimitError{What: "cells of segments, without those that are zero at first and can be written", Estimate: int64(cells), Max: mostCells}
	}
	for _, s := range segments {
		p.place(s)
	}
	all := guest.Instructions()
	for i, in := range all {
		p.index[in.Address] = i + 1
	}
	entry, ok := p.index[guest.Entry]
	if !ok {
		return nil, fmt.Errorf("%w: no instruction at the entry %#x", zkbench.ErrParams, guest.Entry)
	}
	// The first instruction jumps to the entry, which so is part of the program's digest.
	p.instructions = append(p.instructions, decoded{address: noAddress, op: codeEqual, z: uint64(entry)})
	for _, in := range all {
		p.instructions = append(p.instructions, p.decode(len(p.instructions), in))
	}
	return p, nil
}

// placed returns the number of a segment's cells that have a row from the beginning: all, or those of its data if the others are
// zero at first.
func placed(s riscv.Segment) uint64 {
	if s.Writable {
		return (uint64(len(s.Data)) + 7) / 8
	}
	return (s.End - s.Start) / 8
}

// place adds the cells of a segment.
func (p *Program) place(s riscv.Segment) {
	cells := placed(s)
	content := append(s.Data, make([]byte, -len(s.Data)&(wordBytes-1))...)
	var all []fixedWord
	for i := range int(cells) {
		w := fixedWord{address: s.Start/8 + uint64(i)}
		if 8*i < len(content) {
			w.value = binary.LittleEndian.Uint64(content[8*i:])
		}
		all = append(all, w)
	}
	if !s.Writable {
		if s.Readable {
			p.constants = append(p.constants, all...)
		}
		return
	}
	p.data = append(p.data, all...)
	if start := s.Start/8 + cells; start < s.End/8 {
		p.regions = append(p.regions, region{start, s.End / 8})
	}
}

// decode returns instruction i as the program's table holds it. An instruction that the machine does not prove has operation
// 0. So does a branch to an address without an instruction: its target has no row.
func (p *Program) decode(i int, in riscv.Instruction) decoded {
	o, ok := operations[in.Op]
	if !ok {
		return decoded{address: in.Address, other: cmp.Or(in.Op, "illegal")}
	}
	d := decoded{address: in.Address, op: o.op, rd: uint64(in.Rd), rs1: uint64(in.Rs1), rs2: uint64(in.Rs2)}
	constant := func(v uint64) { d.rs2, d.constant = firstConstant+uint64(i), v }
	switch o.operands {
	case withConstant:
		constant(uint64(in.Imm))
	case withNothing:
		return decoded{address: in.Address, op: o.op}
	case withoutOperands:
		return decoded{address: in.Address, op: o.op, z: uint64(i) + 1}
	case withAmount:
		way, _, power := rv64.shifted(o.kind, int(in.Imm))
		d.op, d.z = o.op+uint64(way), power
	case withTarget:
		d.rd, d.z = 0, p.target(in)
	case withLink:
		if d.rd == sink { // nothing is written: a branch that is always taken
			return decoded{address: in.Address, op: codeEqual, z: p.target(in)}
		}
		d.z, d.constant = p.target(in), in.Address+uint64(in.Size)
	case withRegisterLink:
		d.z, d.constant = element(in.Imm), in.Address+uint64(in.Size)
	case withOffset:
		if o.op&codeStore != 0 {
			d.rd = d.rs2
		}
		d.rs2, d.z = 0, element(in.Imm)
	}
	return d
}

// nowhere is the index of no instruction.
const nowhere = 1 << 40

// target returns the index of the target of a branch.
func (p *Program) target(in riscv.Instruction) uint64 {
	if i, ok := p.index[uint64(in.Imm)]; ok {
		return uint64(i)
	}
	return nowhere
}

// element returns a number as an element of the field.
func element(v int64) uint64 {
	if v < 0 {
		return goldilocks.Modulus - uint64(-v)
	}
	return uint64(v)
}

// operands says what the program has of an instruction's operands.
type operands uint8

const (
	withRegisters    operands = iota // two registers
	withConstant                     // a register and a constant
	withNothing                      // a call, which has its own registers
	withoutOperands                  // does nothing: a branch that is always taken, to the instruction behind it
	withAmount                       // a shift by an amount, whose power of two is z
	withTarget                       // a branch, whose target is z
	withLink                         // jal, whose target is z
	withRegisterLink                 // jalr, which adds z to a register
	withOffset                       // a load or store, which adds z to a register
)

// operation is what the tables call an instruction.
type operation struct {
	op       uint64
	operands operands
	kind     int // of a shift
}

// operations has the instructions that are proved, by their names in package riscv.
var operations = map[string]operation{
	"lui":   {codeSums + codeImmediate, withConstant, 0},
	"addi":  {codeSums + codeImmediate, withConstant, 0},
	"addiw": {codeSums + codeImmediate + codeNarrow, withConstant, 0},
	"add":   {op: codeSums},
	"addw":  {op: codeSums + codeNarrow},
	"sub":   {op: codeSums + codeSub},
	"subw":  {op: codeSums + codeSub + codeNarrow},

	"and":  {op: codeAnd},
	"or":   {op: codeOr},
	"xor":  {op: codeXor},
	"andi": {codeAnd + codeImmediate, withConstant, 0},
	"ori":  {codeOr + codeImmediate, withConstant, 0},
	"xori": {codeXor + codeImmediate, withConstant, 0},

	"slli":  {codeShift, withAmount, kindSll},
	"srli":  {codeShift, withAmount, kindSrl},
	"slliw": {codeShift, withAmount, kindSllw},
	"srliw": {codeShift, withAmount, kindSrlw},
	"srai":  {codeShiftBy + 2*kindSra + codeImmediate, withConstant, 0},
	"sraiw": {codeShiftBy + 2*kindSraw + codeImmediate, withConstant, 0},
	"sll":   {op: codeShiftBy + 2*kindSll},
	"srl":   {op: codeShiftBy + 2*kindSrl},
	"sra":   {op: codeShiftBy + 2*kindSra},
	"sllw":  {op: codeShiftBy + 2*kindSllw},
	"srlw":  {op: codeShiftBy + 2*kindSrlw},
	"sraw":  {op: codeShiftBy + 2*kindSraw},

	"mul":    {op: codeProduct},
	"mulw":   {op: codeProduct + codeNarrow},
	"mulhu":  {op: codeProduct + codeHigh},
	"mulhsu": {op: codeProduct + codeHigh + codeSignedLeft},
	"mulh":   {op: codeProduct + codeHigh + codeSignedLeft + codeSignedRight},
	"div":    {op: codeDivision + codeSigned},
	"divu":   {op: codeDivision},
	"rem":    {op: codeDivision + codeSigned + codeRemainder},
	"remu":   {op: codeDivision + codeRemainder},
	"divw":   {op: codeDivision + codeNarrow + codeSigned},
	"divuw":  {op: codeDivision + codeNarrow},
	"remw":   {op: codeDivision + codeNarrow + codeSigned + codeRemainder},
	"remuw":  {op: codeDivision + codeNarrow + codeRemainder},

	"slt":   {op: codeSet + codeSigned},
	"sltu":  {op: codeSet},
	"slti":  {codeSet + codeSigned + codeImmediate, withConstant, 0},
	"sltiu": {codeSet + codeImmediate, withConstant, 0},
	"blt":   {codeLess + codeSigned, withTarget, 0},
	"bltu":  {codeLess, withTarget, 0},
	"bge":   {codeNotLess + codeSigned, withTarget, 0},
	"bgeu":  {codeNotLess, withTarget, 0},
	"fence": {codeEqual, withoutOperands, 0},
	"beq":   {codeEqual, withTarget, 0},
	"bne":   {codeEqual + codeBne, withTarget, 0},
	"jal":   {codeJump, withLink, 0},
	"jalr":  {codeJump + codeJalr, withRegisterLink, 0},
	"ecall": {codeCall, withNothing, 0},

	"ld":  {codeWords + codeLoad, withOffset, 0},
	"lw":  {codeWords + codeLoad + codeSmall + codeSign, withOffset, 0},
	"lwu": {codeWords + codeLoad + codeSmall, withOffset, 0},
	"sd":  {codeWords + codeStore, withOffset, 0},
	"sw":  {codeWords + codeStore + codeSmall, withOffset, 0},
	"lh":  {codeNarrowWords + codeLoad + codeSign, withOffset, 0},
	"lhu": {codeNarrowWords + codeLoad, withOffset, 0},
	"lb":  {codeNarrowWords + codeLoad + codeSmall + codeSign, withOffset, 0},
	"lbu": {codeNarrowWords + codeLoad + codeSmall, withOffset, 0},
	"sh":  {codeNarrowWords + codeStore, withOffset, 0},
	"sb":  {codeNarrowWords + codeStore + codeSmall, withOffset, 0},
}

// signed is the inverse of element.
func signed(e uint64) int64 {
	if e > goldilocks.Modulus/2 {
		return -int64(goldilocks.Modulus - e)
	}
	return int64(e)
}
