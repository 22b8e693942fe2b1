package zkbench_test

import (
	"errors"
	"fmt"

	"github.com/zkbench/zkbench"
)

// The error of a batch names each action that failed. errors.Is finds the causes.
func ExampleCheckErrors() {
	err := errors.Join(
		&zkbench.CheckError{Check: "proof", Action: 3, Index: -1, Err: zkbench.ErrProof},
		&zkbench.CheckError{Check: "inputs", Action: 5, Index: 1, Err: zkbench.ErrSpent},
	)
	failed, ok := zkbench.CheckErrors(err)
	for _, e := range failed {
		fmt.Printf("action %d: %s, spent: %v\n", e.Action, e.Check, errors.Is(e, zkbench.ErrSpent))
	}
	fmt.Println("of single actions:", ok)

	_, ok = zkbench.CheckErrors(errors.New("connection lost"))
	fmt.Println("of single actions:", ok)
	// Output:
	// action 3: proof, spent: false
	// action 5: inputs, spent: true
	// of single actions: true
	// of single actions: false
}
