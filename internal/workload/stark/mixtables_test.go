package stark

import (
	"context"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark"
)

// TestMixShape: the tables have the columns, messages, cells and degree that the workload's description and
// docs/stark.md say.
func TestMixShape(t *testing.T) {
	t.Parallel()
	const cycles = 1 << rarest
	var widths []int
	messages, traces, all := 0, 0, 0
	for i, table := range mixTables() {
		p := must.Get(table.Compile())(t)
		rows := mixForm(rarest)[i]
		widths = append(widths, p.Columns)
		messages += rows * len(p.Messages)
		traces += rows * p.Columns
		// Two messages share a sum. Sums and the two pieces of the quotient have two coordinates each.
		all += rows * (p.Columns + 2*((len(p.Messages)+1)/2) + 2*2)
		golden.Equal(t, table.Name+": degree", 3, p.Degree())
	}
	golden.Equal(t, "columns", []int{26, 36, 30, 20, 32, 28, 40, 48, 60, 110, 90}, widths)
	golden.Equal(t, "messages, cells of traces and all cells of a cycle", []int{34, 64, 106}, []int{messages / cycles, traces / cycles, all / cycles})
	golden.Equal(t, "of a cycle, what is left", []int{0, 0, 0}, []int{messages % cycles, traces % cycles, all % cycles})
}

// TestMixColumns: the traces satisfy the tables, and do not if a cell of any column is another.
func TestMixColumns(t *testing.T) {
	t.Parallel()
	params := stark.Machine100()
	params.Bits = stark.Unproven // of few rows
	system := must.Get(stark.New(stark.Config{Field: stark.Goldilocks, Hash: stark.Keccak, Params: params}, mixTables()...))(t)
	run := newMixRun(rarest+1, 7)
	must.Do(t, system.Check(t.Context(), executor.Serial(), run.traces(), run.statement()))
	for table, f := range mix {
		for column := range f.columns() {
			traces := run.traces()
			fill := traces[table].Fill
			traces[table].Fill = func(ctx context.Context, ex executor.Executor, cells *stark.Cells) error {
				err := fill(ctx, ex, cells)
				stark.Columns[uint64](cells)[column][1] += 1 << 30
				return err
			}
			must.Fail(t, system.Check(t.Context(), executor.Serial(), traces, run.statement()), zkbench.ErrWitness, "table %q, column %d", f.name, column)
		}
	}
}
