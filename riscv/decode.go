package riscv

import "fmt"

// ISA describes an instruction set. Every set has the base integer instructions, multiplication and division
// (M); the fields say which other extensions it has.
type ISA struct {
	XLEN       int  // bits of a register: 32 or 64
	Atomic     bool // A
	Float      bool // F and D
	Compressed bool // C
}

// The instruction sets that this package executes.
var (
	rv64gc  = ISA{64, true, true, true}
	rv64imc = ISA{XLEN: 64, Compressed: true}
	rv64im  = ISA{XLEN: 64}
	rv32im  = ISA{XLEN: 32}
)

// RV64GC returns the instruction set of programs for Linux, for use with Load.
func RV64GC() *ISA { a := rv64gc; return &a }

// RV64IMC returns the instruction set of 64-bit bare programs with compressed instructions, for use with Load.
func RV64IMC() *ISA { a := rv64imc; return &a }

// RV64IM returns the instruction set of 64-bit bare programs, for use with Load.
func RV64IM() *ISA { a := rv64im; return &a }

// RV32IM returns the instruction set of 32-bit bare programs, for use with Load.
func RV32IM() *ISA { a := rv32im; return &a }

func (a ISA) String() string {
	switch a {
	case rv64gc:
		return "RV64GC"
	case rv64imc:
		return "RV64IMC"
	case rv64im:
		return "RV64IM"
	case rv32im:
		return "RV32IM"
	}
	return fmt.Sprintf("%+v", struct {
		XLEN                      int
		Atomic, Float, Compressed bool
	}(a))
}

// field returns the n bits of w from bit lo on.
func field(w uint32, lo, n int) uint32 { return w >> lo & (1<<n - 1) }

// signed returns a number of n bits in two's complement.
func signed(v uint32, n int) int64 { return int64(int32(v<<(32-n)) >> (32 - n)) }

// fetch decodes the instruction at pc. parcel returns the 16 bits of code at an address. fetch returns false if
// there is no code.
func (a ISA) fetch(pc uint64, parcel func(pc uint64) (uint16, bool)) (instr, bool) {
	low, ok := parcel(pc)
	switch {
	case !ok || pc%a.align() != 0:
		return instr{}, false
	case low&3 == 3:
		high, ok := parcel(pc + 2)
		return a.decode(uint32(low)|uint32(high)<<16, pc), ok
	case a.Compressed:
		in := a.decode(a.expand(low), pc)
		if in.size = 2; in.op == opIllegal {
			in.imm = int64(low)
		}
		return in, true
	}
	return instr{op: opIllegal, imm: int64(low), size: 4, rd: sink}, true
}

// decode decodes a 32-bit instruction at pc. A register that the instruction does not read is 0, and one that it
// does not write is sink. (The RISC-V Instruction Set Manual, volume I, chapter "RV32/64G
// Instruction Set Listings".)
func (a ISA) decode(w uint32, pc uint64) instr {
	rd, rs1, rs2, f3, f7 := uint8(field(w, 7, 5)), uint8(field(w, 15, 5)), uint8(field(w, 20, 5)), field(w, 12, 3), field(w, 25, 7)
	in := instr{rd: rd, rs1: rs1, rs2: rs2, size: 4}
	if rd == 0 {
		in.rd = sink
	}
	immI, immS := signed(w>>20, 12), signed(f7<<5|uint32(rd), 12)
	switch field(w, 0, 7) {
	case 0b0110111:
		in.op, in.imm, in.rs1, in.rs2 = opLui, int64(int32(w&^0xfff)), 0, 0
	case 0b0010111:
		in.op, in.imm, in.rs1, in.rs2 = opLui, a.extend(pc+uint64(int64(int32(w&^0xfff)))), 0, 0
	case 0b1101111:
		offset := signed(field(w, 31, 1)<<20|field(w, 12, 8)<<12|field(w, 20, 1)<<11|field(w, 21, 10)<<1, 21)
		in.op, in.imm, in.rs1, in.rs2 = opJal, a.extend(pc+uint64(offset)), 0, 0
	case 0b1100111:
		if f3 == 0 {
			in.op, in.imm, in.rs2 = opJalr, immI, 0
		}
	case 0b1100011:
		offset := signed(field(w, 31, 1)<<12|field(w, 7, 1)<<11|field(w, 25, 6)<<5|field(w, 8, 4)<<1, 13)
		in.op = [...]op{opBeq, opBne, 0, 0, opBlt, opBge, opBltu, opBgeu}[f3]
		in.imm, in.rd = a.extend(pc+uint64(offset)), sink
	case 0b0000011:
		in.op, in.imm, in.rs2 = [...]op{opLb, opLh, opLw, opLd, opLbu, opLhu, opLwu, 0}[f3], immI, 0
		if a.XLEN == 32 && (in.op == opLd || in.op == opLwu) {
			in.op = opIllegal
		}
	case 0b0100011:
		in.op, in.imm, in.rd = [...]op{opSb, opSh, opSw, opSd, 0, 0, 0, 0}[f3], immS, sink
		if a.XLEN == 32 && in.op == opSd {
			in.op = opIllegal
		}
	case 0b0010011:
		in.op, in.imm, in.rs2 = a.immediate(w, f3), immI, 0
		if f3 == 1 || f3 == 5 {
			in.imm = int64(field(w, 20, 6))
		}
	case 0b0011011:
		in.rs2 = 0
		if a.XLEN == 64 {
			switch {
			case f3 == 0:
				in.op, in.imm = opAddiw, immI
			case f3 == 1 && f7 == 0:
				in.op, in.imm = opSlliw, int64(rs2)
			case f3 == 5 && f7 == 0:
				in.op, in.imm = opSrliw, int64(rs2)
			case f3 == 5 && f7 == 0b0100000:
				in.op, in.imm = opSraiw, int64(rs2)
			}
		}
	case 0b0110011:
		in.op = a.register(f3, f7)
	case 0b0111011:
		if a.XLEN == 64 {
			in.op = registerWord(f3, f7)
		}
	case 0b0001111:
		if f3 <= 1 { // fence, fence.i
			in.op, in.rd, in.rs1, in.rs2 = opFence, sink, 0, 0
		}
	case 0b1110011:
		switch {
		case w == 0x73:
			in.op = opEcall
		case w == 0x100073:
			in.op, in.rs2 = opEbreak, 0
		case f3 != 0 && f3 != 4:
			in.op, in.imm, in.rs2 = opCsr, int64(w), 0
		}
	case 0b0101111:
		if a.Atomic {
			in.op = atomic(f3, field(w, 27, 5), rs2)
		}
	default:
		if a.Float {
			a.float(w, &in, immI, immS)
		}
	}
	if in.op == opIllegal || in.op == opUnsupported {
		return instr{op: in.op, imm: int64(w), size: 4, rd: sink}
	}
	return in
}

