package executor_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"

	"github.com/zkbench/zkbench/executor"
)

// An executor runs an operation's tasks; the first error ends the operation.
func Example() {
	squares := make([]int, 5)
	err := executor.Pool().Do(context.Background(), len(squares), func(_ context.Context, i int) error {
		squares[i] = i * i
		return nil
	})
	fmt.Println(squares, err)

	refused := errors.New("piece 1 is refused")
	err = executor.Serial().Do(context.Background(), 3, func(_ context.Context, i int) error {
		fmt.Println("piece", i)
		if i == 1 {
			return refused
		}
		return nil
	})
	fmt.Println(err)
	// Output:
	// [0 1 4 9 16] <nil>
	// piece 0
	// piece 1
	// piece 1 is refused
}

// A Recorder says how an operation would run on more processors than there are.
func ExampleRecorder() {
	sum := func(ctx context.Context, ex executor.Executor) (uint64, error) {
		var total atomic.Uint64
		err := executor.Ranges(ctx, ex, 10_000_000, 100_000, func(_ context.Context, lo, hi int) error {
			var part uint64
			for k := lo; k < hi; k++ {
				part += uint64(k)
			}
			total.Add(part)
			return nil
		})
		return total.Load(), err
	}
	recorder := executor.NewRecorder(16)
	section := recorder.Begin()
	total, err := sum(context.Background(), recorder)
	trace := section.End()
	fmt.Println(total, err)
	fmt.Println(trace.Schedule(16).Time < trace.Work()/2, trace.Span() <= trace.Schedule(16).Time)
	// Output:
	// 49999995000000 <nil>
	// true true
}
