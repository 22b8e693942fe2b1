package zkvm

import (
	"cmp"
	"context"
	"slices"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/riscv"
	"github.com/zkbench/zkbench/riscv/call"
	"github.com/zkbench/zkbench/stark"
)

// execution is a run of a program, as the rows of the tables.
type execution struct {
	*machine
	program   *Program
	options   riscv.Options
	counted   bool   // rows are counted and not kept
	inputAt   uint64 // address of the input
	memory    memory
	rows      [families]rows[step] // by the family of instructions
	committed rows[outputByte]
	bridged   rows[bridge]
	output    []byte // what was committed, if rows are kept
	cells     [allRegisters]seen
	time      uint64 // when the next instruction begins
	last      int    // index of the last instruction
}

// start is the time at which the first instruction begins. Cells have time 0 at first.
const start = accesses

func newExecution(m *machine, p *Program) *execution {
	x := &execution{machine: m, program: p, inputAt: riscv.InputAddress, memory: make(memory), time: start}
	for _, c := range p.data {
		x.memory.cell(c.address).value = c.value
	}
	return x
}

// access accesses a cell at a time, when it gets new content, and returns what it was. A cell that was accessed too
// long ago is brought nearer first.
func (x *execution) access(space, address uint64, cell *seen, at, now uint64) (found seen) {
	if at-cell.time > uint64(x.halves()) {
		x.bridged.add(bridge{space: space, address: address, seen: *cell, to: at - 1}, x.counted)
		cell.time = at - 1
	}
	found = *cell
	*cell = seen{now, at}
	return found
}

// read reads a register as access k of the instruction that begins now.
func (x *execution) read(register, k uint64) seen { return x.set(register, k, x.cells[register].value) }

// set writes a register as access k of the instruction that begins now.
func (x *execution) set(register, k, value uint64) seen {
	return x.access(spaceRegisters, register, &x.cells[register], x.time+k, value)
}

// step adds an executed instruction.
func (x *execution) step(s step) {
	in := &x.program.instructions[s.index]
	s.time = x.time
	switch in.family() {
	case codeCall:
		x.call(&s)
	case codeJump:
		if in.op&codeJalr != 0 {
			s.a = x.read(in.rs1, 0)
		}
		s.old = x.write(in.rd, in.constant)
	case codeEqual:
		s.a, s.b = x.read(in.rs1, 0), x.read(in.rs2, 1)
	case codeShift:
		s.a = x.read(in.rs1, 0)
		s.old = x.write(in.rd, s.result)
	case codeWords, codeNarrowWords:
		s.a = x.read(in.rs1, 0)
		s.memory, s.readOnly = x.load(s.address/8, s.stored)
		s.old = x.write(in.rd, s.result)
	default:
		s.a = x.read(in.rs1, 0)
		if s.b.value = in.constant; in.op&codeImmediate == 0 {
			s.b = x.read(in.rs2, 1)
		}
		if kind := in.op &^ (codeImmediate | codeSigned); in.family() != codeCompare || kind == codeSet {
			s.old = x.write(in.rd, s.result)
		}
	}
	x.rows[in.family()/codesPerFamily].add(s, x.counted)
	x.time += accesses
	if in.family() == codeCall && s.a.value == call.Commit {
		x.commit(s.index+1, s.b.value, s.old.value)
	}
}

// write writes a register as the last access of the instruction that begins now.
func (x *execution) write(register, value uint64) seen { return x.set(register, accesses-1, value) }

// commit adds n bytes at an address to the output. The instruction behind the call has the given index.
func (x *execution) commit(index int, address, n uint64) {
	for ; n > 0; n-- {
		content := x.content(address / wordBytes)
		value := content >> (8 * (address % wordBytes)) & 0xff
		o := outputByte{index: index, time: x.time, address: address, left: n}
		position, element := x.outputCells(x.cells[cellPosition].value, x.cells[cellElement].value, value)
		o.position, o.element = x.set(cellPosition, 0, position), x.set(cellElement, 1, element)
		o.memory, o.readOnly = x.load(address/wordBytes, content)
		x.committed.add(o, x.counted)
		if !x.counted {
			x.output = append(x.output, byte(value))
		}
		x.time += accesses
		address++
	}
}

// load accesses a cell of memory, which holds stored afterwards. If the program never writes the cell, load returns 1 plus
// its number.
func (x *execution) load(address, stored uint64) (found seen, readOnly int) {
	if value, number := x.constant(address); number > 0 {
		return seen{value: value}, number
	}
	return x.written(address, stored), 0
}

// written accesses a cell of memory that can be written.
func (x *execution) written(address, stored uint64) (found seen) {
	c, at := x.memory.cell(address), x.time+2
	if !c.touched {
		c.touched, c.first, c.time = true, at-1, at-1
	}
	return x.access(spaceMemory, address, &c.seen, at, stored)
}

// content returns what a cell of memory holds.
func (x *execution) content(address uint64) uint64 {
	if value, number := x.constant(address); number > 0 {
		return value
	}
	return x.memory.cell(address).value
}

// constant returns what a cell holds that is never written and 1 plus its number, or 0 if it is no such cell.
func (x *execution) constant(address uint64) (value uint64, number int) {
	constants, input := x.program.constants, x.options.Input
	if i := address - x.inputAt/wordBytes; i < uint64(wordsOf(input)) {
		return inputWord(input, int(i)), len(constants) + int(i) + 1
	}
	if n := len(constants); n == 0 || address < constants[0].address || address > constants[n-1].address {
		return 0, 0
	}
	i, ok := slices.BinarySearchFunc(constants, address, func(c fixedWord, address uint64) int { return cmp.Compare(c.address, address) })
	if !ok {
		return 0, 0
	}
	return constants[i].value, i + 1
}

