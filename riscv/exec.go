package riscv

import (
	"fmt"
	"math/bits"
)

// hart is what a thread has of its own.
type hart struct {
	pc uint64
	x  [64]uint64 // registers; sink takes what is written to register zero
	f  [32]uint64 // floating point; single precision has ones above

	flags uint8 // that operations of floating point have raised
}

// block is code that runs from its first instruction to its last.
type block struct {
	start, end uint64
	code       []instr
	runs       uint64
	next       [2]*block // that follow: where the last instruction goes on, and where it jumps to
	function   int       // index; -1: none

	precompiled uint64 // runs whose ecall, the last instruction, was of a precompile
}

const longestBlock = 64 // instructions

// jumpCache has blocks by the low bits of where they start, for jumps by a register.
const cachedJumps = 4096

// stop is why a hart does not go on.
type stop uint8

const (
	stopBudget stop = iota // it has used up its cycles
	stopCall               // pc is behind an ecall
	stopJump               // pc is behind an opProfiled, which is not executed yet
	stopFull               // there are too many blocks
	stopFault              // in machine.fault
)

// execute runs a hart for at most so many cycles, and returns how many are left.
//
// Cycles are counted by blocks: each knows how often it ran, and what is in it.
func (m *machine) execute(h *hart, budget uint64) (left uint64, why stop) {
	x, mem, jumps := &h.x, m.mem, &m.section.jumps
	left = budget
	b := m.blockAt(h.pc)
	for {
		if b == nil {
			return left, m.noBlock(h)
		}
		if uint64(len(b.code)) > left {
			if left == 0 {
				h.pc = b.start
				return 0, stopBudget
			}
			b = m.part(b, int(left))
		}
		left -= uint64(len(b.code))
		b.runs++
		edge := 0
		for i := range b.code {
			in := &b.code[i]
			rd, rs1, rs2, imm := in.rd&63, in.rs1&63, in.rs2&63, uint64(in.imm)
			switch in.op {
			case opLui:
				x[rd] = imm
			case opAddi:
				x[rd] = x[rs1] + imm
			case opSlti:
				x[rd] = flag(int64(x[rs1]) < int64(imm))
			case opSltiu:
				x[rd] = flag(x[rs1] < imm)
			case opXori:
				x[rd] = x[rs1] ^ imm
			case opOri:
				x[rd] = x[rs1] | imm
			case opAndi:
				x[rd] = x[rs1] & imm
			case opSlli:
				x[rd] = x[rs1] << (imm & 63)
			case opSrli:
				x[rd] = x[rs1] >> (imm & 63)
			case opSrai:
				x[rd] = uint64(int64(x[rs1]) >> (imm & 63))
			case opAdd:
				x[rd] = x[rs1] + x[rs2]
			case opSub:
				x[rd] = x[rs1] - x[rs2]
			case opSll:
				x[rd] = x[rs1] << (x[rs2] & 63)
			case opSlt:
				x[rd] = flag(int64(x[rs1]) < int64(x[rs2]))
			case opSltu:
				x[rd] = flag(x[rs1] < x[rs2])
			case opXor:
				x[rd] = x[rs1] ^ x[rs2]
			case opSrl:
				x[rd] = x[rs1] >> (x[rs2] & 63)
			case opSra:
				x[rd] = uint64(int64(x[rs1]) >> (x[rs2] & 63))
			case opOr:
				x[rd] = x[rs1] | x[rs2]
			case opAnd:
				x[rd] = x[rs1] & x[rs2]
			case opAddiw:
				x[rd] = word(uint32(x[rs1] + imm))
			case opSlliw:
				x[rd] = word(uint32(x[rs1]) << (imm & 31))
			case opSrliw:
				x[rd] = word(uint32(x[rs1]) >> (imm & 31))
			case opSraiw:
				x[rd] = uint64(int64(int32(x[rs1]) >> (imm & 31)))
			case opAddw:
				x[rd] = word(uint32(x[rs1] + x[rs2]))
			case opSubw:
				x[rd] = word(uint32(x[rs1] - x[rs2]))
			case opSllw:
				x[rd] = word(uint32(x[rs1]) << (x[rs2] & 31))
			case opSrlw:
				x[rd] = word(uint32(x[rs1]) >> (x[rs2] & 31))
			case opSraw:
				x[rd] = uint64(int64(int32(x[rs1]) >> (x[rs2] & 31)))
			case opFence:

			case opMul:
				x[rd] = x[rs1] * x[rs2]
			case opMulhu:
				x[rd], _ = bits.Mul64(x[rs1], x[rs2])
			case opMulw: // mul of RV32
				x[rd] = word(uint32(x[rs1]) * uint32(x[rs2]))
			case opMulhu32:
				x[rd] = word(uint32(uint64(uint32(x[rs1])) * uint64(uint32(x[rs2])) >> 32))
			case opMulh, opMulhsu, opDiv, opDivu, opRem, opRemu, opDivw, opDivuw, opRemw, opRemuw, opMulh32, opMulhsu32:
				x[rd] = multiply(in.op, x[rs1], x[rs2])

			case opLd:
				a := x[rs1] + imm
				if e := &mem.reads[a>>pageBits%cachedPages]; a&^wordsMask == e.base {
					x[rd] = e.page[a&wordsMask>>3]
				} else if v, ok := m.load(a, 8); ok {
					x[rd] = v
				} else {
					return m.faultAt(h, b, i, left)
				}
			case opLw:
				a := x[rs1] + imm
				if e := &mem.reads[a>>pageBits%cachedPages]; a&^(wordsMask|4) == e.base {
					x[rd] = word(uint32(e.page[a&wordsMask>>3] >> (a & 4 * 8)))
				} else if v, ok := m.load(a, 4); ok {
					x[rd] = word(uint32(v))
				} else {
					return m.faultAt(h, b, i, left)
				}
			case opLwu:
				a := x[rs1] + imm
				if e := &mem.reads[a>>pageBits%cachedPages]; a&^(wordsMask|4) == e.base {
					x[rd] = uint64(uint32(e.page[a&wordsMask>>3] >> (a & 4 * 8)))
				} else if v, ok := m.load(a, 4); ok {
					x[rd] = v
				} else {
					return m.faultAt(h, b, i, left)
				}
			case opLh:
				a := x[rs1] + imm
				if e := &mem.reads[a>>pageBits%cachedPages]; a&^(wordsMask|6) == e.base {
					x[rd] = uint64(int64(int16(e.page[a&wordsMask>>3] >> (a & 6 * 8))))
				} else if v, ok := m.load(a, 2); ok {
					x[rd] = uint64(int64(int16(v)))
				} else {
					return m.faultAt(h, b, i, left)
				}
			case opLhu:
				a := x[rs1] + imm
				if e := &mem.reads[a>>pageBits%cachedPages]; a&^(wordsMask|6) == e.base {
					x[rd] = e.page[a&wordsMask>>3] >> (a & 6 * 8) & 0xffff
				} else if v, ok := m.load(a, 2); ok {
					x[rd] = v
				} else {
					return m.faultAt(h, b, i, left)
				}
			case opLb:
				a := x[rs1] + imm
				if e := &mem.reads[a>>pageBits%cachedPages]; a&^pageMask == e.base {
					x[rd] = uint64(int64(int8(e.page[a&wordsMask>>3] >> (a & 7 * 8))))
				} else if v, ok := m.load(a, 1); ok {
					x[rd] = uint64(int64(int8(v)))
				} else {
					return m.faultAt(h, b, i, left)
				}
			case opLbu:
				a := x[rs1] + imm
				if e := &mem.reads[a>>pageBits%cachedPages]; a&^pageMask == e.base {
					x[rd] = e.page[a&wordsMask>>3] >> (a & 7 * 8) & 0xff
				} else if v, ok := m.load(a, 1); ok {
					x[rd] = v
				} else {
					return m.faultAt(h, b, i, left)
				}
			case opSd:
				a := x[rs1] + imm
				if e := &mem.writes[a>>pageBits%cachedPages]; a&^wordsMask == e.base {
					e.page[a&wordsMask>>3] = x[rs2]
				} else if !m.store(a, x[rs2], 8) {
					return m.faultAt(h, b, i, left)
				}
			case opSw:
				a := x[rs1] + imm
				if e := &mem.writes[a>>pageBits%cachedPages]; a&^(wordsMask|4) == e.base {
					w, shift := &e.page[a&wordsMask>>3], a&4*8
					*w = *w&^(0xffffffff<<shift) | uint64(uint32(x[rs2]))<<shift
				} else if !m.store(a, x[rs2], 4) {
					return m.faultAt(h, b, i, left)
				}
			case opSb:
				a := x[rs1] + imm
				if e := &mem.writes[a>>pageBits%cachedPages]; a&^pageMask == e.base {
					w, shift := &e.page[a&wordsMask>>3], a&7*8
					*w = *w&^(0xff<<shift) | x[rs2]&0xff<<shift
				} else if !m.store(a, x[rs2], 1) {
					return m.faultAt(h, b, i, left)
				}
			case opSh:
				a := x[rs1] + imm
				if e := &mem.writes[a>>pageBits%cachedPages]; a&^(wordsMask|6) == e.base {
					w, shift := &e.page[a&wordsMask>>3], a&6*8
					*w = *w&^(0xffff<<shift) | x[rs2]&0xffff<<shift
				} else if !m.store(a, x[rs2], 2) {
					return m.faultAt(h, b, i, left)
				}

			case opBeq:
				if x[rs1] == x[rs2] {
					edge = 1
				}
			case opBne:
				if x[rs1] != x[rs2] {
					edge = 1
				}
			case opBlt:
				if int64(x[rs1]) < int64(x[rs2]) {
					edge = 1
				}
			case opBge:
				if int64(x[rs1]) >= int64(x[rs2]) {
					edge = 1
				}
			case opBltu:
				if x[rs1] < x[rs2] {
					edge = 1
				}
			case opBgeu:
				if x[rs1] >= x[rs2] {
					edge = 1
				}
			case opJal:
				x[rd] = b.end
				edge = 1
			case opJalr:
				h.pc = (x[rs1] + imm) &^ 1
				x[rd] = b.end
				edge = byRegister
			case opEcall:
				h.pc, m.caller = b.end, b
				return left, stopCall
			case opProfiled:
				h.pc, m.jump = b.end, in
				return left, stopJump
			default:
				if !m.rare(h, in, budget-left) {
					return m.faultAt(h, b, i, left)
				}
			}
		}
		if edge == byRegister {
			if j := &jumps[h.pc>>1%cachedJumps]; j.pc == h.pc && j.block != nil { // none of address 0 is at first
				b = j.block
			} else {
				b = m.blockAt(h.pc)
			}
			continue
		}
		next := b.next[edge]
		if next == nil {
			next = m.follow(h, b, edge, m.cycles+budget-left)
		}
		b = next
	}
}

