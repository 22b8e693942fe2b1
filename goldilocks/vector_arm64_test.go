//go:build !purego

package goldilocks

import (
	"fmt"
	"os"
	"testing"
)

// TestKernelsFound: this processor's kernels are those that the environment says it has.
func TestKernelsFound(t *testing.T) {
	want := os.Getenv("ZKBENCH_KERNELS")
	if want == "" {
		t.Skip("TestEmulated says which kernels there are")
	}
	if got := fmt.Sprint(Kernels()); got != want {
		t.Errorf("kernels are %s, want %s", got, want)
	}
}