// traces returns the traces of the tables, in heights of the form. They are filled once, in order.
func (x *execution) traces(form stark.Form) (all []stark.Trace) {
	m, constants := x.machine, len(x.program.constants)
	fresh := func() *counts { return newCounts(x.shape, x.program, wordsOf(x.options.Input)) }
	sofar := fresh() // counts of the tables that have been filled
	add := func(fill stark.Trace) {
		fill.Rows = form[len(all)]
		all = append(all, fill)
	}
	// rows fills n rows, each by itself, and counts what they ask for.
	rows := func(n int, fill func(w *writer, i int)) {
		add(stark.Trace{Fill: func(ctx context.Context, ex executor.Executor, cells *stark.Cells) error {
			of := tally{fresh: fresh}
			err := ex.Do(ctx, (n+together-1)/together, func(_ context.Context, task int) error {
				w := &writer{shape: x.shape, all: cells, cells: stark.Columns[uint64](cells), counts: of.take()}
				defer of.give(w.counts)
				for w.row = task * together; w.row < min((task+1)*together, n); w.row++ {
					fill(w, w.row)
				}
				return nil
			})
			if err != nil {
				return err
			}
			return of.addTo(ctx, ex, sofar)
		}})
	}
	// asked fills columns with counts of all tables before.
	asked := func(of func(c *counts) [][]uint32) {
		add(stark.Trace{Fill: func(_ context.Context, _ executor.Executor, cells *stark.Cells) error {
			for column, counts := range of(sofar) {
				for row, n := range counts {
					cells.Set(row, column, uint64(n))
				}
			}
			return nil
		}})
	}
	for _, f := range m.instructions() {
		steps := &x.rows[f.code/codesPerFamily]
		rows(steps.n, func(w *writer, i int) {
			s := steps.at(i)
			f.table.fill(w, s, &x.program.instructions[s.index])
		})
	}
	rows(x.committed.n, func(w *writer, i int) { m.output.fill(w, x.committed.at(i), x.committed.n-1-i) })
	first, others := x.memory.zeros(x.program.regions)
	rows(len(others), func(w *writer, i int) { m.zeros.fill(w, &others[i]) })
	rows(x.bridged.n, func(w *writer, i int) { m.bridges.fill(w, x.bridged.at(i)) })
	absorbed := slices.Concat(absorbedBy(streamInput, x.options.Input), absorbedBy(streamOutput, x.output))
	absorbing := min(len(absorbed)+1, form[len(all)])
	rows(absorbing, func(w *writer, i int) {
		if i < len(absorbed) {
			m.sponge.fill(w, &absorbed[i])
		} else {
			m.sponge.fill(w, nil)
		}
	})
	repeatLast(&all[len(all)-1], absorbing)
	asked(func(c *counts) [][]uint32 { return [][]uint32{c.instructions, c.constants, c.targets} })
	asked(func(c *counts) [][]uint32 { return [][]uint32{c.loaded[:constants]} })
	rows(len(x.program.data), func(w *writer, i int) { m.data.fill(w, x.memory.cell(x.program.data[i].address)) })
	rows(len(x.program.regions), func(w *writer, i int) { m.regions.fill(w, &first[i]) })
	rows(allRegisters, func(w *writer, i int) { m.registers.fill(w, x.cells[i]) })
	rows(form[len(all)], func(w *writer, i int) { m.input.fill(w, x.options.Input, i, sofar.loaded[constants:]) })
	asked(func(c *counts) [][]uint32 { return [][]uint32{c.halves, c.signs} })
	asked(func(c *counts) [][]uint32 { return [][]uint32{c.ands, c.bytes} })
	asked(func(c *counts) [][]uint32 { return [][]uint32{c.powers} })
	return all
}

// together is the number of rows that a task fills, and of rows that are stored together.
const together = 1 << 10

// repeatLast makes the rows of a trace that fills n rows, at least 1, like the last of these. Rows of no stream have a permutation,
// which takes long.
func repeatLast(t *stark.Trace, n int) {
	fill := t.Fill
	t.Fill = func(ctx context.Context, ex executor.Executor, cells *stark.Cells) error {
		if err := fill(ctx, ex, cells); err != nil {
			return err
		}
		columns := stark.Columns[uint64](cells)
		return ex.Do(ctx, len(columns), func(_ context.Context, i int) error {
			for row := n; row < len(columns[i]); row++ {
				columns[i][row] = columns[i][n-1]
			}
			return nil
		})
	}
}

// halted returns the time at which the program's last instruction began.
func (x *execution) halted() uint64 { return x.time - accesses }

// leastRows is the least height of a table: parameters of 100 bits are proved for no lower ones.
const leastRows = 64

// count returns the number of rows of each table, without padding.
func (x *execution) count() (all []int) {
	for _, f := range x.instructions() {
		all = append(all, x.rows[f.code/codesPerFamily].n)
	}
	p, input := x.program, x.options.Input
	_, others := x.memory.zeros(p.regions)
	return append(all, x.committed.n, len(others), x.bridged.n, spongeRows(len(input))+spongeRows(x.committed.n),
		len(p.instructions), len(p.constants), len(p.data), len(p.regions), allRegisters, inputRows(input), int(x.halves()), 1<<(2*x.byte), x.powers.rows(x.shape))
}

// least returns the least heights that hold the rows.
func (x *execution) least() (form stark.Form) {
	for _, n := range x.count() {
		form = append(form, heightOf(n))
	}
	return form
}

// heightOf returns the least height of a table with the given number of rows.
func heightOf(rows int) int { return stark.Params{}.Height(max(rows, leastRows)) }
