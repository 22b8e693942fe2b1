package zkvm

import (
	"bytes"
	"debug/elf"
	"fmt"
	"io"
	"math/bits"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/riscv/call"
)

// textbook is a machine for RV64IM as the manual describes it. It shares no code with package riscv, nor with the machine that fills
// the tables, and reads only the ELF file, the input, and the cells of the tables.
type textbook struct {
	x      [32]uint64
	pc     uint64
	memory map[uint64]byte
	input  []byte
	output []byte
	halted bool

	time      uint64 // of the instruction
	registers [32]uint64
	words     map[uint64]uint64 // times of the last accesses
	constants []elf.ProgHeader
}

func newTextbook(t testing.TB, raw, input []byte) *textbook {
	t.Helper()
	file := must.Get(elf.NewFile(bytes.NewReader(raw)))(t)
	m := &textbook{memory: make(map[uint64]byte), input: input, words: make(map[uint64]uint64), pc: file.Entry, time: 4}
	for _, p := range file.Progs {
		if p.Type != elf.PT_LOAD {
			continue
		}
		for i, b := range must.Get(io.ReadAll(p.Open()))(t) {
			m.memory[p.Vaddr+uint64(i)] = b
		}
		if p.Flags&elf.PF_W == 0 {
			m.constants = append(m.constants, p.ProgHeader)
		}
	}
	for i, b := range input {
		m.memory[1<<46+uint64(i)] = b
	}
	return m
}

// load returns n bytes of memory as a number.
func (m *textbook) load(at uint64, n int) (v uint64) {
	for i := n - 1; i >= 0; i-- {
		v = v<<8 | uint64(m.memory[at+uint64(i)])
	}
	return v
}

func (m *textbook) store(at uint64, n int, v uint64) {
	for i := range n {
		m.memory[at+uint64(i)] = byte(v >> (8 * i))
	}
}

// readOnly returns 1 if the eight bytes that contain an address are never written: they are of a constant or the input.
func (m *textbook) readOnly(at uint64) uint64 {
	for _, p := range m.constants {
		if at&^7+8 > p.Vaddr && at&^7 < p.Vaddr+p.Memsz {
			return 1
		}
	}
	if at >= 1<<46 {
		return 1
	}
	return 0
}

// did is what an instruction read and wrote, by the names of columns.
type did map[string]uint64

func (d did) word(name string, v uint64) { d[name+".lo"], d[name+".hi"] = v&0xffffffff, v>>32 }

// parts notes the parts of a word, of the given number of bits, in columns of one name.
func (d did) parts(name string, size int, v uint64) {
	for i := range 64 / size {
		d[fmt.Sprintf("%s %d", name, i)] = v >> (i * size) & (1<<size - 1)
	}
}

// access notes an access of a register and returns the time of the one before, or of a bridge to that.
func (m *textbook) access(last *uint64, k uint64) uint64 {
	before := *last
	if m.time+k-before > 1<<16 {
		before = m.time + k - 1
	}
	*last = m.time + k
	return before
}

func extended(v uint64, n int) uint64 { return uint64(int64(v<<(64-n)) >> (64 - n)) }