// extend returns a number of XLEN bits in the form that a register holds.
func (a ISA) extend(v uint64) int64 {
	if a.XLEN == 32 {
		return int64(int32(v))
	}
	return int64(v)
}

// immediate returns the operation of an instruction with a register and an immediate.
func (a ISA) immediate(w, f3 uint32) op {
	high := field(w, 26, 6) // for shifts, the bits above the amount
	if a.XLEN == 32 {
		high = field(w, 25, 7) >> 1
		if field(w, 25, 1) != 0 && (f3 == 1 || f3 == 5) {
			return opIllegal
		}
	}
	switch f3 {
	case 1:
		if high == 0 {
			return a.word(opSlli)
		}
		return opIllegal
	case 5:
		switch high {
		case 0:
			return a.word(opSrli)
		case 0b010000:
			return a.word(opSrai)
		}
		return opIllegal
	}
	return a.word([...]op{opAddi, 0, opSlti, opSltiu, opXori, 0, opOri, opAndi}[f3])
}

// word returns the RV64 operation that does on sign-extended 32-bit numbers what o does in RV32.
func (a ISA) word(o op) op {
	if a.XLEN == 32 {
		switch o {
		case opAddi:
			return opAddiw
		case opSlli:
			return opSlliw
		case opSrli:
			return opSrliw
		case opSrai:
			return opSraiw
		case opAdd:
			return opAddw
		case opSub:
			return opSubw
		case opSll:
			return opSllw
		case opSrl:
			return opSrlw
		case opSra:
			return opSraw
		case opMul:
			return opMulw
		case opMulh:
			return opMulh32
		case opMulhsu:
			return opMulhsu32
		case opMulhu:
			return opMulhu32
		case opDiv:
			return opDivw
		case opDivu:
			return opDivuw
		case opRem:
			return opRemw
		case opRemu:
			return opRemuw
		}
	}
	return o
}

// register returns the operation of an instruction with two registers.
func (a ISA) register(f3, f7 uint32) op {
	switch f7 {
	case 0:
		return a.word([...]op{opAdd, opSll, opSlt, opSltu, opXor, opSrl, opOr, opAnd}[f3])
	case 1:
		return a.word([...]op{opMul, opMulh, opMulhsu, opMulhu, opDiv, opDivu, opRem, opRemu}[f3])
	case 0b0100000:
		return a.word([...]op{opSub, 0, 0, 0, 0, opSra, 0, 0}[f3])
	}
	return opIllegal
}

// registerWord returns the operation of an instruction with the lower halves of two registers.
func registerWord(f3, f7 uint32) op {
	switch f7 {
	case 0:
		return [...]op{opAddw, opSllw, 0, 0, 0, opSrlw, 0, 0}[f3]
	case 1:
		return [...]op{opMulw, 0, 0, 0, opDivw, opDivuw, opRemw, opRemuw}[f3]
	case 0b0100000:
		return [...]op{opSubw, 0, 0, 0, 0, opSraw, 0, 0}[f3]
	}
	return opIllegal
}

// atomic returns the operation of an instruction of extension A. It ignores the bits for acquire and release,
// because one thread runs at a time.
func atomic(f3, f5 uint32, rs2 uint8) op {
	if f3 != 2 && f3 != 3 {
		return opIllegal
	}
	of := func(word op) op { return word + op(f3-2) }
	switch f5 {
	case 0b00010:
		if rs2 == 0 {
			return of(opLrW)
		}
		return opIllegal
	case 0b00011:
		return of(opScW)
	case 0b00001:
		return of(opSwapW)
	case 0b00000:
		return of(opAmoAddW)
	case 0b00100:
		return of(opAmoXorW)
	case 0b01100:
		return of(opAmoAndW)
	case 0b01000:
		return of(opAmoOrW)
	case 0b10000:
		return of(opAmoMinW)
	case 0b10100:
		return of(opAmoMaxW)
	case 0b11000:
		return of(opAmoMinuW)
	case 0b11100:
		return of(opAmoMaxuW)
	}
	return opIllegal
}
