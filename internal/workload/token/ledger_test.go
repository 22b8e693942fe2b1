package token_test

import (
	"context"
	"os"
	"sync"
	"testing"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/internal/workload/token"
)

// TestLedgerApply: inputs are used again, by several workers at once, on a ledger with
// and without tokens before, and every operation is on the ledger and new.
func TestLedgerApply(t *testing.T) {
	ctx := context.Background()
	for _, tokens := range []string{"0", "5", "1000"} {
		t.Run("tokens="+tokens, func(t *testing.T) {
			instance := newInstance(t, token.LedgerApply(), map[string]string{"batch": "25", "tokens": tokens}, 1)
			input := must.Get(instance.Input(ctx, 0))(t)
			var mu sync.Mutex
			seen := make(map[string]bool)
			var wg sync.WaitGroup
			for range 4 {
				wg.Go(func() {
					for range 8 { // more operations than 1000 tokens last for
						output, err := instance.Run(ctx, input)
						if err != nil {
							t.Error(err)
							return
						}
						if err := instance.Check(ctx, input, output); err != nil {
							t.Error(err)
						}
						mu.Lock()
						seen[string(output)] = true
						mu.Unlock()
					}
				})
			}
			wg.Wait()
			golden.Equal(t, "operations told apart", 4*8, len(seen))
			must.Fail(t, instance.Check(ctx, input, []byte{0, 0, 0, 0, 0, 0, 1, 0}), must.ErrAny, "an operation that was not run")
		})
	}
}

// TestLedgerApplyClose: nothing is left of the ledger.
func TestLedgerApplyClose(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	t.Setenv("TMP", dir)
	instance := must.Get(token.LedgerApply().New(t.Context(), workload.NewCase(record.Axis{Key: "batch", Value: "1"}), 1))(t)
	if made, err := os.ReadDir(dir); err != nil || len(made) != 1 {
		t.Errorf("%d files for temporary files, %v; want the ledger's directory", len(made), err)
	}
	must.Do(t, instance.Close())
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%d files are left, %v", len(left), err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := token.LedgerApply().New(ended, workload.NewCase(record.Axis{Key: "batch", Value: "1"}, record.Axis{Key: "tokens", Value: "1000"}), 1); err == nil {
		t.Error("a ledger was filled after the end of its context")
	}
	if left, err := os.ReadDir(dir); err != nil || len(left) != 0 {
		t.Errorf("%d files are left of a set-up that failed, %v", len(left), err)
	}
}
