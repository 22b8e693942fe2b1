package hwcounter

import (
	"context"
	"errors"

	"github.com/zkbench/zkbench/internal/result/record"
)

// Operation is what is counted; a workload's instance is one.
type Operation interface {
	Input(ctx context.Context, seq uint64) (any, error)
	Run(ctx context.Context, input any) ([]byte, error)
}

// Counters returns how many instructions and cycles one operation takes on its thread, as
// the processor counts them, the second time that it runs. Where the processor cannot be
// asked there are none.
func Counters(ctx context.Context, o Operation) ([]record.Metric, error) {
	input, err := o.Input(ctx, 0)
	if err != nil {
		return nil, err
	}
	var failed error
	run := func() {
		if _, err := o.Run(ctx, input); err != nil {
			failed = err
		}
	}
	run()
	counts, err := Measure(run)
	if failed != nil {
		return nil, failed
	}
	if errors.Is(err, ErrUnavailable) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return []record.Metric{
		record.Instructions.Metric(float64(counts.Instructions)), record.Cycles.Metric(float64(counts.Cycles)),
	}, nil
}
