package recursion

import (
	"context"
	"fmt"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	hash "github.com/zkbench/zkbench/goldilocks/poseidon"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/internal/circuit"
	"github.com/zkbench/zkbench/stark/poseidon"
)

// A program is two tables of one height: of its operations so many in each row, and of its permutations. What
// they do is in fixed columns; the columns have the values of the cells that they read and write. Memory is a
// bus, of a cell's number and what is in it. Of all the places where a cell stands the first one sends this, as
// often as the others receive it: so all have the same value, and it is written once.

// busMemory is the bus: a cell's number, its two elements.
const busMemory = "memory"

// program is a program laid out in tables.
type program struct {
	operations   []circuit.Row
	permutations []circuit.Permutation
	rows         int // of both tables
	boxes        poseidon.Boxes
	// times are how often what is in a cell is sent, of each operand of all operations, and then of permutations.
	times     []uint64
	statement []circuit.Cell // which statements read
}

// lanes is how many of n are in each row.
func lanes(n, rows int) int { return (n + rows - 1) / rows }

// newProgram lays a program out in so many rows, with S-boxes of one kind. The statement reads cells, each once.
func newProgram(b *circuit.Builder, statement []circuit.Cell, rows int, boxes poseidon.Boxes) *program {
	p := &program{operations: b.Rows, permutations: b.Permutations, rows: rows, boxes: boxes, statement: statement}
	type use struct{ first, times int }
	uses := make([]use, len(b.Values))
	stand := func(cells []circuit.Cell) {
		for _, cell := range cells {
			p.times = append(p.times, 0)
			if cell == circuit.None {
				continue
			}
			if u := &uses[cell]; u.times == 0 {
				u.first = len(p.times) - 1
			} else {
				p.times[len(p.times)-1] = goldilocks.Modulus - 1
			}
			uses[cell].times++
		}
	}
	for _, r := range p.operations {
		stand(r.Cells[:])
	}
	for _, q := range p.permutations {
		cells := cellsOf(q)
		stand(cells[:])
	}
	for _, cell := range statement {
		uses[cell].times++
	}
	for _, u := range uses {
		if u.times > 0 { // a hint that nothing reads stands nowhere
			p.times[u.first] = uint64(u.times - 1)
		}
	}
	return p
}

// The operands of a permutation: pairs that go in, pairs that come out, and the bit that exchanges two of them.
const (
	outOperand  = circuit.Pairs
	swapOperand = 2 * circuit.Pairs
	operands    = swapOperand + 1
)

func cellsOf(q circuit.Permutation) (cells [operands]circuit.Cell) {
	copy(cells[:], q.In[:])
	copy(cells[outOperand:], q.Out[:])
	cells[swapOperand] = q.Swap
	return cells
}

// Fixed columns of a lane of operations, behind those of its operands, two of each: the cell, and its times.
const (
	product = 2*circuit.Operands + iota
	conjugate
	crossed
	left
	right
	constant
	bit            = constant + 2
	operationFixed = bit + 1
)

// Columns of a lane of operations: of each operand two elements.
const operationColumns = 2 * circuit.Operands

// memory sends what is in a cell, by the two fixed columns of the place where it stands.
func memory(b *air.Builder, fixed int, first, second air.Expr) {
	b.Send(busMemory, b.Fixed(fixed+1), b.Fixed(fixed), first, second)
}

// nonResidue is the square of the extension's element of which pairs' second elements are multiples.
var nonResidue = int64(circuit.X{0, 1}.Square()[0])

// operationsTable has so many lanes.
func (p *program) operationsTable() *air.Table {
	n := lanes(len(p.operations), p.rows)
	return &air.Table{Name: "operations", Columns: n * operationColumns, Fixed: p.fixedOperations(n), State: func(b *air.Builder) {
		for lane := range n {
			operation(b, lane)
		}
	}}
}

func operation(b *air.Builder, lane int) {
	fixed := func(i int) air.Expr { return b.Fixed(lane*operationFixed + i) }
	var at [circuit.Operands][2]air.Expr
	for i := range at {
		for k := range at[i] {
			at[i][k] = b.Here(lane*operationColumns + 2*i + k)
		}
		memory(b, lane*operationFixed+2*i, at[i][0], at[i][1])
	}
	x, y, z := at[circuit.A], at[circuit.B], at[circuit.C]
	// Products of pairs, of one half each: x₀ y₀ and 7 x₁ y₁; x₀ y₁ and x₁ y₀.
	xy := [4]air.Expr{x[0].Mul(y[0]), x[1].Mul(y[1]).Times(nonResidue), x[0].Mul(y[1]), x[1].Mul(y[0])}
	yz := [2]air.Expr{y[0].Mul(z[0]).Add(y[1].Mul(z[1]).Times(nonResidue)), y[0].Mul(z[1]).Add(y[1].Mul(z[0]))}
	straight := [2]air.Expr{xy[0].Add(xy[1]), xy[2].Add(xy[3])}
	conjugated := [2]air.Expr{xy[0].Sub(xy[1]), xy[3].Sub(xy[2])}
	for k, name := range []string{"first", "second"} {
		sum := fixed(product).Mul(straight[k]).Add(fixed(conjugate).Mul(conjugated[k])).Add(fixed(crossed).Mul(yz[k])).
			Add(fixed(left).Mul(x[k])).Add(fixed(right).Mul(z[k])).Add(fixed(constant + k))
		b.Zero(air.Everywhere, fmt.Sprintf("operation of lane %d, %s element", lane, name), sum.Sub(at[circuit.Out][k]))
	}
	square := [2]air.Expr{z[0].Mul(z[0]).Add(z[1].Mul(z[1]).Times(nonResidue)), z[0].Mul(z[1]).Times(2)}
	for k, name := range []string{"first", "second"} {
		b.Zero(air.Everywhere, fmt.Sprintf("bit of lane %d, %s element", lane, name), fixed(bit).Mul(square[k].Sub(z[k])))
	}
}

