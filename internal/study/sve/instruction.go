package sve

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/hwcounter"
	"github.com/zkbench/zkbench/internal/study/loops"
	"github.com/zkbench/zkbench/internal/workload"
)

const (
	instructionName = "VectorInstruction"
	loopKey         = "loop"
	// passes is the number of passes of an operation, which takes some ten microseconds.
	passes = 1000
)

// loopName returns the value of the axis loop for a loop.
func loopName(l loops.Loop) string { return l.Kernel + "-" + l.Name }

// VectorInstruction returns a workload that repeats one instruction on independent registers, to measure how many such
// instructions the processor executes per cycle. In the loop "scalar-chain", each instruction waits for the previous
// one and takes one cycle. Therefore the time of this loop gives the clock frequency.
func VectorInstruction() workload.Def {
	var names []string
	for _, l := range loops.All() {
		names = append(names, loopName(l))
	}
	axis := workload.NameAxis(workload.Axis{Name: "loop", Key: loopKey, Usage: "loops of one instruction"}, names, names)
	return workload.Def{
		Name: instructionName, Doc: "one instruction on registers, repeated", Axes: []workload.Axis{axis},
		New: func(_ context.Context, c workload.Case, _ uint64) (workload.Instance, error) {
			all := loops.All()
			at := slices.IndexFunc(all, func(l loops.Loop) bool { return loopName(l) == c.Get(loopKey) })
			if at < 0 {
				return nil, &argument.ValueError{Field: "loop", Value: c.Get(loopKey), Accepted: strings.Join(names, ", ")}
			}
			return &instruction{all[at]}, nil
		},
	}
}

type instruction struct{ loop loops.Loop }

func (i *instruction) Input(context.Context, uint64) (any, error) { return passes, nil }

func (i *instruction) Run(_ context.Context, input any) ([]byte, error) {
	i.loop.Run(input.(int))
	return nil, nil
}

// Check compares the instructions of the loop with the processor's counter, if it can be read. The processor counts a few
// more, for the loop itself.
func (i *instruction) Check(ctx context.Context, _ any, _ []byte) error {
	counters, err := hwcounter.Counters(ctx, i)
	if err != nil || len(counters) == 0 {
		return err
	}
	if got, want := counters[0].Value, i.count(); got < want || got > 1.1*want {
		return fmt.Errorf("the loop %s has %.0f instructions, and the processor counted %.0f", loopName(i.loop), want, got)
	}
	return nil
}

func (i *instruction) count() float64 { return float64(passes * i.loop.Instructions) }

func (i *instruction) Metrics(ctx context.Context) ([]record.Metric, error) {
	counters, err := hwcounter.Counters(ctx, i)
	return append([]record.Metric{record.InLoop.Metric(i.count())}, counters...), err
}

func (i *instruction) Close() error { return nil }
