package riscv_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/zkbench/zkbench/internal/study/rv"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/riscv"
)

// Registers of random programs. base holds the address of their data and does not change. pointer holds the address of
// an atomic access. Results are stored at the address in log.
const (
	base    = 31
	pointer = 30
	log     = 29
)

// program writes random programs.
type program struct {
	*rand.Rand
	text []byte
}

func (p *program) put(w uint32)             { p.text = binary.LittleEndian.AppendUint32(p.text, w) }
func (p *program) small(n int) uint32       { return uint32(p.IntN(n)) }
func (p *program) source() uint32           { return p.small(32) }
func (p *program) pick(of ...uint32) uint32 { return of[p.IntN(len(of))] }

// result returns a register that may be written.
func (p *program) result() uint32 { return p.small(log) }

// integer adds an integer instruction that writes to register rd, and stores the result.
func (p *program) integer(w uint32) {
	p.put(w)
	p.keep(rv.S(rv.OpStore, 3, log, w>>7&31, 0))
}

// float adds a floating-point instruction that writes to register rd, and stores the result.
func (p *program) float(w uint32) {
	p.put(w)
	p.keep(rv.S(rv.OpStoreFP, 3, log, w>>7&31, 0))
	p.flags()
}

// flags adds an instruction that reads the floating-point flags. It may also write them: set some, clear
// some, or copy them from a register.
func (p *program) flags() {
	const flags = 1
	rd := p.result()
	p.integer(rv.R(rv.OpSystem, p.pick(1, 5, 5, 5, 6, 7, 2, 3), 0, rd, p.source(), flags))
}

func (p *program) keep(store uint32) {
	p.put(store)
	p.put(rv.Addi(log, log, 8))
}

// operands loads random numbers of the data into floating-point registers.
func (p *program) operands(format uint32, registers ...uint32) {
	for _, r := range registers {
		p.put(rv.I(rv.OpLoadFP, 2+format, r, base, int32(p.IntN(dataWords/2)*8)))
	}
}

