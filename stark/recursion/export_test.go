package recursion

import (
	"context"
	"slices"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/internal/circuit"
	"github.com/zkbench/zkbench/stark/poseidon"
)

// Program exports a program in tables to tests.
type Program struct{ p *program }

// NewProgram lays out a program.
func NewProgram(b *circuit.Builder, statement []circuit.Cell, rows int, boxes poseidon.Boxes) Program {
	return Program{newProgram(b, statement, rows, boxes)}
}

// Program returns the system's program.
func (s *System) Program() Program { return Program{s.program} }

// Boxes returns the kind of its S-boxes.
func (p Program) Boxes() poseidon.Boxes { return p.p.boxes }

// Tables returns its tables.
func (p Program) Tables() []*air.Table {
	tables, err := p.p.tables(context.Background(), executor.Serial())
	if err != nil {
		panic(err)
	}
	return tables
}

// Traces returns the traces for the values of all cells.
func (p Program) Traces(values []circuit.X) []stark.Trace { return p.p.traces(values) }

// Times returns how often each operand's cell is sent: first for operations, then for permutations.
func (p Program) Times() []uint64 { return p.p.times }

// Lanes returns how many operations and permutations are in a row.
func (p Program) Lanes() [2]int {
	return [2]int{lanes(len(p.p.operations), p.p.rows), lanes(len(p.p.permutations), p.p.rows)}
}

// Place is an occurrence of a cell. Column is the first of two columns, or the only one for the bit of a
// permutation.
type Place struct {
	Table, Row, Column int
	Cell               circuit.Cell
}

// Places returns all occurrences that have columns. The outputs of permutations have none.
func (p Program) Places() (all []Place) {
	of := p.Lanes()
	for i, r := range p.p.operations {
		for j, c := range r.Cells {
			all = append(all, Place{0, i / of[0], i%of[0]*p.p.operationColumns() + int(p.p.degree)*j, c})
		}
	}
	for i, q := range p.p.permutations {
		first := i % of[1] * p.p.permutationColumns()
		for j, c := range q.In {
			all = append(all, Place{1, i / of[1], first + inColumn + 2*j, c})
		}
		all = append(all, Place{1, i / of[1], first + swapColumn, q.Swap})
	}
	return all
}

// Values returns the values of all cells of the system's program, run on proofs.
func (s *System) Values(proofs []Proof) ([]circuit.X, error) {
	b, _, err := s.run(context.Background(), executor.Serial(), true, func(i int) Proof { return proofs[i] })
	if b == nil {
		return nil, err
	}
	return b.Values, err
}

// Parts returns the parts of a child.
func (c Child) Parts() (system *stark.System, like stark.Statement) {
	return c.system, c.like
}

// Systems returns the systems of all layers.
func (t *Tree) Systems() []*System { return slices.Concat(t.layers...) }
