package stark

import (
	"context"
	"fmt"
	"unsafe"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/internal/field"
)

// PhaseTrace is the name that Options.Span gets for the first phase of Prove, in which tables are filled.
const PhaseTrace = "trace"

// Cells are the cells of one table, column by column. They hold numbers below the field's order, as uint32
// for KoalaBear and as uint64 for Goldilocks.
type Cells struct {
	rows  int
	short [][]uint32
	long  [][]uint64
}

// Rows returns the number of rows to fill.
func (c *Cells) Rows() int { return c.rows }

// Set sets the cell of a row and column to v, which must be below the field's order.
func (c *Cells) Set(row, column int, v uint64) {
	if c.short != nil {
		c.short[column][row] = uint32(v)
		return
	}
	c.long[column][row] = v
}

// Cell is the type of a field's cells: uint32 for KoalaBear, uint64 for Goldilocks.
type Cell interface{ uint32 | uint64 }

// Columns returns the columns if T is the type of the field's cells, and nil otherwise. For speed, write the
// code of Trace.Fill generically in T and try both types.
func Columns[T Cell](c *Cells) [][]T {
	switch all := any(&c.long).(type) {
	case *[][]T:
		return *all
	}
	return any(c.short).([][]T)
}

// fill makes columns of the given width. The first ones are the table's: the trace fills the given number of
// rows of them, and zeros follow.
func fill[E field.Element[E], X field.Extension[E, X]](ctx context.Context, ex executor.Executor, f field.Field[E, X], m *memory[E], table *air.Table, t Trace, width, rows int) ([][]E, error) {
	columns, err := m.columns(ctx, ex, width, t.Rows)
	if err != nil {
		return nil, err
	}
	cells := &Cells{rows: rows}
	if f.Bytes() == 4 {
		cells.short = make([][]uint32, 0, table.Columns)
	} else {
		cells.long = make([][]uint64, 0, table.Columns)
	}
	for i := range table.Columns {
		first := unsafe.Pointer(unsafe.SliceData(columns[i]))
		if f.Bytes() == 4 {
			cells.short = append(cells.short, unsafe.Slice((*uint32)(first), rows))
		} else {
			cells.long = append(cells.long, unsafe.Slice((*uint64)(first), rows))
		}
	}
	err = ex.Do(ctx, len(columns), func(_ context.Context, i int) error {
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
