package zkvm

import (
	"github.com/zkbench/zkbench/stark/air"
)

// machine is the tables of a shape.
type machine struct {
	shape
	sums      *sums
	logic     *logic
	shifts    *shifts
	shiftsBy  *shiftsBy
	equal     *equal
	compare   *compare
	jumps     *jumps
	words     *words
	narrow    *narrowWords
	products  *products
	divisions *divisions
	calls     *calls
	output    *output
	bridges   *bridges
	sponge    *sponge
	program   *programTable
	constants *constants
	data      *data
	regions   *regions
	zeros     *zeros
	registers *registers
	input     *input
	ranges    *halves
	ands      *ands
	powers    *powers
}

func newMachine(s shape) *machine {
	return &machine{
		shape: s,
		sums:  newSums(s), logic: newLogic(s), shifts: newShifts(s), shiftsBy: newShiftsBy(s), equal: newEqual(s), compare: newCompare(s),
		jumps: newJumps(s), words: newWords(s), narrow: newNarrowWords(s), products: newProducts(s), divisions: newDivisions(s), calls: newCalls(s), output: newOutput(s),
		zeros: newZeros(s), bridges: newBridges(s), sponge: newSponge(),
		program: newProgramTable(), constants: newConstants(), data: newData(s), regions: newRegions(s),
		registers: newRegisters(s), input: newInput(s), ranges: newHalves(), ands: newAnds(), powers: newPowers(),
	}
}

// instructions returns the tables of instructions, by their families.
func (m *machine) instructions() []family {
	return []family{
		{codeSums, m.sums},
		{codeLogic, m.logic},
		{codeShift, m.shifts},
		{codeShiftBy, m.shiftsBy},
		{codeEqual, m.equal},
		{codeCompare, m.compare},
		{codeJump, m.jumps},
		{codeWords, m.words},
		{codeNarrowWords, m.narrow},
		{codeProduct, m.products},
		{codeDivision, m.divisions},
		{codeCall, m.calls},
	}
}

// family is a table of instructions, with its code.
type family struct {
	code  uint64
	table interface {
		table
		fill(w *writer, s *step, in *decoded)
	}
}

// all returns the machine's tables, in the order of their traces. Those that answer with what others ask for come
// behind them.
func (m *machine) all() (all []table) {
	for _, f := range m.instructions() {
		all = append(all, f.table)
	}
	return append(all, m.output, m.zeros, m.bridges, m.sponge, m.program, m.constants, m.data, m.regions, m.registers, m.input, m.ranges, m.ands, m.powers)
}

// tables returns the machine's tables as package stark takes them.
func (m *machine) tables() (all []*air.Table) {
	for _, t := range m.all() {
		a := &air.Table{Name: t.name(), Columns: len(t.shapeOf().names), State: func(b *air.Builder) { t.state(builder{b, m.shape}) }}
		switch t := t.(type) {
		case *programTable:
			a.Image = programFixed
		case *constants, *data:
			a.Image = wordFixed
		case *regions:
			a.Image = regionFixed
		case *registers:
			a.Fixed = t.fixed()
		case *halves:
			a.Fixed = t.fixed(m.shape)
		case *powers:
			a.Fixed = t.fixed(m.shape)
		case *ands:
			a.Fixed = t.fixed(m.shape)
		}
		all = append(all, a)
	}
	return all
}