// one adds random instructions of one kind.
func (p *program) one() {
	rd, a, b, c := p.result(), p.source(), p.source(), p.source()
	switch p.IntN(12) {
	case 0: // registers
		p.integer(rv.R(rv.OpReg, p.small(8), 0, rd, a, b))
		p.integer(rv.R(rv.OpReg, p.pick(0, 5), 0x20, rd, a, b))
	case 1:
		p.integer(rv.R(rv.OpReg32, p.pick(0, 1, 5), 0, rd, a, b))
		p.integer(rv.R(rv.OpReg32, p.pick(0, 5), 0x20, rd, a, b))
	case 2: // multiplications and divisions
		p.integer(rv.R(rv.OpReg, p.small(8), 1, rd, a, b))
		p.integer(rv.R(rv.OpReg32, p.pick(0, 4, 5, 6, 7), 1, rd, a, b))
	case 3: // immediates
		p.integer(rv.I(rv.OpImm, p.pick(0, 2, 3, 4, 6, 7), rd, a, int32(p.IntN(4096))-2048))
		p.integer(rv.I(rv.OpImm32, 0, rd, a, int32(p.IntN(4096))-2048))
		p.integer(p.Uint32()&^0xfff | rd<<7 | p.pick(0x37, 0x17))
	case 4: // shifts
		p.integer(rv.I(rv.OpImm, p.pick(1, 5), rd, a, int32(p.IntN(64))))
		p.integer(rv.I(rv.OpImm, 5, rd, a, int32(p.IntN(64))|0x400))
		p.integer(rv.I(rv.OpImm32, p.pick(1, 5), rd, a, int32(p.IntN(32))))
		p.integer(rv.I(rv.OpImm32, 5, rd, a, int32(p.IntN(32))|0x400))
	case 5: // loads and stores, aligned or not
		offset := int32(p.IntN(2040))
		if p.IntN(2) == 0 {
			offset &^= 7
		}
		p.integer(rv.I(rv.OpLoad, p.small(7), rd, base, offset))
		p.put(rv.S(rv.OpStore, p.small(4), base, b, int32(p.IntN(2040))))
		p.float(rv.I(rv.OpLoadFP, p.pick(2, 3), a, base, offset))
		p.put(rv.S(rv.OpStoreFP, p.pick(2, 3), base, b, int32(p.IntN(2040))))
	case 6: // atomic
		p.put(rv.Addi(pointer, base, int32(p.IntN(255)*8)))
		f3, f5 := p.pick(2, 3), p.pick(1, 0, 4, 12, 8, 16, 20, 24, 28)
		p.integer(rv.R(rv.OpAmo, f3, f5<<2|p.small(4), rd, pointer, b))
		if p.IntN(4) == 0 {
			p.put(rv.R(rv.OpAmo, f3, 2<<2, rd, pointer, 0))
			p.integer(rv.R(rv.OpAmo, f3, 3<<2, p.result(), pointer, b))
		}
	case 7: // a branch over one instruction, or not
		p.put(rv.B(p.pick(0, 1, 4, 5, 6, 7), a, b, 8))
		p.integer(rv.Addi(rd, rd, 1))
	case 8: // of floating point, arithmetic
		format := p.small(2)
		p.operands(format, a, b, c)
		p.float(rv.R(rv.OpFP, p.pick(0, 7), p.small(4)<<2|format, p.source(), a, b))
		p.float(rv.R(rv.OpFP, 0, 0x0b<<2|format, p.source(), a, 0))
		p.operands(format, a, b, c)
		p.float(rv.R(rv.OpFP, p.small(3), 0x04<<2|format, p.source(), a, b))
		p.float(rv.R(rv.OpFP, p.small(2), 0x05<<2|format, p.source(), a, b))
		p.operands(format, a, b, c)
		p.float(c<<27 | format<<25 | b<<20 | a<<15 | p.source()<<7 | rv.OpMadd | p.small(4)<<2)
	case 9: // comparisons and moves
		format := p.small(2)
		p.operands(format, a, b)
		p.integer(rv.R(rv.OpFP, p.small(3), 0x14<<2|format, rd, a, b))
		p.flags()
		p.integer(rv.R(rv.OpFP, p.small(2), 0x1c<<2|format, rd, a, 0))
		p.float(rv.R(rv.OpFP, 0, 0x1e<<2|format, p.source(), a, 0))
	case 10: // conversions
		format := p.small(2)
		p.operands(format, a)
		p.integer(rv.R(rv.OpFP, p.small(5), 0x18<<2|format, rd, a, p.small(4)))
		p.flags()
		p.float(rv.R(rv.OpFP, p.small(5), 0x1a<<2|format, p.source(), a, p.small(4)))
		p.operands(1-format, a)
		p.float(rv.R(rv.OpFP, 0, 0x08<<2|format, p.source(), a, 1-format))
	case 11: // compressed, two at a time so that the others stay at multiples of four
		for range 2 {
			p.text = binary.LittleEndian.AppendUint16(p.text, p.compressed())
		}
		p.put(rv.S(rv.OpStore, 3, log, p.source(), 0))
	}
}

// compressed returns a random arithmetic instruction of 16 bits.
func (p *program) compressed() uint16 {
	any6 := uint16(p.small(2)<<12 | p.small(32)<<2)
	rd, low := uint16(1+p.small(log-1))<<7, uint16(p.small(8))<<7
	switch p.IntN(9) {
	case 0:
		return 1 | any6 | rd // c.addi
	case 1:
		return 1 | 1<<13 | any6 | rd // c.addiw
	case 2:
		return 1 | 2<<13 | any6 | rd // c.li
	case 3: // c.lui, of a register that is not the stack's
		return 1 | 3<<13 | any6 | 1<<2 | uint16(5+p.small(20))<<7
	case 4: // c.srli, c.srai, c.andi
		return 1 | 4<<13 | any6 | uint16(p.small(3))<<10 | low
	case 5: // of two registers
		return 1 | 4<<13 | 3<<10 | low | uint16(p.small(4))<<5 | uint16(p.small(8))<<2
	case 6: // c.subw, c.addw
		return 1 | 4<<13 | 1<<12 | 3<<10 | low | uint16(p.small(2))<<5 | uint16(p.small(8))<<2
	case 7:
		return 2 | any6 | rd // c.slli
	}
	return 2 | 4<<13 | uint16(p.small(2))<<12 | rd | uint16(1+p.small(31))<<2 // c.mv, c.add
}

// The data of a random program: numbers, its registers at the end, and stored results.
const (
	dataWords   = 512
	registersAt = 8 * dataWords
	keptAt      = registersAt + 64*8
	dataSize    = 1 << 16
)

