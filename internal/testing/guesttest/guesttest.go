// Package guesttest writes random programs for RISC-V, which end and whose results are their data.
package guesttest

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/zkbench/zkbench/internal/study/rv"
	"github.com/zkbench/zkbench/riscv/call"
)

// Registers of random programs. base holds the address of their data and does not change. pointer holds the address of
// an atomic access. Results are stored at the address in log.
const (
	base    = 31
	pointer = 30
	log     = 29
)

// A Program is the instructions of a random program, which its methods write.
type Program struct {
	*rand.Rand
	Text []byte
}

func (p *Program) Put(w uint32)             { p.Text = binary.LittleEndian.AppendUint32(p.Text, w) }
func (p *Program) Small(n int) uint32       { return uint32(p.IntN(n)) }
func (p *Program) Source() uint32           { return p.Small(32) }
func (p *Program) Pick(of ...uint32) uint32 { return of[p.IntN(len(of))] }

// result returns a register that may be written.
func (p *Program) result() uint32 { return p.Small(log) }

// integer adds an integer instruction that writes to register rd, and stores the result.
func (p *Program) integer(w uint32) {
	p.Put(w)
	p.keep(rv.S(rv.OpStore, 3, log, w>>7&31, 0))
}

// float adds a floating-point instruction that writes to register rd, and stores the result.
func (p *Program) float(w uint32) {
	p.Put(w)
	p.keep(rv.S(rv.OpStoreFP, 3, log, w>>7&31, 0))
	p.flags()
}

// flags adds an instruction that reads the floating-point flags. It may also write them: set some, clear
// some, or copy them from a register.
func (p *Program) flags() {
	const flags = 1
	rd := p.result()
	p.integer(rv.R(rv.OpSystem, p.Pick(1, 5, 5, 5, 6, 7, 2, 3), 0, rd, p.Source(), flags))
}

func (p *Program) keep(store uint32) {
	p.Put(store)
	p.Put(rv.Addi(log, log, 8))
}

// operands loads random numbers of the data into floating-point registers.
func (p *Program) operands(format uint32, registers ...uint32) {
	for _, r := range registers {
		p.Put(rv.I(rv.OpLoadFP, 2+format, r, base, int32(p.IntN(dataWords/2)*8)))
	}
}

// Kinds of random instructions.
const (
	ofRegisters = iota
	ofWords
	multiplication
	immediate
	shift
	access
	atomic
	branch
	arithmetic // of floating point, as the two that follow
	comparison
	conversion
	compressed
	kinds
)

