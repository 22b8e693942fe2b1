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

// A program is two tables of one height: one of operations, with the same number in each row, and one of
// permutations. Fixed columns hold what they do. The other columns hold the values of the cells that they
// read and write. Memory is a bus, with a cell's number and its content. The first occurrence of a cell
// answers with this, and all others ask for it, once each. So all have the same value, and each cell is
// written once.

// busMemory is the bus of a cell's number and its coordinates.
const busMemory = "memory"

// program is a program laid out in tables.
type program struct {
	degree       circuit.Degree
	operations   []circuit.Row
	permutations []circuit.Permutation
	rows         int // of both tables
	boxes        poseidon.Boxes
	// times says how often each operand answers with the content of its cell, over all operations and then
	// all permutations. It is -1 for an operand that asks.
	times     []uint64
	statement []circuit.Cell // the cells that statements read
}

// form returns the form of the program's proofs.
func (p *program) form() stark.Form { return stark.Form{p.rows, p.rows} }

// lanes returns how many of n are in each row.
func lanes(n, rows int) int { return (n + rows - 1) / rows }

// newProgram lays out a program in the given number of rows, with S-boxes of one kind. The statement reads
// its cells once each.
func newProgram(b *circuit.Builder, statement []circuit.Cell, rows int, boxes poseidon.Boxes) *program {
	p := &program{degree: b.Degree, operations: b.Rows, permutations: b.Permutations, rows: rows, boxes: boxes, statement: statement}
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
		if u.times > 0 { // a hint that nothing reads occurs nowhere
			p.times[u.first] = uint64(u.times - 1)
		}
	}
	return p
}

// The operands of a permutation: the pairs of its input, the pairs of its output, and the bit that exchanges
// pairs of its input.
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

// Fixed columns of a lane of operations. Those of its operands come before: two for each, the cell and its
// times. Those of the constant's coordinates come last.
const (
	product = 2*circuit.Operands + iota
	first
	crossed
	left
	right
	bit
	constant
)

// operationFixed returns the number of fixed columns in a lane of operations.
func (p *program) operationFixed() int { return constant + int(p.degree) }

// operationColumns returns the number of columns in a lane of operations: the coordinates of each operand.
func (p *program) operationColumns() int { return circuit.Operands * int(p.degree) }

// memory answers with the content of a cell, or asks for it, by the two fixed columns of its occurrence.
// Missing coordinates are 0.
func (p *program) memory(b *air.Builder, fixed int, coordinates ...air.Expr) {
	tuple := make([]air.Expr, 1+p.degree)
	tuple[0] = b.Fixed(fixed)
	copy(tuple[1:], coordinates)
	b.Link(busMemory, fixed+1, tuple...)
}

// chunk is the number of rows of fixed columns that a task fills.
const chunk = 64

