package executor_test

import (
	"context"
	"errors"
	"fmt"

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
	sum := func(ctx context.Context, ex executor.Executor) (total uint64, err error) {
		parts := make([]uint64, executor.Tasks(ex))
		err = ex.Do(ctx, len(parts), func(_ context.Context, i int) error {
			for k := uint64(i); k < 10_000_000; k += uint64(len(parts)) {
				parts[i] += k
			}
			return nil
		})
		for _, part := range parts {
			total += part
		}
		return total, err
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