// one adds random instructions of one kind.
func (p *Program) one(kind int) {
	rd, a, b, c := p.result(), p.Source(), p.Source(), p.Source()
	switch kind {
	case ofRegisters:
		p.integer(rv.R(rv.OpReg, p.Small(8), 0, rd, a, b))
		p.integer(rv.R(rv.OpReg, p.Pick(0, 5), 0x20, rd, a, b))
	case ofWords:
		p.integer(rv.R(rv.OpReg32, p.Pick(0, 1, 5), 0, rd, a, b))
		p.integer(rv.R(rv.OpReg32, p.Pick(0, 5), 0x20, rd, a, b))
	case multiplication:
		p.integer(rv.R(rv.OpReg, p.Small(8), 1, rd, a, b))
		p.integer(rv.R(rv.OpReg32, p.Pick(0, 4, 5, 6, 7), 1, rd, a, b))
	case immediate:
		p.integer(rv.I(rv.OpImm, p.Pick(0, 2, 3, 4, 6, 7), rd, a, int32(p.IntN(4096))-2048))
		p.integer(rv.I(rv.OpImm32, 0, rd, a, int32(p.IntN(4096))-2048))
		p.integer(p.Uint32()&^0xfff | rd<<7 | p.Pick(0x37, 0x17))
	case shift:
		p.integer(rv.I(rv.OpImm, p.Pick(1, 5), rd, a, int32(p.IntN(64))))
		p.integer(rv.I(rv.OpImm, 5, rd, a, int32(p.IntN(64))|0x400))
		p.integer(rv.I(rv.OpImm32, p.Pick(1, 5), rd, a, int32(p.IntN(32))))
		p.integer(rv.I(rv.OpImm32, 5, rd, a, int32(p.IntN(32))|0x400))
	case access: // aligned or not
		offset := int32(p.IntN(2040))
		if p.IntN(2) == 0 {
			offset &^= 7
		}
		p.integer(rv.I(rv.OpLoad, p.Small(7), rd, base, offset))
		p.Put(rv.S(rv.OpStore, p.Small(4), base, b, int32(p.IntN(2040))))
		p.float(rv.I(rv.OpLoadFP, p.Pick(2, 3), a, base, offset))
		p.Put(rv.S(rv.OpStoreFP, p.Pick(2, 3), base, b, int32(p.IntN(2040))))
	case atomic:
		p.Put(rv.Addi(pointer, base, int32(p.IntN(255)*8)))
		f3, f5 := p.Pick(2, 3), p.Pick(1, 0, 4, 12, 8, 16, 20, 24, 28)
		p.integer(rv.R(rv.OpAmo, f3, f5<<2|p.Small(4), rd, pointer, b))
		if p.IntN(4) == 0 {
			p.Put(rv.R(rv.OpAmo, f3, 2<<2, rd, pointer, 0))
			p.integer(rv.R(rv.OpAmo, f3, 3<<2, p.result(), pointer, b))
		}
	case branch: // over one instruction, or not
		p.Put(rv.B(p.Pick(0, 1, 4, 5, 6, 7), a, b, 8))
		p.integer(rv.Addi(rd, rd, 1))
	case arithmetic:
		format := p.Small(2)
		p.operands(format, a, b, c)
		p.float(rv.R(rv.OpFP, p.Pick(0, 7), p.Small(4)<<2|format, p.Source(), a, b))
		p.float(rv.R(rv.OpFP, 0, 0x0b<<2|format, p.Source(), a, 0))
		p.operands(format, a, b, c)
		p.float(rv.R(rv.OpFP, p.Small(3), 0x04<<2|format, p.Source(), a, b))
		p.float(rv.R(rv.OpFP, p.Small(2), 0x05<<2|format, p.Source(), a, b))
		p.operands(format, a, b, c)
		p.float(c<<27 | format<<25 | b<<20 | a<<15 | p.Source()<<7 | rv.OpMadd | p.Small(4)<<2)
	case comparison: // and moves
		format := p.Small(2)
		p.operands(format, a, b)
		p.integer(rv.R(rv.OpFP, p.Small(3), 0x14<<2|format, rd, a, b))
		p.flags()
		p.integer(rv.R(rv.OpFP, p.Small(2), 0x1c<<2|format, rd, a, 0))
		p.float(rv.R(rv.OpFP, 0, 0x1e<<2|format, p.Source(), a, 0))
	case conversion:
		format := p.Small(2)
		p.operands(format, a)
		p.integer(rv.R(rv.OpFP, p.Small(5), 0x18<<2|format, rd, a, p.Small(4)))
		p.flags()
		p.float(rv.R(rv.OpFP, p.Small(5), 0x1a<<2|format, p.Source(), a, p.Small(4)))
		p.operands(1-format, a)
		p.float(rv.R(rv.OpFP, 0, 0x08<<2|format, p.Source(), a, 1-format))
	case compressed: // two at a time, so that the others stay at multiples of four
		for range 2 {
			p.Text = binary.LittleEndian.AppendUint16(p.Text, p.half())
		}
		p.Put(rv.S(rv.OpStore, 3, log, p.Source(), 0))
	}
}

