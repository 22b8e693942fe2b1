package zkvm

import "github.com/zkbench/zkbench/stark/air"

// programTable is the table of the program: its instructions, with how often each is executed, its constant is read, and a jalr leads to it.
// Its fixed columns are the program's, not the system's.
type programTable struct {
	columns
	executed, constants, targets column
}

// The fixed columns of a program.
const (
	fixedIndex = iota
	fixedOp
	fixedRd
	fixedRs1
	fixedRs2
	fixedZ
	fixedLo // limbs of the constant
	fixedHi
	fixedAddress
	programFixed
)

func newProgramTable() *programTable {
	t := &programTable{}
	t.executed, t.constants, t.targets = t.column("executed", free), t.column("constants", free), t.column("targets", free)
	return t
}

func (*programTable) name() string        { return "program" }
func (t *programTable) shapeOf() *columns { return &t.columns }

func (t *programTable) state(b builder) {
	f := b.Fixed
	b.Answer(busProgram, b.at(t.executed), f(fixedIndex), f(fixedOp), f(fixedRd), f(fixedRs1), f(fixedRs2), f(fixedZ))
	// A constant is a register that every instruction can read and none can write.
	b.Answer(busCell, b.at(t.constants), air.Constant(spaceRegisters), f(fixedIndex).Plus(firstConstant), f(fixedLo), f(fixedHi), zero)
	b.Answer(busTarget, b.at(t.targets), f(fixedAddress), f(fixedIndex))
}

// noAddress is the address of rows without an instruction: more than any sum of a jalr.
const noAddress = 1 << 62

// image returns the fixed columns of a program, in the given number of rows. Rows behind the program have operation
// 0, which no instruction has.
func image(s shape, program []decoded, rows int) [][]uint64 {
	all := make([][]uint64, programFixed)
	for i := range all {
		all[i] = make([]uint64, rows)
	}
	for i := range rows {
		all[fixedIndex][i], all[fixedAddress][i] = uint64(i), noAddress
	}
	for i, in := range program {
		lo, hi := s.split(in.constant)
		for column, v := range [programFixed]uint64{uint64(i), in.op, in.rd, in.rs1, in.rs2, in.z, lo, hi, in.address} {
			all[column][i] = v
		}
	}
	return all
}
