package riscv

import (
	"fmt"
	"math/bits"
)

// hart is the state of the processor that belongs to one thread.
type hart struct {
	pc uint64
	x  [64]uint64 // registers; sink takes what is written to register zero
	f  [32]uint64 // floating-point registers; above a single-precision number all bits are 1

	flags uint8 // raised by floating-point operations
}

// block is code that always runs from its first instruction to its last.
type block struct {
	start, end uint64
	code       []instr
	runs       uint64
	next       [2]*block // the blocks that follow if the last instruction does not jump, and if it does
	function   int       // index; -1: none

	precompiled uint64 // number of runs in which the last instruction, an ecall, called a precompile
}

const longestBlock = 64 // instructions

// cachedJumps is the size of a section's cache of blocks for jumps to an address in a register. It is indexed
// by the low bits of the address.
const cachedJumps = 4096

// stop is the reason why a hart stops.
type stop uint8

const (
	stopBudget stop = iota // it has used up its cycles
	stopStep               // it has executed one instruction of a traced run
	stopCall               // pc is after an ecall
	stopJump               // pc is after an opProfiled, which has not been executed yet
	stopFull               // there are too many blocks
	stopFault              // the reason is in machine.fault
)

// execute runs a hart for at most budget cycles, and returns how many are left.
//
// It counts cycles by blocks: each block knows how often it ran and which instructions it has.
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
			if j := &jumps[h.pc>>1%cachedJumps]; j.pc == h.pc && j.block != nil { // an empty entry has pc 0 and no block
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

// byRegister is the edge of a block that ends with jalr.
const byRegister = 2

// flag returns 1 for true and 0 for false.
func flag(is bool) uint64 {
	if is {
		return 1
	}
	return 0
}

// word returns a 32-bit number in the form that a register holds.
func word(v uint32) uint64 { return uint64(int64(int32(v))) }

// multiply executes the operations of extension M, except mul and mulhu of either width. A division by zero
// has a result, and so has the least number divided by -1 (volume I, chapter "M", table "Semantics for
// division").
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
		return uint64(sa / sb) // the least divided by -1 is the least, in Go too
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

// rare executes the operations that execute does not. done is the number of cycles of this call before the
// block's end.
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
		return m.refuse(Unsupported, fmt.Sprintf("%#x: a rounding mode that is not supported; accepted: rounding to nearest, ties to even", in.imm))
	}
	return m.refuse(IllegalInstruction, m.program.illegal(uint32(in.imm)))
}

// faultAt ends the run of a block before its i-th instruction. Instructions that ran are counted, and the
// cycles of the others are left.
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

// load reads memory if the fast path in execute cannot.
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

// store writes memory if the fast path in execute cannot.
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

// aligned reports whether an access is aligned, or may be misaligned. If it may not, aligned sets the fault.
func (m *machine) aligned(addr uint64, size int) bool {
	return misaligned(addr, size) == 0 || m.Misaligned || m.refuse(Misaligned, fmt.Sprintf("%d bytes at %#x", size, addr))
}

// misaligned returns 1 if an access is misaligned, and 0 otherwise.
func misaligned(addr uint64, size int) uint64 { return flag(addr%uint64(size) != 0) }