// byRegister is the edge of a block whose last instruction is jalr.
const byRegister = 2

// flag is 1 for true.
func flag(is bool) uint64 {
	if is {
		return 1
	}
	return 0
}

// word is a number of 32 bits as a register holds it.
func word(v uint32) uint64 { return uint64(int64(int32(v))) }

// multiply is what the extension M has beside mul and mulhu of either width. A division by zero, and of the least
// number by -1, has a result (volume I, chapter "M", table "Semantics for division").
func multiply(o op, a, b uint64) uint64 {
	sa, sb := int64(a), int64(b)
	wa, wb := int32(a), int32(b)
	switch o {
	case opMulh:
		high, _ := bits.Mul64(a, b)
		return high - a*(b>>63) - b*(a>>63)
	case opMulhsu:
		high, _ := bits.Mul64(a, b)
		return high - b*(a>>63)
	case opDiv:
		if b == 0 {
			return ^uint64(0)
		}
		return uint64(sa / sb) // of the least by -1: the least, in Go too
	case opDivu:
		if b == 0 {
			return ^uint64(0)
		}
		return a / b
	case opRem:
		if b == 0 {
			return a
		}
		return uint64(sa % sb)
	case opRemu:
		if b == 0 {
			return a
		}
		return a % b
	case opDivw:
		if wb == 0 {
			return ^uint64(0)
		}
		return word(uint32(wa / wb))
	case opDivuw:
		if wb == 0 {
			return ^uint64(0)
		}
		return word(uint32(wa) / uint32(wb))
	case opRemw:
		if wb == 0 {
			return word(uint32(wa))
		}
		return word(uint32(wa % wb))
	case opRemuw:
		if wb == 0 {
			return word(uint32(wa))
		}
		return word(uint32(wa) % uint32(wb))
	case opMulh32:
		return uint64(int64(wa) * int64(wb) >> 32)
	case opMulhsu32:
		return uint64(int64(wa) * int64(uint32(wb)) >> 32)
	}
	return 0
}

