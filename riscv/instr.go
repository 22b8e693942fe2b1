package riscv

// op is the operation of a decoded instruction. RV32 operations that RV64 has under another name have no op
// of their own: add is addw. Registers hold 32-bit values sign-extended.
type op uint8

// instr is a decoded instruction. Its imm holds what decoding computes: an immediate, the result of auipc,
// the target of a branch, or the encoding of an unsupported instruction.
type instr struct {
	imm          int64
	op           op
	rd, rs1, rs2 uint8 // rd is sink if the instruction writes register zero
	rs3          uint8 // for fused multiplications; for conversions, the rounding mode
	size         uint8 // bytes: 2 or 4
}

// sink is the register that receives what is written to register zero.
const sink = 32

const (
	opIllegal op = iota // imm is the encoding
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

	// Floating point. Names that end with S are of single precision.
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

	// Instructions that end a block.
	opBeq // imm is the target
	opBne
	opBlt
	opBge
	opBltu
	opBgeu
	opJal
	opJalr     // imm is the offset
	opProfiled // a call or a return in a run with a profile; rs3 is the original op, opJal or opJalr
	opEcall
	opEbreak
	opCsr // imm is the encoding
)

// ends reports whether an instruction ends a block.
func (o op) ends() bool { return o >= opBeq || o == opIllegal || o == opUnsupported }

// Class is a kind of instruction, for example Memory or Branch.
type Class uint8

// The classes of instructions. Multiplication includes divisions. System is system calls and control registers, and
// Precompiled is calls of precompiles.
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

// Classes returns the names of all classes, indexed by Class.
func Classes() (names []string) {
	for c := range classes {
		names = append(names, c.String())
	}
	return names
}

func (c Class) String() string {
	return [...]string{"integer", "multiplication", "memory", "float", "branch", "system", "precompile"}[c]
}

// class returns the class of an operation.
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
