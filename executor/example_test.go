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