// rare executes what is not in execute. done are the cycles of this call before the block's end.
func (m *machine) rare(h *hart, in *instr, done uint64) bool {
	switch {
	case opLrW <= in.op && in.op <= opAmoMaxuD:
		return m.atomic(h, in)
	case opFlw <= in.op && in.op <= opFsd, opFaddS <= in.op && in.op <= opFcvtDS:
		return m.float(h, in)
	case in.op == opCsr:
		return m.csr(h, in, done)
	case in.op == opEbreak:
		return m.refuse(Aborted, "ebreak")
	case in.op == opUnsupported:
		return m.refuse(Unsupported, fmt.Sprintf("%#x: rounding to nearest, ties to even, is accepted", in.imm))
	}
	return m.refuse(IllegalInstruction, m.program.illegal(uint32(in.imm)))
}

// faultAt ends the run of a block before its i-th instruction: what ran is counted, and the rest of
// its cycles are left.
func (m *machine) faultAt(h *hart, b *block, i int, left uint64) (uint64, stop) {
	b.runs--
	left += uint64(len(b.code) - i)
	h.pc = b.start
	if i > 0 {
		done := m.part(b, i)
		done.runs++
		h.pc = done.end
	}
	m.fault.PC = h.pc
	return left, stopFault
}

// load reads memory where the fast way does not.
func (m *machine) load(addr uint64, size int) (uint64, bool) {
	addr = uint64(m.program.ISA.extend(addr))
	if !m.aligned(addr, size) {
		return 0, false
	}
	v, kind := m.mem.load(addr, size)
	if kind != 0 {
		return 0, m.refuse(kind, fmt.Sprintf("reads %d bytes at %#x%s", size, addr, m.unmapped(kind, addr)))
	}
	m.misaligned += misaligned(addr, size)
	return v, true
}

// store writes memory where the fast way does not.
func (m *machine) store(addr, v uint64, size int) bool {
	addr = uint64(m.program.ISA.extend(addr))
	if !m.aligned(addr, size) {
		return false
	}
	if kind := m.mem.store(addr, v, size); kind != 0 {
		return m.refuse(kind, fmt.Sprintf("writes %d bytes at %#x%s", size, addr, m.unmapped(kind, addr)))
	}
	m.misaligned += misaligned(addr, size)
	return true
}

// aligned tells whether an access may be.
func (m *machine) aligned(addr uint64, size int) bool {
	return misaligned(addr, size) == 0 || m.Misaligned || m.refuse(Misaligned, fmt.Sprintf("%d bytes at %#x", size, addr))
}

// misaligned is 1 for an access that is.
func misaligned(addr uint64, size int) uint64 { return flag(addr%uint64(size) != 0) }
