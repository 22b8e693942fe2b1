package stark

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/internal/field"
)

// PhaseTrace is that in which tables are filled, before those of Prove.
const PhaseTrace = "trace"

// Cells are a table's, column by column: numbers below the field's order, of 32 bits or 64.
type Cells struct {
	rows  int
	short [][]uint32
	long  [][]uint64
}

// Rows is how many there are to fill.
func (c *Cells) Rows() int { return c.rows }

// Set sets a cell.
func (c *Cells) Set(row, column int, v uint64) {
	if c.short != nil {
		c.short[column][row] = uint32(v)
		return
	}
	c.long[column][row] = v
}

// Cell is what a field's numbers are in.
type Cell interface{ uint32 | uint64 }

// Columns are the columns, where the field's numbers are in T, or nil: a Fill that has no time to
// lose is generic in T, and asks for both.
func Columns[T Cell](c *Cells) [][]T {
	switch all := any(&c.long).(type) {
	case *[][]T:
		return *all
	}
	return any(c.short).([][]T)
}

// fill makes so many columns, of which a table's, the first ones, have so many rows from its trace, and zeros
// behind them.
func fill[E field.Element[E], X field.Extension[E, X]](ctx context.Context, ex executor.Executor, f field.Field[E, X], m *memory[E], table *air.Table, t Trace, width, rows int) ([][]E, error) {
	columns := m.columns(width, t.Rows)
	cells := &Cells{rows: rows}
	for i := range table.Columns {
		first := unsafe.Pointer(unsafe.SliceData(columns[i]))
		if f.Bytes() == 4 {
			cells.short = append(cells.short, unsafe.Slice((*uint32)(first), rows))
		} else {
			cells.long = append(cells.long, unsafe.Slice((*uint64)(first), rows))
		}
	}
	err := ex.Do(ctx, len(columns), func(_ context.Context, i int) error {
		clear(columns[i])
		return nil
	})
	if err != nil {
		return nil, err
	}
	if err := t.Fill(ctx, ex, cells); err != nil {
		return nil, fmt.Errorf("table %q: %w", table.Name, err)
	}
	err = ex.Do(ctx, len(columns), func(_ context.Context, i int) error {
		f.FromWords(columns[i])
		return nil
	})
	return columns, err
}
