package stark_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/recursion"
)

// TestRecursionForced: a prover who has another cell in a program's tables, whichever it is, has no proof.
func TestRecursionForced(t *testing.T) {
	t.Parallel()
	params := small(2, 1)
	params.Queries, params.LogCap = 2, 0
	s := newCircuitSystem(t, params, []*air.Table{alone("alone")}, []stark.Trace{counting(4)}, stark.Statement{Publics: []uint64{0}})
	child := recursion.NewChild(s.System, s.about)
	params.Queries = 30 // that a word far from the code is seen
	r := must.Get(recursion.New(overPoseidon(params), child))(t)
	tables := r.Tables()
	traces, about, err := r.Traces([]recursion.Proof{{Bytes: s.proof, Statement: s.about}}, nil)
	must.Do(t, err)
	must.Do(t, tables.Verify(tables.ProveForced(t, traces, about), about), "nothing forced")
	for i := range testsize.Pick(6, 30, 600) {
		table := i % 2
		bad := slices.Clone(traces)
		name := ""
		bad[table].Fill = func(ctx context.Context, ex executor.Executor, cells *stark.Cells) error {
			err := traces[table].Fill(ctx, ex, cells)
			columns := stark.Columns[uint64](cells)
			column, row := (i*37+5)%len(columns), (i*11)%cells.Rows()
			if table == 0 {
				column |= 6 // of what comes out: no row is without
			}
			name = fmt.Sprintf("table %d, row %d, column %d", table, row, column)
			columns[column][row] ^= 1
			return err
		}
		proof := tables.ProveForced(t, bad, about)
		must.Fail(t, tables.Verify(proof, about), zkbench.ErrProof, "%s", name)
	}
}