// matrix is one of so many columns of so many rows.
func matrix(columns, rows int) [][]uint64 {
	m := make([][]uint64, columns)
	for i := range m {
		m[i] = make([]uint64, rows)
	}
	return m
}

func (p *program) fixedOperations(n int) [][]uint64 {
	m := matrix(n*operationFixed, p.rows)
	for i, r := range p.operations {
		row, of := i/n, m[i%n*operationFixed:]
		p.setMemory(of, row, i*circuit.Operands, r.Cells[:])
		for j, v := range [...]goldilocks.Element{r.Product, r.Conjugate, r.Crossed, r.Left, r.Right, r.Constant[0], r.Constant[1]} {
			of[product+j][row] = uint64(v)
		}
		if r.Bit {
			of[bit][row] = 1
		}
	}
	return m
}

// setMemory sets the fixed columns of cells, which begin with operand first of all.
func (p *program) setMemory(of [][]uint64, row, first int, cells []circuit.Cell) {
	for j, cell := range cells {
		if cell != circuit.None {
			of[2*j][row], of[2*j+1][row] = uint64(cell), p.times[first+j]
		}
	}
}

// Columns of a lane of permutations, before those of poseidon.State: what goes in, the first pairs of it as they
// are permuted, and the bit.
const (
	inColumn         = 0
	permutedColumn   = hash.Width
	swapColumn       = permutedColumn + 2*hash.DigestLen
	boxesColumn      = swapColumn + 1
	permutationFixed = 2 * operands
)

// permutationColumns is how many a lane has.
func (p *program) permutationColumns() int { return boxesColumn + p.boxes.Columns() }

func (p *program) permutationsTable() *air.Table {
	n := lanes(len(p.permutations), p.rows)
	return &air.Table{Name: "permutations", Columns: n * p.permutationColumns(), Fixed: p.fixedPermutations(n), State: func(b *air.Builder) {
		for lane := range n {
			p.permutation(b, lane)
		}
	}}
}

func (p *program) permutation(b *air.Builder, lane int) {
	here := func(i int) air.Expr { return b.Here(lane*p.permutationColumns() + i) }
	port := func(operand int, first, second air.Expr) {
		memory(b, lane*permutationFixed+2*operand, first, second)
	}
	var in [hash.Width]air.Expr
	for i := range in {
		in[i] = here(inColumn + i)
	}
	for i := range circuit.Pairs {
		port(i, in[2*i], in[2*i+1])
	}
	port(swapOperand, here(swapColumn), air.Expr{})
	permuted := in
	for i := range 2 * hash.DigestLen {
		permuted[i] = here(permutedColumn + i)
		exchanged := here(swapColumn).Mul(in[i^hash.DigestLen].Sub(in[i])).Add(in[i])
		b.Zero(air.Everywhere, fmt.Sprintf("order of lane %d, element %d", lane, i), permuted[i].Sub(exchanged))
	}
	out := poseidon.State(b, permuted, p.boxes, lane*p.permutationColumns()+boxesColumn)
	for i := range circuit.Pairs {
		port(outOperand+i, out[2*i], out[2*i+1])
	}
}

func (p *program) fixedPermutations(n int) [][]uint64 {
	m := matrix(n*permutationFixed, p.rows)
	for i, q := range p.permutations {
		cells := cellsOf(q)
		p.setMemory(m[i%n*permutationFixed:], i/n, len(p.operations)*circuit.Operands+i*operands, cells[:])
	}
	return m
}

// traces are of the values of all cells.
func (p *program) traces(values []circuit.X) []stark.Trace {
	trace := func(lanes int, fill func(cells *stark.Cells, i, row, lane int)) stark.Trace {
		return stark.Trace{Rows: p.rows, Fill: func(ctx context.Context, ex executor.Executor, cells *stark.Cells) error {
			return ex.Do(ctx, p.rows, func(_ context.Context, row int) error {
				for lane := range lanes {
					fill(cells, row*lanes+lane, row, lane)
				}
				return nil
			})
		}}
	}
	pair := func(cells *stark.Cells, row, column int, c circuit.Cell) (x circuit.X) {
		if c != circuit.None {
			x = values[c]
		}
		cells.Set(row, column, uint64(x[0]))
		cells.Set(row, column+1, uint64(x[1]))
		return x
	}
	operations := func(cells *stark.Cells, i, row, lane int) {
		if i >= len(p.operations) {
			return
		}
		for j, c := range p.operations[i].Cells {
			pair(cells, row, lane*operationColumns+2*j, c)
		}
	}
	permutations := func(cells *stark.Cells, i, row, lane int) {
		first := lane * p.permutationColumns()
		var state hash.State
		var swap goldilocks.Element
		if i < len(p.permutations) {
			for j, c := range p.permutations[i].In {
				x := pair(cells, row, first+inColumn+2*j, c)
				state[2*j], state[2*j+1] = x[0], x[1]
			}
			swap = values[p.permutations[i].Swap][0]
			cells.Set(row, first+swapColumn, uint64(swap))
		}
		permuted := state
		for j := range 2 * hash.DigestLen {
			permuted[j] = state[j].Add(swap.Mul(state[j^hash.DigestLen].Sub(state[j])))
			cells.Set(row, first+permutedColumn+j, uint64(permuted[j]))
		}
		poseidon.Fill(cells, row, p.boxes, first+boxesColumn, permuted)
	}
	return []stark.Trace{
		trace(lanes(len(p.operations), p.rows), operations),
		trace(lanes(len(p.permutations), p.rows), permutations),
	}
}
