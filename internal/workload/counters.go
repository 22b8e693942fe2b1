package workload

import (
	"context"
	"errors"

	"github.com/zkbench/zkbench/internal/perf"
	"github.com/zkbench/zkbench/internal/record"
)

// Counters returns how many instructions and cycles one operation takes on its thread, as
// the processor counts them, the second time that it runs. Where the processor cannot be
// asked there are none.
func Counters(ctx context.Context, i Instance) ([]record.Metric, error) {
	input, err := i.Input(ctx, 0)
	if err != nil {
		return nil, err
	}
	var failed error
	run := func() {
		if _, err := i.Run(ctx, input); err != nil {
			failed = err
		}
	}
	run()
	counts, err := perf.Measure(run)
	if failed != nil {
		return nil, failed
	}
	if errors.Is(err, perf.ErrUnavailable) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	return []record.Metric{
		{Name: record.Instructions, Unit: "instructions/op", Value: float64(counts.Instructions), Kind: record.Timed},
		{Name: record.Cycles, Unit: "cycles/op", Value: float64(counts.Cycles), Kind: record.Timed},
	}, nil
}
