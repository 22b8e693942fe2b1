// Package rv encodes RISC-V instructions and executables. Tests and the peers of package peer use it to make programs.
// Registers are numbered 0 to 31.
//
// Source: The RISC-V Instruction Set Manual, volume I, chapters "RV32/64G Instruction Set Listings".
package rv

import "encoding/binary"

// Opcodes of instructions.
const (
	OpImm, OpImm32, OpReg, OpReg32 = 0x13, 0x1b, 0x33, 0x3b
	OpLoad, OpStore                = 0x03, 0x23
	OpLoadFP, OpStoreFP            = 0x07, 0x27
	OpAmo, OpFP, OpMadd            = 0x2f, 0x53, 0x43
	OpJalr, OpSystem               = 0x67, 0x73
	opBranch, opJal, opLui         = 0x63, 0x6f, 0x37
)

// Instructions without operands.
const (
	Ecall = 0x73
	Nop   = 0x13
)

// R encodes an instruction in R format, with three registers.
func R(opcode, f3, f7, rd, rs1, rs2 uint32) uint32 {
	return f7<<25 | rs2<<20 | rs1<<15 | f3<<12 | rd<<7 | opcode
}

// I encodes an instruction in I format, with two registers and a constant of 12 bits.
func I(opcode, f3, rd, rs1 uint32, imm int32) uint32 {
	return uint32(imm)<<20 | rs1<<15 | f3<<12 | rd<<7 | opcode
}

// Addi encodes the instruction addi, rd = rs1 + imm.
func Addi(rd, rs1 uint32, imm int32) uint32 { return I(OpImm, 0, rd, rs1, imm) }

// S encodes an instruction in S format, which stores rs2 at the address rs1 + imm. The constant imm has 12 bits.
func S(opcode, f3, rs1, rs2 uint32, imm int32) uint32 {
	i := uint32(imm)
	return i>>5&0x7f<<25 | rs2<<20 | rs1<<15 | f3<<12 | i&31<<7 | opcode
}

// Lui encodes the instruction lui. It sets rd to imm with the low 12 bits cleared.
func Lui(rd, imm uint32) uint32 { return imm&^0xfff | rd<<7 | opLui }

// B encodes an instruction in B format: a branch by offset bytes. f3 selects the comparison of rs1 and rs2.
func B(f3, rs1, rs2 uint32, offset int32) uint32 {
	o := uint32(offset)
	return o>>12&1<<31 | o>>5&0x3f<<25 | rs2<<20 | rs1<<15 | f3<<12 | o>>1&15<<8 | o>>11&1<<7 | opBranch
}

// Jal encodes the instruction jal: a jump by offset bytes, which stores the return address in rd.
func Jal(rd uint32, offset int32) uint32 {
	o := uint32(offset)
	return o>>20&1<<31 | o>>1&0x3ff<<21 | o>>11&1<<20 | o>>12&0xff<<12 | rd<<7 | opJal
}

// Text returns the bytes of a sequence of instructions. Each instruction is a word in little-endian order.
func Text(words ...uint32) (text []byte) {
	for _, w := range words {
		text = binary.LittleEndian.AppendUint32(text, w)
	}
	return text
}
