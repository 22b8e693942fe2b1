//go:build linux && !arm64

package goldilocks_test

import (
	"testing"

	"github.com/zkbench/zkbench/internal/qemutest"
)

// TestEmulated runs this package's tests on arm64 processors with vectors of some lengths
// and with none.
func TestEmulated(t *testing.T) {
	binary := qemutest.Build(t)
	for _, p := range []struct{ cpu, kernels string }{
		{"cortex-a57", "[portable]"},
		{"a64fx", "[portable sve]"},
		{"max,sve-max-vq=1", "[portable sve sve2]"},
		{"max,sve-max-vq=2", "[portable sve sve2]"},
		{"max,sve-max-vq=4", "[portable sve sve2]"},
		{"max,sve-max-vq=16,sve-default-vector-length=256", "[portable sve sve2]"},
	} {
		t.Run("cpu="+p.cpu, func(t *testing.T) {
			binary.Run(t, p.cpu, []string{"ZKBENCH_KERNELS=" + p.kernels}, "-test.short", "-rapid.checks=20")
		})
	}
}
