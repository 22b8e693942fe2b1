package zkvm

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/riscv"
	"github.com/zkbench/zkbench/riscv/call"
	"github.com/zkbench/zkbench/stark"
)

// A Counter counts the rows that a run takes in the tables of a proof, while the program runs. It keeps no rows: its memory
// grows with the memory that the program touches, and not with the length of the run.
//
//	c, err := zkvm.NewCounter(program, options)
//	options.Trace = c.Step
//	result, err := riscv.Run(ctx, program, options)
//	cost, err := c.Cost()
type Counter struct {
	x        *execution
	cycles   uint64
	unproved map[string]uint64
}

// NewCounter returns a Counter of a run of a program for 64 bits with the given options. The program may be one whose runs have
// no proof, for example one for Linux: what has no row is counted by itself. The registers of threads are counted as one set.
// NewCounter returns zkbench.ErrParams for a program for 32 bits, and a *zkbench.LimitError if its segments have more
// than 2^23 bytes, without those that are zero at first and can be written.
func NewCounter(p *riscv.Program, o riscv.Options) (*Counter, error) {
	if p.ISA.XLEN != 64 {
		return nil, fmt.Errorf("%w: a program for %v, accepted is one for 64 bits", zkbench.ErrParams, p.ISA)
	}
	of, err := newProgram(p)
	if err != nil {
		return nil, err
	}
	of.unsegmented()
	x := newExecution(newMachine(rv64), of)
	x.options, x.counted = o, true
	x.step(step{})
	return &Counter{x: x, unproved: make(map[string]uint64)}, nil
}

// unsegmented adds the regions between the program's segments, in which a program for Linux has its stack and its heap.
func (p *Program) unsegmented() {
	end := uint64(0)
	for _, s := range p.guest.Segments() {
		if end < s.Start/wordBytes {
			p.regions = append(p.regions, region{end, s.Start / wordBytes})
		}
		end = (s.End + wordBytes - 1) / wordBytes
	}
	p.regions = append(p.regions, region{end, 1 << 61})
}

// Step counts an instruction. It is the function for riscv.Options.Trace.
func (c *Counter) Step(s riscv.Step) {
	if s.Call != nil {
		// An instruction without a row, or another thread, may have written these registers.
		for i, register := range []uint64{a0, a1} {
			c.x.cells[register].value = s.Call.Arguments[i]
		}
		if c.x.cells[a7].value = s.Call.Number; s.Call.Number == call.Input {
			c.x.inputAt = s.Call.Results[0]
		}
	}
	if err := c.x.trace(s); err == nil {
		c.cycles++
	} else if without, ok := errors.AsType[*unproved](err); ok {
		c.unproved[without.what]++
	}
}

// Cost is what a run takes in the tables of a proof.
type Cost struct {
	Cycles   uint64      // retired instructions that have rows
	Unproved []Unproved  // those that have none, the most frequent first
	Tables   []TableCost // in the order of the proof
	Form     string      // name of the form of the heights
	// Proofs is 1 if the form holds the run, as Prove takes it. Otherwise it is the number of proofs of this form that have enough
	// rows, if those of each table are spread over them evenly. It is the one of the largest forms that takes the fewest cells.
	// Package zkvm does not prove a run in several proofs, and what it would take to pass memory from one to the next is not counted.
	Proofs int
}

// Unproved is a kind of instructions that have no proof.
type Unproved struct {
	Name  string // a mnemonic, a call, or what an instruction of RV64IM does that has no proof
	Times uint64
}

// TableCost is the size of a table.
type TableCost struct {
	Name   string
	Rows   int // of the run, without padding
	Height int // rows with padding, in one proof
	Cells  int // in a row
}

// Cells returns the number of cells of all proofs, with padding. If there is one, they are those of its Plan.
func (c *Cost) Cells() (n int) {
	for _, t := range c.Tables {
		n += c.Proofs * t.Height * t.Cells
	}
	return n
}

// Least returns the number of cells if there were a form with the least heights that hold the run in one proof.
func (c *Cost) Least() (n int) {
	for _, t := range c.Tables {
		n += heightOf(t.Rows) * t.Cells
	}
	return n
}

// Cost returns what the run has taken up to now.
func (c *Counter) Cost() (*Cost, error) {
	s, err := systemOf("")
	if err != nil {
		return nil, err
	}
	widths, err := s.widths()
	if err != nil {
		return nil, err
	}
	rows, forms := c.x.count(), s.forms(c.x.program.heights())
	proofs, form := 1, 0
	fits, err := s.Fit(forms, c.x.least())
	if _, ok := errors.AsType[*zkbench.LimitError](err); ok {
		proofs, form = split(forms, rows, widths)
	} else if err != nil {
		return nil, err
	} else {
		form = slices.IndexFunc(forms, func(f stark.Form) bool { return slices.Equal(f, fits) })
	}
	cost := &Cost{Cycles: c.cycles, Form: formName(form), Proofs: proofs}
	for i, t := range s.all() {
		cost.Tables = append(cost.Tables, TableCost{Name: t.name(), Rows: rows[i], Height: forms[form][i], Cells: widths[i]})
	}
	for _, name := range slices.Sorted(maps.Keys(c.unproved)) {
		cost.Unproved = append(cost.Unproved, Unproved{name, c.unproved[name]})
	}
	slices.SortStableFunc(cost.Unproved, func(a, b Unproved) int { return cmp.Compare(b.Times, a.Times) })
	return cost, nil
}

// split returns which of the largest forms takes the fewest cells for a run that no form holds, and how many proofs that are.
func split(forms []stark.Form, rows, widths []int) (proofs, form int) {
	least := 0
	for i := len(forms) - len(sizes[len(sizes)-1].mixes); i < len(forms); i++ {
		n, cells := 1, 0
		for t, height := range forms[i] {
			n = max(n, (rows[t]+height-1)/height)
			cells += height * widths[t]
		}
		if least == 0 || n*cells < least {
			least, proofs, form = n*cells, n, i
		}
	}
	return proofs, form
}
