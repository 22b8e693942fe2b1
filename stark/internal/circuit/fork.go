package circuit

import (
	"context"

	"github.com/zkbench/zkbench/executor"
)

// NewOn returns a builder like New. Parts of the program that Fork is called with run on the executor.
func NewOn(ctx context.Context, ex executor.Executor, d Degree) *Builder {
	b := New(d)
	b.ctx, b.ex = ctx, ex
	return b
}

// made is a constant that has a cell.
type made struct {
	constant X
	cell     Cell
	row      int // the number of the row that states it
}

// Fork writes n parts of the program down at once, each with a Builder of its own, and appends them in order. The
// program is the one that would result if all parts used b, one after the other. A part may use what b has
// computed, but neither b itself nor other parts. Fork returns the cells that each part returns, as cells of b. If the
// executor returns an error, so does Fork, and b cannot be used any more.
func (b *Builder) Fork(n int, part func(b *Builder, i int) []Cell) ([][]Cell, error) {
	parts, cells := make([]*Builder, n), make([][]Cell, n)
	if b.ex == executor.Serial() { // parts are then in order without a copy
		return cells, b.ex.Do(b.ctx, n, func(_ context.Context, i int) error {
			cells[i] = part(b, i)
			return nil
		})
	}
	err := b.ex.Do(b.ctx, n, func(ctx context.Context, i int) error {
		parts[i] = NewOn(ctx, b.ex, b.Degree)
		parts[i].below, parts[i].first, parts[i].valuesOnly = b, b.next(), b.valuesOnly
		cells[i] = part(parts[i], i)
		return nil
	})
	if err != nil {
		return nil, err
	}
	joins := make([]join, n)
	rows, permutations, values := len(b.Rows), len(b.Permutations), len(b.Values)
	for i, p := range parts {
		joins[i] = join{to: b, part: p, rows: rows, permutations: permutations, cell: b.first + Cell(values)}
		joins[i].findSame()
		rows, permutations, values = rows+joins[i].rowsLeft(), permutations+len(p.Permutations), values+len(p.Values)-len(joins[i].same)
		if b.err == nil {
			b.err = p.err
		}
	}
	b.Rows, b.Permutations, b.Values = extended(b.Rows, rows), extended(b.Permutations, permutations), extended(b.Values, values)
	return cells, b.ex.Do(b.ctx, n, func(_ context.Context, i int) error {
		joins[i].copy(cells[i])
		return nil
	})
}

// extended returns a slice that begins with s, of length n. Unlike slices.Grow, it does not clear new memory that is
// clear already, so tasks are the first to touch it. There is room for some more elements.
func extended[T any](s []T, n int) []T {
	if n <= cap(s) {
		return s[:n]
	}
	longer := make([]T, n, n+n/16+64)
	copy(longer, s)
	return longer
}

// join appends a part to a program.
type join struct {
	to, part           *Builder
	rows, permutations int    // where those of the part begin
	cell               Cell   // its first cell
	same               []same // its constants that have a cell already, in rising order
}

// same is a constant of a part that an earlier part has made. The part's own cell and row are left out.
type same struct {
	made
	is Cell
}

// findSame looks for the part's constants among those of the program, and adds the others to them.
func (j *join) findSame() {
	for _, m := range j.part.made {
		if is, ok := j.to.constant(m.constant); ok {
			j.same = append(j.same, same{m, is.cell})
			continue
		}
		out := Cell(len(j.same))
		m.cell, m.row = j.cell+m.cell-j.part.first-out, j.rows+m.row-int(out)
		j.to.keep(m)
	}
}

// rowsLeft returns how many rows the part adds.
func (j *join) rowsLeft() int {
	if j.part.valuesOnly {
		return 0
	}
	return len(j.part.Rows) - len(j.same)
}

// copy copies the part's rows, permutations and values, and renumbers their cells and the given ones.
func (j *join) copy(cells []Cell) {
	p, first := j.part, j.part.first
	number := make([]Cell, len(p.Values)) // of each of the part's cells
	same := j.same
	for i := range number {
		out := Cell(len(j.same) - len(same))
		if len(same) > 0 && same[0].cell == first+Cell(i) {
			number[i], same = same[0].is, same[1:]
			continue
		}
		number[i] = j.cell + Cell(i) - out
		j.to.Values[number[i]-j.to.first] = p.Values[i]
	}
	renumber := func(cells []Cell) {
		for i, c := range cells {
			if c >= first {
				cells[i] = number[c-first]
			}
		}
	}
	same = j.same
	at := j.rows
	for i := range p.Rows {
		if len(same) > 0 && same[0].row == i {
			same = same[1:]
			continue
		}
		to := &j.to.Rows[at]
		*to = p.Rows[i]
		renumber(to.Cells[:])
		at++
	}
	for i := range p.Permutations {
		to := &j.to.Permutations[j.permutations+i]
		*to = p.Permutations[i]
		renumber(to.In[:])
		renumber(to.Out[:])
		if to.Swap >= first {
			to.Swap = number[to.Swap-first]
		}
	}
	renumber(cells)
}
