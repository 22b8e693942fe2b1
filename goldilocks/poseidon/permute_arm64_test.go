//go:build !purego

package poseidon

import (
	"fmt"
	"os"
	"testing"

	"github.com/zkbench/zkbench/goldilocks"
)

// TestTable: no constant makes the kernels' sum of a row carry.
func TestTable(t *testing.T) {
	for i, c := range table {
		if c >= 1<<64-1<<42 {
			t.Errorf("constant %d is %x", i, c)
		}
	}
}

// TestCounted is what TestInstructions counts: permutations by the kernel that the
// environment names, as many as it says.
func TestCounted(t *testing.T) {
	var name string
	var states int
	if _, err := fmt.Sscan(os.Getenv("ZKBENCH_COUNT"), &name, &states); err != nil {
		t.Skip("runs for TestInstructions")
	}
	k, err := goldilocks.KernelNamed(name)
	if err != nil {
		t.Fatal(err)
	}
	PermuteAll(k, make([]State, states))
}