// aligned adds a load and a store of any sizes, which are aligned.
func (p *Program) aligned() {
	load, store := p.Small(7), p.Small(4)
	at := func(size uint32) int32 { return int32(p.IntN(2040)) &^ (1<<(size&3) - 1) }
	p.integer(rv.I(rv.OpLoad, load, p.result(), base, at(load)))
	p.Put(rv.S(rv.OpStore, store, base, p.Source(), at(store)))
}

// jumps adds a fence, and jumps over a word that is no instruction: one by an offset, and one to an address that may be odd.
func (p *Program) jumps() {
	const fence, none, auipc = 0x0330000f, 0, 0x17
	rd, at := p.result(), 1+p.Small(log-1)
	kept := rv.S(rv.OpStore, 3, log, rd, 0)
	p.Put(fence)
	p.Put(rv.Jal(rd, 8))
	p.Put(none)
	p.keep(kept)
	p.Put(auipc | at<<7)
	p.Put(rv.I(rv.OpJalr, 0, rd, at, 12+int32(p.IntN(2))))
	p.Put(none)
	p.keep(kept)
}

// half returns a random arithmetic instruction of 16 bits.
func (p *Program) half() uint16 {
	any6 := uint16(p.Small(2)<<12 | p.Small(32)<<2)
	rd, low := uint16(1+p.Small(log-1))<<7, uint16(p.Small(8))<<7
	switch p.IntN(9) {
	case 0:
		return 1 | any6 | rd // c.addi
	case 1:
		return 1 | 1<<13 | any6 | rd // c.addiw
	case 2:
		return 1 | 2<<13 | any6 | rd // c.li
	case 3: // c.lui, of a register that is not the stack's
		return 1 | 3<<13 | any6 | 1<<2 | uint16(5+p.Small(20))<<7
	case 4: // c.srli, c.srai, c.andi
		return 1 | 4<<13 | any6 | uint16(p.Small(3))<<10 | low
	case 5: // of two registers
		return 1 | 4<<13 | 3<<10 | low | uint16(p.Small(4))<<5 | uint16(p.Small(8))<<2
	case 6: // c.subw, c.addw
		return 1 | 4<<13 | 1<<12 | 3<<10 | low | uint16(p.Small(2))<<5 | uint16(p.Small(8))<<2
	case 7:
		return 2 | any6 | rd // c.slli
	}
	return 2 | 4<<13 | uint16(p.Small(2))<<12 | rd | uint16(1+p.Small(31))<<2 // c.mv, c.add
}

// The addresses of a random program.
const (
	codeAt = 0x10000
	dataAt = 0x200000
)

// The data of a random program: numbers, its registers at the end, and stored results.
const (
	dataWords   = 512
	RegistersAt = 8 * dataWords
	KeptAt      = RegistersAt + 64*8
	dataSize    = 1 << 16
)

// Linux returns an executable that fills its registers from its data, executes n random instructions, and
// prints its data with the registers.
func Linux(seed uint64, n int) []byte {
	p := begin(seed)
	for r := range uint32(32) {
		p.Put(rv.I(rv.OpLoadFP, 3, r, base, int32(256+8*r)))
	}
	for range n {
		p.one(p.IntN(kinds))
	}
	p.end()
	for r := range uint32(32) {
		p.Put(rv.S(rv.OpStoreFP, 3, pointer, r, int32(256+8*r)))
	}
	p.Put(rv.Addi(10, 0, 1))
	p.Put(rv.Addi(11, base, 0))
	p.Put(rv.Lui(12, dataSize))
	for _, call := range []int32{64, 93} { // write, exit
		p.Put(rv.Addi(17, 0, call))
		p.Put(rv.Ecall)
		p.Put(rv.Addi(10, 0, 0))
	}
	return p.elf(make([]byte, dataSize))
}