// random returns an executable that fills its registers from its data, executes n random instructions, and
// prints its data with the registers.
func random(seed uint64, n int) []byte {
	p := &program{Rand: rand.New(rand.NewPCG(seed, 1))}
	p.put(rv.Lui(base, dataAt))
	for r := uint32(1); r < base; r++ {
		p.put(rv.I(rv.OpLoad, 3, r, base, int32(8*r)))
	}
	for r := range uint32(32) {
		p.put(rv.I(rv.OpLoadFP, 3, r, base, int32(256+8*r)))
	}
	p.put(rv.Lui(log, 1<<12))
	p.put(rv.R(rv.OpReg, 0, 0, log, log, base))
	p.put(rv.Addi(log, log, keptAt-registersAt))
	for range n {
		p.one()
	}
	p.put(rv.Lui(pointer, 1<<12))
	p.put(rv.R(rv.OpReg, 0, 0, pointer, pointer, base)) // dataAt + registersAt
	for r := uint32(1); r < log; r++ {
		p.put(rv.S(rv.OpStore, 3, pointer, r, int32(8*r)))
	}
	for r := range uint32(32) {
		p.put(rv.S(rv.OpStoreFP, 3, pointer, r, int32(256+8*r)))
	}
	p.put(rv.Addi(10, 0, 1))
	p.put(rv.Addi(11, base, 0))
	p.put(rv.Lui(12, dataSize))
	for _, call := range []int32{64, 93} { // write, exit
		p.put(rv.Addi(17, 0, call))
		p.put(rv.Ecall)
		p.put(rv.Addi(10, 0, 0))
	}
	data := make([]byte, dataSize)
	for i := range dataWords {
		binary.LittleEndian.PutUint64(data[8*i:], p.number())
	}
	return rv.ELF(64, codeAt, rv.Segment{At: codeAt, Flags: 5, Data: p.text}, rv.Segment{At: dataAt, Flags: 6, Data: data})
}

// random32 returns the same kind of executable for RV32IM.
func random32(seed uint64, n int) []byte {
	p := &program{Rand: rand.New(rand.NewPCG(seed, 1))}
	keep := func(w uint32) {
		p.put(w)
		p.put(rv.S(rv.OpStore, 2, log, w>>7&31, 0))
		p.put(rv.Addi(log, log, 4))
	}
	p.put(rv.Lui(base, dataAt))
	p.put(rv.Lui(log, 1<<12))
	p.put(rv.R(rv.OpReg, 0, 0, log, log, base))
	for r := uint32(1); r < log; r++ {
		p.put(rv.I(rv.OpLoad, 2, r, base, int32(4*r)))
	}
	for range n {
		rd, a, b := p.result(), p.source(), p.source()
		switch p.IntN(6) {
		case 0:
			keep(rv.R(rv.OpReg, p.small(8), 0, rd, a, b))
			keep(rv.R(rv.OpReg, p.pick(0, 5), 0x20, rd, a, b))
		case 1:
			keep(rv.R(rv.OpReg, p.small(8), 1, rd, a, b))
		case 2:
			keep(rv.I(rv.OpImm, p.pick(0, 2, 3, 4, 6, 7), rd, a, int32(p.IntN(4096))-2048))
			keep(p.Uint32()&^0xfff | rd<<7 | p.pick(0x37, 0x17))
		case 3:
			keep(rv.I(rv.OpImm, p.pick(1, 5), rd, a, int32(p.IntN(32))))
			keep(rv.I(rv.OpImm, 5, rd, a, int32(p.IntN(32))|0x400))
		case 4:
			keep(rv.I(rv.OpLoad, p.pick(0, 1, 2, 4, 5), rd, base, int32(p.IntN(2040))))
			p.put(rv.S(rv.OpStore, p.small(3), base, b, int32(p.IntN(2040))))
			p.put(rv.Addi(pointer, base, 2047)) // an address from which a negative offset leads back
			keep(rv.I(rv.OpLoad, 2, rd, pointer, -int32(p.IntN(2040))))
		case 5:
			p.put(rv.B(p.pick(0, 1, 4, 5, 6, 7), a, b, 8))
			keep(rv.Addi(rd, rd, 1))
		}
	}
	p.put(rv.Addi(10, 0, 1))
	p.put(rv.Addi(11, base, 0))
	p.put(rv.Lui(12, dataSize))
	for _, call := range []int32{64, 93} {
		p.put(rv.Addi(17, 0, call))
		p.put(rv.Ecall)
		p.put(rv.Addi(10, 0, 0))
	}
	data := make([]byte, dataSize)
	for i := range registersAt / 4 {
		binary.LittleEndian.PutUint32(data[4*i:], uint32(p.number()))
	}
	return rv.ELF(32, codeAt, rv.Segment{At: codeAt, Flags: 5, Data: p.text}, rv.Segment{At: dataAt, Flags: 6, Data: data})
}

