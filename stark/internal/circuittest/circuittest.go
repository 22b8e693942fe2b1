// Package circuittest runs a program of package circuit a second time, with other values than the first time.
// A dishonest prover could do this.
package circuittest

import (
	"fmt"
	"slices"

	"github.com/zkbench/zkbench/goldilocks/poseidon"
	"github.com/zkbench/zkbench/stark/internal/circuit"
)

// Program is a program of package circuit with an index. For each cell the index has the row or the
// permutation that computes it.
type Program struct {
	*circuit.Builder
	rows  map[circuit.Cell]*circuit.Row
	boxes map[circuit.Cell]*circuit.Permutation
}

// New returns the program that b has written down.
func New(b *circuit.Builder) *Program {
	p := &Program{b, make(map[circuit.Cell]*circuit.Row), make(map[circuit.Cell]*circuit.Permutation)}
	for i := range b.Permutations {
		for _, out := range b.Permutations[i].Out {
			p.boxes[out] = &b.Permutations[i]
		}
	}
	for i := range b.Rows {
		r := &b.Rows[i]
		out := r.Cells[circuit.Out]
		if p.rows[out] == nil && p.boxes[out] == nil && out > max(r.Cells[circuit.A], r.Cells[circuit.B], r.Cells[circuit.C]) {
			p.rows[out] = r
		}
	}
	return p
}

// Hints returns the cells that no row or permutation computes from earlier cells. A prover chooses the values
// of these cells.
func (p *Program) Hints() (all []circuit.Cell) {
	for i := range p.Values {
		if c := circuit.Cell(i); p.rows[c] == nil && p.boxes[c] == nil {
			all = append(all, c)
		}
	}
	return all
}

// With runs the program again with other values for some hints and returns the values of all cells.
func (p *Program) With(hints map[circuit.Cell]circuit.X) []circuit.X {
	values := slices.Clone(p.Values)
	for c := range values {
		c := circuit.Cell(c)
		if x, ok := hints[c]; ok {
			values[c] = x
		} else if r := p.rows[c]; r != nil {
			values[c] = p.result(r, values)
		} else if q := p.boxes[c]; q != nil && q.Out[0] == c {
			permute(q, values)
		}
	}
	return values
}

func permute(q *circuit.Permutation, values []circuit.X) {
	var state poseidon.State
	for i, in := range q.In {
		copy(state[2*i:], values[in][:2])
	}
	swap := values[q.Swap][0]
	for i := range poseidon.DigestLen {
		more := state[i+poseidon.DigestLen].Sub(state[i]).Mul(swap)
		state[i], state[i+poseidon.DigestLen] = state[i].Add(more), state[i+poseidon.DigestLen].Sub(more)
	}
	state.Permute()
	for i, out := range q.Out {
		values[out] = circuit.X{state[2*i], state[2*i+1]}
	}
}

func operand(values []circuit.X, c circuit.Cell) (x circuit.X) {
	if c != circuit.None {
		x = values[c]
	}
	return x
}

func (p *Program) result(r *circuit.Row, values []circuit.X) circuit.X {
	return p.Degree.Result(r, operand(values, r.Cells[circuit.A]), operand(values, r.Cells[circuit.B]), operand(values, r.Cells[circuit.C]))
}

// Broken returns the indices of the rows that do not hold for the given values of the cells.
func (p *Program) Broken(values []circuit.X) (rows []int) {
	for i := range p.Rows {
		r := &p.Rows[i]
		z := operand(values, r.Cells[circuit.C])
		if p.result(r, values) != values[r.Cells[circuit.Out]] || r.Bit && p.Degree.Mul(z, z) != z {
			rows = append(rows, i)
		}
	}
	return rows
}

// Check returns an error if a row reads an operand whose cell is circuit.None. A prover could then choose the
// operand's value. It also returns an error if the Swap of a permutation is a cell that no row constrains to
// be a bit and no row sets to 0.
func (p *Program) Check() error {
	bits := make(map[circuit.Cell]bool)
	for i, r := range p.Rows {
		a, b, c := r.Cells[circuit.A] == circuit.None, r.Cells[circuit.B] == circuit.None, r.Cells[circuit.C] == circuit.None
		if a && r.Left != 0 || (a || b) && (r.Product != 0 || r.First != 0) || (b || c) && r.Crossed != 0 || c && (r.Right != 0 || r.Bit) {
			return fmt.Errorf("row %d reads an operand that it does not have: %+v", i, r)
		}
		if r.Cells[circuit.Out] == circuit.None {
			return fmt.Errorf("row %d has no result", i)
		}
		if r.Bit {
			bits[r.Cells[circuit.C]] = true
		}
		if a && b && c && r.Constant == (circuit.X{}) {
			bits[r.Cells[circuit.Out]] = true
		}
	}
	for i, q := range p.Permutations {
		if !bits[q.Swap] {
			return fmt.Errorf("permutation %d: Swap is not a bit", i)
		}
	}
	return nil
}
