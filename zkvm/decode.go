package zkvm

// decoded is an instruction as the program's table holds it.
type decoded struct {
	address      uint64
	op           uint64
	rd, rs1, rs2 uint64 // rd is the sink if the instruction writes register 0
	z            uint64 // an element that the family of instructions explains
	constant     uint64 // what the second operand is if the operation has codeImmediate
	other        string // mnemonic of an instruction that has no table
}

// The families of instructions. An operation is a family's code with the family's own codes added, which are below
// codesPerFamily. No instruction has code 0.
const (
	codeSums = codesPerFamily * (1 + iota)
	codeLogic
	codeShift
	codeShiftBy
	codeEqual
	codeCompare
	codeJump
	codeWords
	codeNarrowWords
	codeProduct
	codeDivision
	codeCall
	codeEnd // no family: behind all

	codesPerFamily = 64
	families       = codeEnd / codesPerFamily
	codeImmediate  = 1 // the second operand is a constant
)

// family returns the family of an instruction.
func (in *decoded) family() uint64 { return in.op &^ (codesPerFamily - 1) }

// accessed returns the number of bytes that a load or store accesses, and 1 for other instructions.
func (in *decoded) accessed() uint64 {
	n := uint64(1)
	switch in.family() {
	case codeWords:
		n = 8
	case codeNarrowWords:
		n = 2
	default:
		return n
	}
	if in.op&codeSmall != 0 {
		n /= 2
	}
	return n
}

// isBased reports whether an instruction accesses memory at a register plus a constant.
func (in *decoded) isBased() bool {
	return in.family() == codeWords || in.family() == codeNarrowWords
}

// isStore reports whether an instruction writes memory.
func (in *decoded) isStore() bool {
	return in.isBased() && in.op&codeStore != 0
}
