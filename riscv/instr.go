package riscv

// op is what a decoded instruction does. Those of RV32 that RV64 has under another name, as add as
// addw, have none of their own: registers hold 32-bit values sign-extended.
type op uint8

// instr is a decoded instruction. What is known of it when it is decoded is in imm: an immediate,
// the result of auipc, the target of a branch, the encoding of what is not supported.
type instr struct {
	imm          int64
	op           op
	rd, rs1, rs2 uint8 // rd of what writes the zero register: sink
	rs3          uint8 // of fused multiplications; the rounding mode of what converts
	size         uint8 // bytes: 2 or 4
}

// sink is the register that takes what is written to register zero.
const sink = 32

const (
	opIllegal op = iota // in imm its encoding
	opUnsupported

	// Integer.
	opLui // also auipc: imm is the result
	opAddi
	opSlti
	opSltiu
	opXori
	opOri
	opAndi
	opSlli
	opSrli
	opSrai
	opAdd
	opSub
	opSll
	opSlt
	opSltu
	opXor
	opSrl
	opSra
	opOr
	opAnd
	opAddiw
	opSlliw
	opSrliw
	opSraiw
	opAddw
	opSubw
	opSllw
	opSrlw
	opSraw
	opFence

	// Multiplication and division.
	opMul
	opMulh
	opMulhsu
	opMulhu
	opDiv
	opDivu
	opRem
	opRemu
	opMulw
	opDivw
	opDivuw
	opRemw
	opRemuw
	opMulh32
	opMulhsu32
	opMulhu32

	// Memory.
	opLb
	opLh
	opLw
	opLd
	opLbu
	opLhu
	opLwu
	opSb
	opSh
	opSw
	opSd
	opFlw
	opFld
	opFsw
	opFsd
	opLrW
	opLrD
	opScW
	opScD
	opSwapW
	opSwapD
	opAmoAddW
	opAmoAddD
	opAmoXorW
	opAmoXorD
	opAmoAndW
	opAmoAndD
	opAmoOrW
	opAmoOrD
	opAmoMinW
	opAmoMinD
	opAmoMaxW
	opAmoMaxD
	opAmoMinuW
	opAmoMinuD
	opAmoMaxuW
	opAmoMaxuD

	// Floating point, of single precision where the name ends with S.
	opFaddS
	opFsubS
	opFmulS
	opFdivS
	opFsqrtS
	opFsgnjS
	opFsgnjnS
	opFsgnjxS
	opFminS
	opFmaxS
	opFeqS
	opFltS
	opFleS
	opFclassS
	opFmaddS
	opFmsubS
	opFnmsubS
	opFnmaddS
	opFmvXW
	opFmvWX
	opFcvtWS
	opFcvtWuS
	opFcvtLS
	opFcvtLuS
	opFcvtSW
	opFcvtSWu
	opFcvtSL
	opFcvtSLu
	opFaddD
	opFsubD
	opFmulD
	opFdivD
	opFsqrtD
	opFsgnjD
	opFsgnjnD
	opFsgnjxD
	opFminD
	opFmaxD
	opFeqD
	opFltD
	opFleD
	opFclassD
	opFmaddD
	opFmsubD
	opFnmsubD
	opFnmaddD
	opFmvXD
	opFmvDX
	opFcvtWD
	opFcvtWuD
	opFcvtLD
	opFcvtLuD
	opFcvtDW
	opFcvtDWu
	opFcvtDL
	opFcvtDLu
	opFcvtSD
	opFcvtDS

	// What ends a block.
	opBeq // imm is the target
	opBne
	opBlt
	opBge
	opBltu
	opBgeu
	opJal
	opJalr     // imm is the offset
	opProfiled // a call or a return where they are told apart: rs3 is what it was, opJal or opJalr
	opEcall
	opEbreak
	opCsr // imm is the encoding
)

// ends tells whether an instruction ends a block.
func (o op) ends() bool { return o >= opBeq || o == opIllegal || o == opUnsupported }

// Class is a kind of instructions.
type Class uint8

// The classes. Multiplications have divisions; System is calls and registers of control, and Precompiled
// calls of precompiles.
const (
	Integer Class = iota
	Multiplication
	Memory
	Float
	Branch
	System
	Precompiled
	classes
)

// Classes are the names of the classes, in their order.
func Classes() (names []string) {
	for c := range classes {
		names = append(names, c.String())
	}
	return names
}

func (c Class) String() string {
	return [...]string{"integer", "multiplication", "memory", "float", "branch", "system", "precompile"}[c]
}

// class is that of an operation.
func (o op) class() Class {
	switch {
	case o < opMul:
		return Integer
	case o < opLb:
		return Multiplication
	case o < opFaddS:
		return Memory
	case o < opBeq:
		return Float
	case o < opEcall:
		return Branch
	}
	return System
}