// step executes an instruction, and returns what it did in the columns of a table.
func (m *textbook) step() (table string, d did) {
	w, d := uint32(m.load(m.pc, 4)), did{}
	opcode, rd, f3, rs1, rs2, f7 := w&0x7f, w>>7&31, w>>12&7, w>>15&31, w>>20&31, w>>25
	immediate := extended(uint64(w>>20), 12)
	x, y, next := m.x[rs1], m.x[rs2], m.pc+4
	result, writes := uint64(0), true
	first := func() { d.word("a", x); d["a.time"] = m.access(&m.registers[rs1], 0) }
	second := func() {
		if d.word("b", y); opcode&0x20 != 0 { // not of OP-IMM
			d["b.time"] = m.access(&m.registers[rs2], 1)
		}
	}
	switch opcode {
	case 0x37: // LUI: the sum of register 0 and a constant
		table, result, rs1, x = "sums", extended(uint64(w&^0xfff), 32), 0, 0
		first()
	case 0x17: // AUIPC
		table, result, rs1, x = "sums", m.pc+extended(uint64(w&^0xfff), 32), 0, 0
		first()
	case 0x0f: // FENCE: a branch if register 0 equals itself
		table, writes, opcode, rs1, rs2, x, y = "equal", false, 0x63, 0, 0, 0, 0
		first()
		second()
	case 0x6f: // JAL
		offset := extended(uint64(w>>31<<20|w>>12&0xff<<12|w>>20&1<<11|w>>21&0x3ff<<1), 21)
		table, result, next = "jumps", m.pc+4, m.pc+offset
		if rd == 0 {
			table, writes, rs1, rs2, x, y = "equal", false, 0, 0, 0, 0
			first()
			second()
		}
	case 0x67: // JALR
		table, result, next = "jumps", m.pc+4, (x+immediate)&^1
		first()
	case 0x63: // BRANCH
		offset := extended(uint64(w>>31<<12|w>>7&1<<11|w>>25&0x3f<<5|w>>8&0xf<<1), 13)
		table, writes = "compare", false
		if f3 < 2 {
			table = "equal"
		}
		first()
		second()
		if [...]bool{0: x == y, 1: x != y, 4: int64(x) < int64(y), 5: int64(x) >= int64(y), 6: x < y, 7: x >= y}[f3] {
			next = m.pc + offset
		}
	case 0x03, 0x23: // LOAD and STORE
		first()
		size := 1 << (f3 & 3)
		at := x + immediate
		if opcode == 0x23 {
			at, rd, writes = x+extended(uint64(f7<<5|rd), 12), rs2, false
		}
		table = [...]string{"narrow words", "narrow words", "words", "words"}[f3&3]
		d.word("memory", m.load(at&^7, 8))
		d["address"] = at / 8
		if opcode == 0x23 {
			m.store(at, size, y)
			result = y
		} else if result = m.load(at, size); f3 < 4 {
			result = extended(result, 8*size)
		}
		d.word("after", m.load(at&^7, 8))
		if d["read only"] = m.readOnly(at); d["read only"] == 0 {
			d["memory.time"] = m.word(at)
		}
		if rd != 0 || opcode == 0x23 { // a load of register 0 replaces that of a register that nobody reads
			d.word("register", m.x[rd])
			d["register.time"] = m.access(&m.registers[rd], 3)
		}
		if d.word("value", result); writes && rd != 0 {
			m.x[rd] = result
		}
		writes = false
	case 0x73: // ECALL
		table, writes = "calls", false
		d.word("number", m.x[17])
		d["number.time"] = m.access(&m.registers[17], 0)
		m.call(d)
	case 0x13, 0x1b, 0x33, 0x3b:
		constant := opcode&0x20 == 0
		if constant {
			if y = immediate; f3&3 == 1 { // the amount of a shift has the lowest bits
				y &= 63
			}
		}
		table, result = m.arithmetic(f3, f7, opcode, x, y)
		switch first(); table {
		case "shifts": // by an amount in the program
		default:
			second()
		}
		switch table {
		case "logic": // operands and results are bytes
			delete(d, "a.lo")
			delete(d, "a.hi")
			delete(d, "b.lo")
			delete(d, "b.hi")
			d.parts("left", 8, x)
			d.parts("right", 8, y)
			d.parts("both", 8, x&y)
		case "products": // operands are halves of limbs
			delete(d, "a.lo")
			delete(d, "a.hi")
			delete(d, "b.lo")
			delete(d, "b.hi")
			d.parts("a", 16, x)
			d.parts("b", 16, y)
		}
	default:
		table = "an unknown instruction"
	}
	if writes {
		switch table {
		case "jumps":
			d.word("link", result)
		case "compare":
			d["is less"] = result
		default:
			d.word("c", result)
		}
		if rd != 0 {
			d.word("old", m.x[rd])
			d["old.time"] = m.access(&m.registers[rd], 3)
			m.x[rd] = result
		}
	}
	m.pc, m.time = next, m.time+4
	return table, d
}

