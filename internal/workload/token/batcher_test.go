package token_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/internal/workload/token"
)

// TestQueuedRequests: with --batch-max an operation is one request, and those of many
// workers, on inputs that are used again, are validated together.
func TestQueuedRequests(t *testing.T) {
	ctx := t.Context()
	// Nobody has an answer before the batch is full, so all are in one.
	instance := newInstance(t, token.ValidatorBatch(), map[string]string{"batch-max": "6", "batch-wait": "1m0s"}, 1)
	var wg sync.WaitGroup
	for seq := range uint64(3) {
		input := must.Get(instance.Input(ctx, seq))(t)
		for range 2 {
			wg.Go(func() {
				output, err := instance.Run(ctx, input)
				if err == nil {
					err = instance.Check(ctx, input, output)
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	// A request that is given up leaves the queue, which can close.
	input := must.Get(instance.Input(ctx, 0))(t)
	ended, cancel := context.WithCancel(ctx)
	cancel()
	must.FailGet(instance.Run(ended, input))(t, context.Canceled, "after the end of its context")
}

// TestQueueNeedsMax: a wait without a queue is refused before anything is set up.
func TestQueueNeedsMax(t *testing.T) {
	for _, c := range []struct{ most, wait, says string }{
		{"0", "1ms", "together with --batch-max"}, {"", "1ms", "together with --batch-max"}, {"many", "0s", "0 to 4096"}, {"8", "soon", "0s to 1m0s"},
	} {
		_, err := token.ValidatorBatch().New(t.Context(), workload.NewCase(
			record.Axis{Key: "batch-max", Value: c.most}, record.Axis{Key: "batch-wait", Value: c.wait}), 1)
		if v, ok := errors.AsType[*argument.ValueError](err); !ok || !strings.Contains(v.Accepted, c.says) {
			t.Errorf("batch-max=%s batch-wait=%s: %v", c.most, c.wait, err)
		}
	}
}

// TestRejectKinds: every way to tamper with a request is refused by its own check, for
// every kind of owners, and the check of another way says no.
func TestRejectKinds(t *testing.T) {
	ctx := t.Context()
	outputs := make(map[string]bool)
	for _, owner := range []string{"ed25519", "pseudonym"} {
		for _, tampered := range token.TamperedAxis().Default {
			instance := newInstance(t, token.Reject(), map[string]string{"owner": owner, "tampered": tampered}, 1)
			input := must.Get(instance.Input(ctx, 0))(t)
			output, err := instance.Run(ctx, input)
			if err == nil {
				err = instance.Check(ctx, input, output)
			}
			if err != nil {
				t.Errorf("owner=%s tampered=%s: %v", owner, tampered, err)
			}
			outputs[string(output)] = true
			must.Fail(t, instance.Check(ctx, input, []byte("redeem policy")), must.ErrAny, "tampered=%s: refused by another check", tampered)
		}
	}
	if want := len(token.TamperedAxis().Default); len(outputs) != want {
		t.Errorf("refused by %d checks, want %d", len(outputs), want)
	}
}