// tables returns the tables of operations and of permutations.
func (p *program) tables(ctx context.Context, ex executor.Executor) ([]*air.Table, error) {
	both := []*air.Table{p.operationsTable(), p.permutationsTable()}
	for _, t := range both {
		err := ex.Do(ctx, len(t.Fixed), func(_ context.Context, i int) error {
			t.Fixed[i] = make([]uint64, p.rows)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return both, ex.Do(ctx, (p.rows+chunk-1)/chunk, func(_ context.Context, i int) error {
		from, to := i*chunk, min((i+1)*chunk, p.rows)
		p.fixOperations(both[0].Fixed, from, to)
		p.fixPermutations(both[1].Fixed, from, to)
		return nil
	})
}

// operationsTable returns the table of operations, without the content of its fixed columns.
func (p *program) operationsTable() *air.Table {
	n := lanes(len(p.operations), p.rows)
	return &air.Table{Name: "operations", Columns: n * p.operationColumns(), Fixed: make([][]uint64, n*p.operationFixed()), State: func(b *air.Builder) {
		for lane := range n {
			p.operation(b, lane)
		}
	}}
}

// products returns the coordinates of x y.
func (p *program) products(x, y []air.Expr) (xy []air.Expr) {
	xy = make([]air.Expr, p.degree)
	for i := range x {
		for j := range y {
			var units [2]circuit.X
			units[0][i], units[1][j] = 1, 1
			for k, times := range p.degree.Mul(units[0], units[1]) {
				if times != 0 {
					xy[k] = xy[k].Add(x[i].Mul(y[j]).Times(int64(times)))
				}
			}
		}
	}
	return xy
}

func (p *program) operation(b *air.Builder, lane int) {
	fixed := func(i int) air.Expr { return b.Fixed(lane*p.operationFixed() + i) }
	var at [circuit.Operands][]air.Expr
	for i := range at {
		for k := range int(p.degree) {
			at[i] = append(at[i], b.Here(lane*p.operationColumns()+int(p.degree)*i+k))
		}
		p.memory(b, lane*p.operationFixed()+2*i, at[i]...)
	}
	x, y, z := at[circuit.A], at[circuit.B], at[circuit.C]
	xy, yz, square := p.products(x, y), p.products(y, z), p.products(z, z)
	for k, out := range at[circuit.Out] {
		sum := fixed(product).Mul(xy[k]).Add(fixed(first).Mul(x[k].Mul(y[0]))).Add(fixed(crossed).Mul(yz[k])).
			Add(fixed(left).Mul(x[k])).Add(fixed(right).Mul(z[k])).Add(fixed(constant + k))
		b.Zero(air.Everywhere, fmt.Sprintf("operation of lane %d, element %d", lane, k), sum.Sub(out))
	}
	for k := range square {
		b.Zero(air.Everywhere, fmt.Sprintf("bit of lane %d, element %d", lane, k), fixed(bit).Mul(square[k].Sub(z[k])))
	}
}

// fixOperations fills the fixed columns of the rows from from to to.
func (p *program) fixOperations(m [][]uint64, from, to int) {
	n := lanes(len(p.operations), p.rows)
	for i := from * n; i < min(to*n, len(p.operations)); i++ {
		r := &p.operations[i]
		row, of := i/n, m[i%n*p.operationFixed():]
		p.setMemory(of, row, i*circuit.Operands, r.Cells[:])
		for j, v := range [...]goldilocks.Element{r.Product, r.First, r.Crossed, r.Left, r.Right} {
			of[product+j][row] = uint64(v)
		}
		for k, v := range r.Constant[:p.degree] {
			of[constant+k][row] = uint64(v)
		}
		if r.Bit {
			of[bit][row] = 1
		}
	}
}

// setMemory sets the fixed columns of an operation's or a permutation's cells. Its first operand has the
// given number among all operands.
func (p *program) setMemory(of [][]uint64, row, first int, cells []circuit.Cell) {
	for j, cell := range cells {
		if cell != circuit.None {
			of[2*j][row], of[2*j+1][row] = uint64(cell), p.times[first+j]
		}
	}
}

// Columns of a lane of permutations, before those of poseidon.State: the input, its first pairs as they are
// permuted, and the bit.
const (
	inColumn         = 0
	permutedColumn   = hash.Width
	swapColumn       = permutedColumn + 2*hash.DigestLen
	boxesColumn      = swapColumn + 1
	permutationFixed = 2 * operands
)

// permutationColumns returns the number of columns in a lane of permutations.
func (p *program) permutationColumns() int { return boxesColumn + p.boxes.Columns() }

// permutationsTable returns the table of permutations, without the content of its fixed columns.
func (p *program) permutationsTable() *air.Table {
	n := lanes(len(p.permutations), p.rows)
	return &air.Table{Name: "permutations", Columns: n * p.permutationColumns(), Fixed: make([][]uint64, n*permutationFixed), State: func(b *air.Builder) {
		for lane := range n {
			p.permutation(b, lane)
		}
	}}
}

func (p *program) permutation(b *air.Builder, lane int) {
	here := func(i int) air.Expr { return b.Here(lane*p.permutationColumns() + i) }
	port := func(operand int, elements ...air.Expr) {
		p.memory(b, lane*permutationFixed+2*operand, elements...)
	}
	var in [hash.Width]air.Expr
	for i := range in {
		in[i] = here(inColumn + i)
	}
	for i := range circuit.Pairs {
		port(i, in[2*i], in[2*i+1])
	}
	port(swapOperand, here(swapColumn))
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

// fixPermutations fills the fixed columns of the rows from from to to.
func (p *program) fixPermutations(m [][]uint64, from, to int) {
	n := lanes(len(p.permutations), p.rows)
	for i := from * n; i < min(to*n, len(p.permutations)); i++ {
		cells := cellsOf(p.permutations[i])
		p.setMemory(m[i%n*permutationFixed:], i/n, len(p.operations)*circuit.Operands+i*operands, cells[:])
	}
}

// traces returns the traces for the values of all cells.
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
	set := func(cells *stark.Cells, row, column, coordinates int, c circuit.Cell) (x circuit.X) {
		if c != circuit.None {
			x = values[c]
		}
		for k := range coordinates {
			cells.Set(row, column+k, uint64(x[k]))
		}
		return x
	}
	operations := func(cells *stark.Cells, i, row, lane int) {
		if i >= len(p.operations) {
			return
		}
		for j, c := range p.operations[i].Cells {
			set(cells, row, lane*p.operationColumns()+int(p.degree)*j, int(p.degree), c)
		}
	}
	permutations := func(cells *stark.Cells, i, row, lane int) {
		first := lane * p.permutationColumns()
		var state hash.State
		var swap goldilocks.Element
		if i < len(p.permutations) {
			for j, c := range p.permutations[i].In {
				x := set(cells, row, first+inColumn+2*j, 2, c)
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
