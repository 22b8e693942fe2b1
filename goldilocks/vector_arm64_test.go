//go:build !purego

package goldilocks

import (
	"fmt"
	"os"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
)

// TestKernelsFound: this processor's kernels are those that the environment says it has.
func TestKernelsFound(t *testing.T) {
	want := os.Getenv("ZKBENCH_KERNELS")
	if want == "" {
		t.Skip("TestEmulated says which kernels there are")
	}
	golden.Equal(t, "kernels", want, fmt.Sprint(Kernels()))
}
