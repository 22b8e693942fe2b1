package riscv

// expand returns the 32-bit instruction that a 16-bit instruction stands for. It returns 0, which is not an
// instruction, if the encoding is reserved. (The RISC-V Instruction Set Manual, volume I, chapter "C".)
func (a ISA) expand(h uint16) uint32 {
	w := uint32(h)
	f3 := field(w, 13, 3)
	rd, rs2 := field(w, 7, 5), field(w, 2, 5)       // any register
	low, high := field(w, 2, 3)+8, field(w, 7, 3)+8 // one of the eight popular registers
	imm6 := uint32(signed(field(w, 12, 1)<<5|field(w, 2, 5), 6))
	shift := field(w, 12, 1)<<5 | field(w, 2, 5)
	// Offsets of loads and stores of words and double words, with the popular registers.
	offW := field(w, 10, 3)<<3 | field(w, 6, 1)<<2 | field(w, 5, 1)<<6
	offD := field(w, 10, 3)<<3 | field(w, 5, 2)<<6
	const sp = 2
	switch w&3<<3 | f3 {
	case 0b00_000: // c.addi4spn
		imm := field(w, 11, 2)<<4 | field(w, 7, 4)<<6 | field(w, 6, 1)<<2 | field(w, 5, 1)<<3
		if imm == 0 {
			return 0
		}
		return typeI(0b0010011, 0, low, sp, imm)
	case 0b00_001: // c.fld
		return typeI(0b0000111, 3, low, high, offD)
	case 0b00_010: // c.lw
		return typeI(0b0000011, 2, low, high, offW)
	case 0b00_011: // c.ld
		return typeI(0b0000011, 3, low, high, offD)
	case 0b00_101: // c.fsd
		return typeS(0b0100111, 3, high, low, offD)
	case 0b00_110: // c.sw
		return typeS(0b0100011, 2, high, low, offW)
	case 0b00_111: // c.sd
		return typeS(0b0100011, 3, high, low, offD)
	case 0b01_000: // c.addi
		return typeI(0b0010011, 0, rd, rd, imm6)
	case 0b01_001: // c.addiw
		if rd == 0 {
			return 0
		}
		return typeI(0b0011011, 0, rd, rd, imm6)
	case 0b01_010: // c.li
		return typeI(0b0010011, 0, rd, 0, imm6)
	case 0b01_011:
		if rd == sp { // c.addi16sp
			imm := uint32(signed(field(w, 12, 1)<<9|field(w, 6, 1)<<4|field(w, 5, 1)<<6|field(w, 3, 2)<<7|field(w, 2, 1)<<5, 10))
			if imm == 0 {
				return 0
			}
			return typeI(0b0010011, 0, sp, sp, imm)
		}
		if imm6 == 0 {
			return 0
		}
		return imm6<<12 | rd<<7 | 0b0110111 // c.lui
	case 0b01_100:
		return a.expandArithmetic(w, high, low, shift, imm6)
	case 0b01_101: // c.j
		return jump(signed(field(w, 12, 1)<<11|field(w, 11, 1)<<4|field(w, 9, 2)<<8|field(w, 8, 1)<<10|field(w, 7, 1)<<6|field(w, 6, 1)<<7|field(w, 3, 3)<<1|field(w, 2, 1)<<5, 12))
	case 0b01_110, 0b01_111: // c.beqz, c.bnez
		offset := signed(field(w, 12, 1)<<8|field(w, 10, 2)<<3|field(w, 5, 2)<<6|field(w, 3, 2)<<1|field(w, 2, 1)<<5, 9)
		return branch(f3&1, high, offset)
	case 0b10_000: // c.slli
		return typeI(0b0010011, 1, rd, rd, shift)
	case 0b10_001: // c.fldsp
		return typeI(0b0000111, 3, rd, sp, field(w, 12, 1)<<5|field(w, 5, 2)<<3|field(w, 2, 3)<<6)
	case 0b10_010: // c.lwsp
		if rd == 0 {
			return 0
		}
		return typeI(0b0000011, 2, rd, sp, field(w, 12, 1)<<5|field(w, 4, 3)<<2|field(w, 2, 2)<<6)
	case 0b10_011: // c.ldsp
		if rd == 0 {
			return 0
		}
		return typeI(0b0000011, 3, rd, sp, field(w, 12, 1)<<5|field(w, 5, 2)<<3|field(w, 2, 3)<<6)
	case 0b10_100:
		return expandMove(field(w, 12, 1) == 1, rd, rs2)
	case 0b10_101: // c.fsdsp
		return typeS(0b0100111, 3, sp, rs2, field(w, 10, 3)<<3|field(w, 7, 3)<<6)
	case 0b10_110: // c.swsp
		return typeS(0b0100011, 2, sp, rs2, field(w, 9, 4)<<2|field(w, 7, 2)<<6)
	case 0b10_111: // c.sdsp
		return typeS(0b0100011, 3, sp, rs2, field(w, 10, 3)<<3|field(w, 7, 3)<<6)
	}
	return 0
}