// number returns a small number, one at an end of a range, a floating-point number, or any.
func (p *program) number() uint64 {
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
func (p *program) double() uint64 {
	if p.IntN(4) == 0 {
		special := []uint64{0, 1 << 63, 0x7ff << 52, 0xfff << 52, 0x7ff8 << 48, 0x7ff4 << 48, 1, 0x000fffffffffffff, 0x43e << 52, 0xc3e << 52, 0x41e << 52, 0x3fe << 52}
		return special[p.IntN(len(special))]
	}
	if p.IntN(3) == 0 { // products and quotients at both ends of the exponents
		return p.Uint64()&(1<<63) | p.fraction(52) | uint64(p.pick(0, 1, 2, 0x1ff, 0x200, 0x201, 0x5ff, 0x600, 0x7fd, 0x7fe))<<52
	}
	return p.Uint64()&(1<<63) | p.fraction(52) | uint64(0x3e0+p.IntN(0x60))<<52
}

// fraction returns a fraction of the given number of bits. It is random, or has few bits set, so that results
// are exact or next to a midpoint.
func (p *program) fraction(bits int) uint64 {
	all := uint64(1)<<bits - 1
	switch p.IntN(4) {
	case 0:
		return all &^ (1 << p.IntN(bits))
	case 1:
		return 1<<p.IntN(bits) | p.Uint64()%2
	}
	return p.Uint64() & all
}

func (p *program) single() uint32 {
	if p.IntN(4) == 0 {
		return []uint32{0, 1 << 31, 0x7f800000, 0xff800000, 0x7fc00000, 0x7fa00000, 1, 0x007fffff, 0x4f000000, 0xcf000000, 0x5f000000, 0x3f000000}[p.IntN(12)]
	}
	if p.IntN(3) == 0 {
		return p.Uint32()&(1<<31) | uint32(p.fraction(23)) | p.pick(0, 1, 2, 0x3f, 0x40, 0x41, 0xbf, 0xc0, 0xfd, 0xfe)<<23
	}
	return p.Uint32()&(1<<31) | uint32(p.fraction(23)) | uint32(0x60+p.IntN(0x40))<<23
}

// TestDifferential: registers and memory are those of QEMU after random programs.
func TestDifferential(t *testing.T) { differential(t, "qemu-riscv64", random) }

func TestDifferential32(t *testing.T) { differential(t, "qemu-riscv32", random32) }

func differential(t *testing.T, emulator string, random func(seed uint64, n int) []byte) {
	testsize.Full(t)
	qemu := testsize.Program(t, "qemu", emulator)
	path := filepath.Join(t.TempDir(), "program")
	for range testsize.Pick(1, 200, 20_000) {
		seed := rand.Uint64()
		raw := random(seed, 300)
		must.Do(t, os.WriteFile(path, raw, 0o700))
		want, err := exec.CommandContext(t.Context(), qemu, path).Output()
		must.Do(t, err, "seed", seed)
		var got bytes.Buffer
		p := must.Get(riscv.Load(raw, nil))(t)
		_, err = riscv.Run(t.Context(), p, riscv.Options{Stdout: &got, Misaligned: true})
		must.Do(t, err, "seed", seed)
		if !bytes.Equal(want, got.Bytes()) {
			t.Fatalf("seed %d: %s", seed, difference(want, got.Bytes()))
		}
	}
}

// difference names the first word in which two outputs differ.
func difference(want, got []byte) string {
	if len(want) != len(got) {
		return fmt.Sprintf("%d bytes, want %d", len(got), len(want))
	}
	for i := 0; i+8 <= len(want); i += 8 {
		a, b := binary.LittleEndian.Uint64(want[i:]), binary.LittleEndian.Uint64(got[i:])
		if r := (i - registersAt) / 8; a != b && i >= keptAt {
			return fmt.Sprintf("result %d: %#x, want %#x", (i-keptAt)/8, b, a)
		} else if a != b && r >= 32 {
			return fmt.Sprintf("f%d = %#x, want %#x", r-32, b, a)
		} else if a != b && r >= 0 {
			return fmt.Sprintf("x%d = %#x, want %#x", r, b, a)
		} else if a != b {
			return fmt.Sprintf("memory at %d: %#x, want %#x", i, b, a)
		}
	}
	return "none"
}
