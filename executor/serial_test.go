package executor

import (
	"context"
	"runtime/metrics"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

func TestSerialCreatesNoGoroutine(t *testing.T) {
	sample := []metrics.Sample{{Name: "/sched/goroutines-created:goroutines"}}
	created := func() uint64 {
		metrics.Read(sample)
		if sample[0].Value.Kind() != metrics.KindUint64 {
			t.Fatalf("metric %s is not supported", sample[0].Name)
		}
		return sample[0].Value.Uint64()
	}
	do := func() {
		must.Do(t, Serial().Do(t.Context(), 1000, func(ctx context.Context, _ int) error {
			return Serial().Do(ctx, 10, func(context.Context, int) error { return nil })
		}))
	}
	// The runtime may start goroutines of its own at any time, so one clean
	// round of a few is the proof; a round that starts any per task has 1000.
	for range 5 {
		before := created()
		do()
		if created() == before {
			return
		}
	}
	t.Error("serial.Do created goroutines in every round")
}

func TestSerialAllocatesNothing(t *testing.T) {
	ctx := t.Context()
	task := func(context.Context, int) error { return nil }
	ex := Serial()
	golden.Equal(t, "allocations of Do", 0, testing.AllocsPerRun(100, func() { _ = ex.Do(ctx, 100, task) }))
}