// expandArithmetic expands instructions of quadrant 1, funct3 100.
func (a ISA) expandArithmetic(w, rd, rs2, shift, imm6 uint32) uint32 {
	switch field(w, 10, 2) {
	case 0: // c.srli
		return typeI(0b0010011, 5, rd, rd, shift)
	case 1: // c.srai
		return typeI(0b0010011, 5, rd, rd, 0b010000<<6|shift)
	case 2: // c.andi
		return typeI(0b0010011, 7, rd, rd, imm6)
	}
	switch f2 := field(w, 5, 2); {
	case field(w, 12, 1) == 0: // c.sub, c.xor, c.or, c.and
		return typeR(0b0110011, [...]uint32{0, 4, 6, 7}[f2], [...]uint32{0b0100000, 0, 0, 0}[f2], rd, rd, rs2)
	case f2 < 2: // c.subw, c.addw
		return typeR(0b0111011, 0, [...]uint32{0b0100000, 0}[f2], rd, rd, rs2)
	}
	return 0
}

// expandMove expands instructions of quadrant 2, funct3 100.
func expandMove(bit12 bool, rd, rs2 uint32) uint32 {
	const ra = 1
	switch {
	case !bit12 && rs2 != 0: // c.mv
		return typeR(0b0110011, 0, 0, rd, 0, rs2)
	case bit12 && rs2 != 0: // c.add
		return typeR(0b0110011, 0, 0, rd, rd, rs2)
	case !bit12 && rd != 0: // c.jr
		return typeI(0b1100111, 0, 0, rd, 0)
	case bit12 && rd != 0: // c.jalr
		return typeI(0b1100111, 0, ra, rd, 0)
	case bit12: // c.ebreak
		return 0x100073
	}
	return 0
}

// Encoders for the formats of instructions.

func typeR(opcode, f3, f7, rd, rs1, rs2 uint32) uint32 {
	return f7<<25 | rs2<<20 | rs1<<15 | f3<<12 | rd<<7 | opcode
}

func typeI(opcode, f3, rd, rs1, imm uint32) uint32 {
	return imm<<20 | rs1<<15 | f3<<12 | rd<<7 | opcode
}

func typeS(opcode, f3, rs1, rs2, imm uint32) uint32 {
	return field(imm, 5, 7)<<25 | rs2<<20 | rs1<<15 | f3<<12 | field(imm, 0, 5)<<7 | opcode
}

// jump encodes jal without a link.
func jump(offset int64) uint32 {
	o := uint32(offset)
	return field(o, 20, 1)<<31 | field(o, 1, 10)<<21 | field(o, 11, 1)<<20 | field(o, 12, 8)<<12 | 0b1101111
}

// branch encodes a comparison with zero: beq, or bne if f3 is 1.
func branch(f3, rs1 uint32, offset int64) uint32 {
	o := uint32(offset)
	return field(o, 12, 1)<<31 | field(o, 5, 6)<<25 | rs1<<15 | f3<<12 | field(o, 1, 4)<<8 | field(o, 11, 1)<<7 | 0b1100011
}
