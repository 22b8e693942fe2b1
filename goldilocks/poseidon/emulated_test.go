//go:build linux && !arm64

package poseidon_test

import (
	"testing"

	"github.com/zkbench/zkbench/internal/qemutest"
)

// TestEmulated runs this package's tests on arm64 processors with vectors of some lengths
// and with none.
func TestEmulated(t *testing.T) {
	binary := qemutest.Build(t)
	for _, cpu := range []string{
		"cortex-a57", "a64fx", "max,sve-max-vq=1", "max,sve-max-vq=2", "max,sve-max-vq=4",
		"max,sve-max-vq=16,sve-default-vector-length=256",
	} {
		t.Run("cpu="+cpu, func(t *testing.T) {
			binary.Run(t, cpu, nil, "-test.short")
		})
	}
}