// arithmetic returns the result of an instruction of the opcodes OP and OP-IMM, and of those of 32 bits.
func (m *textbook) arithmetic(f3, f7, opcode uint32, x, y uint64) (table string, result uint64) {
	constant, narrow := opcode&0x20 == 0, opcode&8 != 0
	n := 64
	if narrow {
		n = 32
	}
	mask := uint64(1)<<(n-1)<<1 - 1
	amount := y & uint64(n-1)
	signed := func(v uint64) int64 { return int64(extended(v, n)) }
	if !constant && f7 == 1 {
		table = "products"
		high, _ := bits.Mul64(x, y)
		switch f3 {
		case 0:
			result = x * y
		case 1:
			result = high - uint64(int64(x)>>63)&y - uint64(int64(y)>>63)&x
		case 2:
			result = high - uint64(int64(x)>>63)&y
		case 3:
			result = high
		default:
			table = "divisions"
			a, b := signed(x), signed(y)
			ua, ub := x&mask, y&mask
			switch {
			case ub == 0 && f3 < 6:
				result = ^uint64(0)
			case ub == 0:
				result = x
			case f3 == 4:
				result = uint64(a / b) // of Go: -2^63 / -1 is -2^63
			case f3 == 5:
				result = ua / ub
			case f3 == 6:
				result = uint64(a % b)
			default:
				result = ua % ub
			}
		}
	} else {
		arithmetic := f7&0x20 != 0
		switch f3 {
		case 0:
			if table, result = "sums", x+y; !constant && arithmetic {
				result = x - y
			}
		case 1:
			table, result = "shifts by registers", x<<amount
		case 2:
			table, result = "compare", 0
			if int64(x) < int64(y) {
				result = 1
			}
		case 3:
			table, result = "compare", 0
			if x < y {
				result = 1
			}
		case 4:
			table, result = "logic", x^y
		case 5:
			if table, result = "shifts by registers", x&mask>>amount; arithmetic {
				result = uint64(signed(x) >> amount)
			}
		case 6:
			table, result = "logic", x|y
		case 7:
			table, result = "logic", x&y
		}
		if constant && table == "shifts by registers" && (f3 == 1 || f7&0x20 == 0) {
			table = "shifts"
		}
	}
	if narrow {
		result = extended(result, 32)
	}
	return table, result
}

// call executes a call of the host.
func (m *textbook) call(d did) {
	number, a0, a1 := m.x[17], m.x[10], m.x[11]
	switch number {
	case 93: // halt
		m.halted = true
	case call.Input:
		m.x[10], m.x[11] = 1<<46, uint64(len(m.input))
	case call.Commit:
		m.x[10] = 0
		for i := range a1 {
			m.output = append(m.output, m.memory[a0+i])
		}
	}
	d.word("a0", a0)
	d["a0.time"] = m.access(&m.registers[10], 1)
	d.word("a1", a1)
	d["a1.time"] = m.access(&m.registers[11], 2)
	d.word("result", m.x[10])
	d.word("length", m.x[11])
}

// commit returns what the row of a committed byte reads.
func (m *textbook) commit(at uint64) (d did) {
	d = did{"address": at / 8, "read only": m.readOnly(at)}
	d.word("memory", m.load(at&^7, 8))
	if d["read only"] == 0 {
		d["memory.time"] = m.word(at)
	}
	m.time += 4
	return d
}

// word notes an access of the eight bytes that contain an address.
func (m *textbook) word(at uint64) (before uint64) {
	last, touched := m.words[at/8]
	if !touched {
		last = m.time + 1 // a cell begins right before its first access
	}
	before = m.access(&last, 2)
	m.words[at/8] = last
	return before
}
