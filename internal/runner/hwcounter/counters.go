package hwcounter

import (
	"context"
	"errors"

	"github.com/zkbench/zkbench/internal/result/record"
)

// Operation is the operation that Counters measures. Instances of workloads implement it.
type Operation interface {
	Input(ctx context.Context, seq uint64) (any, error)
	Run(ctx context.Context, input any) ([]byte, error)
}

// Counters runs an operation twice and returns the numbers of instructions and cycles that the
// second run takes on its thread. It returns no metrics if the processor's counters cannot be
// read, and an error if the operation fails.
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
