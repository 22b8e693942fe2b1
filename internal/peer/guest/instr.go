package guest

// Instructions. (The RISC-V Instruction Set Manual, volume I, chapter "RV32/64G Instruction Set Listings".)

func typeR(f7, f3, rd, rs1, rs2 uint32) uint32 {
	return f7<<25 | rs2<<20 | rs1<<15 | f3<<12 | rd<<7 | 0x33
}

func typeI(opcode, f3, rd, rs1 uint32, imm int32) uint32 {
	return uint32(imm)<<20 | rs1<<15 | f3<<12 | rd<<7 | opcode
}

func add(rd, rs1, rs2 uint32) uint32   { return typeR(0, 0, rd, rs1, rs2) }
func xor(rd, rs1, rs2 uint32) uint32   { return typeR(0, 4, rd, rs1, rs2) }
func and(rd, rs1, rs2 uint32) uint32   { return typeR(0, 7, rd, rs1, rs2) }
func mul(rd, rs1, rs2 uint32) uint32   { return typeR(1, 0, rd, rs1, rs2) }
func mulhu(rd, rs1, rs2 uint32) uint32 { return typeR(1, 3, rd, rs1, rs2) }

func addi(rd, rs1 uint32, imm int32) uint32 { return typeI(0x13, 0, rd, rs1, imm) }
func andi(rd, rs1 uint32, imm int32) uint32 { return typeI(0x13, 7, rd, rs1, imm) }
func slli(rd, rs1 uint32, by int32) uint32  { return typeI(0x13, 1, rd, rs1, by) }
func srli(rd, rs1 uint32, by int32) uint32  { return typeI(0x13, 5, rd, rs1, by) }
func lw(rd, rs1 uint32, imm int32) uint32   { return typeI(0x03, 2, rd, rs1, imm) }
func lui(rd, imm uint32) uint32             { return imm&^0xfff | rd<<7 | 0x37 }

func sw(rs2, rs1 uint32, imm int32) uint32 {
	return uint32(imm)>>5<<25 | rs2<<20 | rs1<<15 | 2<<12 | uint32(imm)&31<<7 | 0x23
}

// bnez goes back by a negative offset of bytes.
func bnez(rs1 uint32, offset int32) uint32 {
	o := uint32(offset)
	return 1<<31 | o>>5&0x3f<<25 | rs1<<15 | 1<<12 | o>>1&15<<8 | o>>11&1<<7 | 0x63
}

// ecall is a call of the system.
const ecall = 0x73

// set loads a constant below 2^31.
func set(rd, v uint32) []uint32 {
	return []uint32{lui(rd, v+0x800), addi(rd, rd, int32(v<<20)>>20)}
}
