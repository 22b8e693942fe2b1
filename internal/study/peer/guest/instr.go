package guest

import "github.com/zkbench/zkbench/internal/study/rv"

func add(rd, rs1, rs2 uint32) uint32   { return rv.R(rv.OpReg, 0, 0, rd, rs1, rs2) }
func xor(rd, rs1, rs2 uint32) uint32   { return rv.R(rv.OpReg, 4, 0, rd, rs1, rs2) }
func and(rd, rs1, rs2 uint32) uint32   { return rv.R(rv.OpReg, 7, 0, rd, rs1, rs2) }
func mul(rd, rs1, rs2 uint32) uint32   { return rv.R(rv.OpReg, 0, 1, rd, rs1, rs2) }
func mulhu(rd, rs1, rs2 uint32) uint32 { return rv.R(rv.OpReg, 3, 1, rd, rs1, rs2) }

func andi(rd, rs1 uint32, imm int32) uint32 { return rv.I(rv.OpImm, 7, rd, rs1, imm) }
func xori(rd, rs1 uint32, imm int32) uint32 { return rv.I(rv.OpImm, 4, rd, rs1, imm) }
func slli(rd, rs1 uint32, by int32) uint32  { return rv.I(rv.OpImm, 1, rd, rs1, by) }
func srli(rd, rs1 uint32, by int32) uint32  { return rv.I(rv.OpImm, 5, rd, rs1, by) }
func lw(rd, rs1 uint32, imm int32) uint32   { return rv.I(rv.OpLoad, 2, rd, rs1, imm) }
func sw(rs2, rs1 uint32, imm int32) uint32  { return rv.S(rv.OpStore, 2, rs1, rs2, imm) }

// set returns instructions that load the 32 bits of a constant. A register of 64 bits then has the constant only if it is
// below 2^31, and otherwise a negative number.
func set(rd, v uint32) []uint32 {
	return []uint32{rv.Lui(rd, v+0x800), rv.Addi(rd, rd, int32(v<<20)>>20)}
}