// Bare returns an executable for RV64IMC without an operating system. It also executes n random instructions, of which none is
// atomic, of floating point or misaligned, and commits to its registers.
func Bare(seed uint64, n int) []byte {
	p := begin(seed)
	for range n {
		switch kind := int(p.Pick(ofRegisters, ofWords, multiplication, immediate, shift, access, branch, compressed, kinds)); kind {
		case access:
			p.aligned()
		case kinds:
			p.jumps()
		default:
			p.one(kind)
		}
	}
	p.end()
	p.Put(rv.Addi(10, pointer, 0))
	p.Put(rv.Addi(11, 0, 8*32))
	p.Put(rv.Lui(17, call.Commit))
	p.Put(rv.Addi(17, 17, call.Commit&0xfff))
	p.Put(rv.Ecall)
	p.Put(rv.Addi(17, 0, 93)) // exit, with the commit's result
	p.Put(rv.Ecall)
	raw := p.elf(make([]byte, KeptAt))
	const flags, hasCompressed = 48, 1 // e_flags of the ELF header, and EF_RISCV_RVC
	raw[flags] = hasCompressed
	return raw
}

// begin returns a program that has filled its registers from its data.
func begin(seed uint64) *Program {
	p := &Program{Rand: rand.New(rand.NewPCG(seed, 1))}
	p.Put(rv.Lui(base, dataAt))
	for r := uint32(1); r < base; r++ {
		p.Put(rv.I(rv.OpLoad, 3, r, base, int32(8*r)))
	}
	p.Put(rv.Lui(log, 1<<12))
	p.Put(rv.R(rv.OpReg, 0, 0, log, log, base))
	p.Put(rv.Addi(log, log, KeptAt-RegistersAt))
	return p
}

// end stores the registers in the data.
func (p *Program) end() {
	p.Put(rv.Lui(pointer, 1<<12))
	p.Put(rv.R(rv.OpReg, 0, 0, pointer, pointer, base)) // dataAt + RegistersAt
	for r := uint32(1); r < log; r++ {
		p.Put(rv.S(rv.OpStore, 3, pointer, r, int32(8*r)))
	}
}

// elf returns the executable, whose data begin with random numbers. Behind the data, memory is zero.
func (p *Program) elf(data []byte) []byte {
	for i := range dataWords {
		binary.LittleEndian.PutUint64(data[8*i:], p.number())
	}
	return rv.ELF(64, codeAt, rv.Segment{At: codeAt, Flags: 5, Data: p.Text}, rv.Segment{At: dataAt, Flags: 6, Data: data, Memory: dataSize})
}

// Linux32 returns the same kind of executable for RV32IM.
func Linux32(seed uint64, n int) []byte {
	p := &Program{Rand: rand.New(rand.NewPCG(seed, 1))}
	keep := func(w uint32) {
		p.Put(w)
		p.Put(rv.S(rv.OpStore, 2, log, w>>7&31, 0))
		p.Put(rv.Addi(log, log, 4))
	}
	p.Put(rv.Lui(base, dataAt))
	p.Put(rv.Lui(log, 1<<12))
	p.Put(rv.R(rv.OpReg, 0, 0, log, log, base))
	for r := uint32(1); r < log; r++ {
		p.Put(rv.I(rv.OpLoad, 2, r, base, int32(4*r)))
	}
	for range n {
		rd, a, b := p.result(), p.Source(), p.Source()
		switch p.IntN(6) {
		case 0:
			keep(rv.R(rv.OpReg, p.Small(8), 0, rd, a, b))
			keep(rv.R(rv.OpReg, p.Pick(0, 5), 0x20, rd, a, b))
		case 1:
			keep(rv.R(rv.OpReg, p.Small(8), 1, rd, a, b))
		case 2:
			keep(rv.I(rv.OpImm, p.Pick(0, 2, 3, 4, 6, 7), rd, a, int32(p.IntN(4096))-2048))
			keep(p.Uint32()&^0xfff | rd<<7 | p.Pick(0x37, 0x17))
		case 3:
			keep(rv.I(rv.OpImm, p.Pick(1, 5), rd, a, int32(p.IntN(32))))
			keep(rv.I(rv.OpImm, 5, rd, a, int32(p.IntN(32))|0x400))
		case 4:
			keep(rv.I(rv.OpLoad, p.Pick(0, 1, 2, 4, 5), rd, base, int32(p.IntN(2040))))
			p.Put(rv.S(rv.OpStore, p.Small(3), base, b, int32(p.IntN(2040))))
			p.Put(rv.Addi(pointer, base, 2047)) // an address from which a negative offset leads back
			keep(rv.I(rv.OpLoad, 2, rd, pointer, -int32(p.IntN(2040))))
		case 5:
			p.Put(rv.B(p.Pick(0, 1, 4, 5, 6, 7), a, b, 8))
			keep(rv.Addi(rd, rd, 1))
		}
	}
	p.Put(rv.Addi(10, 0, 1))
	p.Put(rv.Addi(11, base, 0))
	p.Put(rv.Lui(12, dataSize))
	for _, call := range []int32{64, 93} {
		p.Put(rv.Addi(17, 0, call))
		p.Put(rv.Ecall)
		p.Put(rv.Addi(10, 0, 0))
	}
	data := make([]byte, dataSize)
	for i := range RegistersAt / 4 {
		binary.LittleEndian.PutUint32(data[4*i:], uint32(p.number()))
	}
	return rv.ELF(32, codeAt, rv.Segment{At: codeAt, Flags: 5, Data: p.Text}, rv.Segment{At: dataAt, Flags: 6, Data: data})
}

