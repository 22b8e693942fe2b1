package runner

import (
	"context"
	"testing"
	"time"
)

type nothing struct{}

func (nothing) Input(context.Context, uint64) (any, error) { return nil, nil }
func (nothing) Run(context.Context, any) (any, error)      { return nil, nil }
func (nothing) Check(context.Context, any, any) error      { return nil }

func idle(keep int) *running {
	l := &load{cfg: &Config{Workers: 1}, target: nothing{}, inputs: make([]any, 8)}
	r := l.prepare(phase{keep: keep})
	r.begin = time.Now()
	return r
}

func TestLoopAllocatesNothing(t *testing.T) {
	r := idle(100)
	if n := testing.AllocsPerRun(1000, func() { r.operate(t.Context(), r.workers[0]) }); n != 0 {
		t.Errorf("%v allocations per operation", n)
	}
}

func TestClosedWorkerCountsNothing(t *testing.T) {
	r := idle(100)
	w := r.workers[0]
	r.close()
	r.operate(t.Context(), w)
	w.succeed(time.Second, time.Second, time.Second, kept{})
	w.fail(t.Context(), time.Second, context.DeadlineExceeded)
	if w.started != 0 || w.done != 0 || w.failed != 0 || w.latency.TotalCount() != 0 || len(w.kept) != 0 {
		t.Errorf("a closed worker changed: %+v", w)
	}
}

// BenchmarkRecording is what the runner adds to an operation: clock, latency,
// deviation, reservoir.
func BenchmarkRecording(b *testing.B) {
	r := idle(1 << 10)
	ctx := b.Context()
	b.ReportAllocs()
	for b.Loop() {
		r.operate(ctx, r.workers[0])
	}
}
