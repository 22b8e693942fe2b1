package stark_test

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/internal/testsize"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/keccak"
)

// changed fills as a trace does, and then changes a cell.
func changed(t stark.Trace, row, column int, by uint64) stark.Trace {
	fill := t.Fill
	t.Fill = func(ctx context.Context, ex executor.Executor, cells *stark.Cells) error {
		if err := fill(ctx, ex, cells); err != nil {
			return err
		}
		cells.Set(row, column, (uint64(stark.Columns[uint32](cells)[column][row])+by)%(1<<31-1<<24+1))
		return nil
	}
	return t
}

// TestKeccakForced: a cell of Keccak's tables that is changed is named by Check, and a proof of such
// tables is rejected.
func TestKeccakForced(t *testing.T) {
	t.Parallel()
	s, err := keccak.New(stark.Config{Field: stark.KoalaBear, Hash: stark.Keccak, Set: stark.Set{
		Name: "test", Degree: 4, LogBlowup: 1, Queries: 3, Stack: 4, LogFold: 3, LogFinal: 3, LogCap: 2,
	}}, true)
	must.Do(t, err)
	messages := [][]byte{bytes.Repeat([]byte{0x5a}, 200), []byte("abc")}
	about, err := s.Statement(keccak.Claims(messages, true), nil)
	must.Do(t, err)
	must.Do(t, s.System.Verify(s.ProveForced(t, s.Traces(messages), about), about))
	random := rand.New(rand.NewPCG(3, 4))
	widths := s.Widths()
	for range testsize.Pick(8, 60, 5000) {
		// Rows of permutations that are exported, and of sponges' blocks: of three.
		table := random.IntN(2)
		row, column := random.IntN([]int{72, 3}[table]), random.IntN(widths[table])
		traces := s.Traces(messages)
		traces[table] = changed(traces[table], row, column, 1+random.Uint64N(3))
		name := fmt.Sprintf("table %d, row %d, column %d", table, row, column)
		must.Fail(t, s.System.Check(t.Context(), executor.Serial(), traces, about), zkbench.ErrWitness, "%s", name)
		must.Fail(t, s.System.Verify(s.ProveForced(t, traces, about), about), zkbench.ErrProof, "%s", name)
	}
}