// number returns a small number, one at an end of a range, a floating-point number, or any.
func (p *Program) number() uint64 {
	switch v := p.Uint64(); p.IntN(8) {
	case 0:
		return v % 16
	case 1:
		return -(v % 16)
	case 2:
		return 1<<p.IntN(64) - v%2
	case 3:
		return p.double()
	case 4, 5:
		return 0xffffffff<<32 | uint64(p.single())
	default:
		return v
	}
}

// double returns a double-precision number. It is special, or has one of a few exponents, so that sums are
// not trivial.
func (p *Program) double() uint64 {
	if p.IntN(4) == 0 {
		special := []uint64{0, 1 << 63, 0x7ff << 52, 0xfff << 52, 0x7ff8 << 48, 0x7ff4 << 48, 1, 0x000fffffffffffff, 0x43e << 52, 0xc3e << 52, 0x41e << 52, 0x3fe << 52}
		return special[p.IntN(len(special))]
	}
	if p.IntN(3) == 0 { // products and quotients at both ends of the exponents
		return p.Uint64()&(1<<63) | p.fraction(52) | uint64(p.Pick(0, 1, 2, 0x1ff, 0x200, 0x201, 0x5ff, 0x600, 0x7fd, 0x7fe))<<52
	}
	return p.Uint64()&(1<<63) | p.fraction(52) | uint64(0x3e0+p.IntN(0x60))<<52
}

// fraction returns a fraction of the given number of bits. It is random, or has few bits set, so that results
// are exact or next to a midpoint.
func (p *Program) fraction(bits int) uint64 {
	all := uint64(1)<<bits - 1
	switch p.IntN(4) {
	case 0:
		return all &^ (1 << p.IntN(bits))
	case 1:
		return 1<<p.IntN(bits) | p.Uint64()%2
	}
	return p.Uint64() & all
}

func (p *Program) single() uint32 {
	if p.IntN(4) == 0 {
		return []uint32{0, 1 << 31, 0x7f800000, 0xff800000, 0x7fc00000, 0x7fa00000, 1, 0x007fffff, 0x4f000000, 0xcf000000, 0x5f000000, 0x3f000000}[p.IntN(12)]
	}
	if p.IntN(3) == 0 {
		return p.Uint32()&(1<<31) | uint32(p.fraction(23)) | p.Pick(0, 1, 2, 0x3f, 0x40, 0x41, 0xbf, 0xc0, 0xfd, 0xfe)<<23
	}
	return p.Uint32()&(1<<31) | uint32(p.fraction(23)) | uint32(0x60+p.IntN(0x40))<<23
}
