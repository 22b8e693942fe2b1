//go:build linux && !arm64

package merkle_test

import (
	"testing"

	"github.com/zkbench/zkbench/internal/qemutest"
)

// TestEmulated: the trees' top nodes and roots on arm64 processors with vectors of some
// lengths and with none.
func TestEmulated(t *testing.T) {
	binary := qemutest.Build(t)
	for _, cpu := range []string{"cortex-a57", "a64fx", "max,sve-max-vq=1", "max,sve-max-vq=2", "max,sve-max-vq=4"} {
		t.Run("cpu="+cpu, func(t *testing.T) {
			binary.Run(t, cpu, nil, "-test.short", "-rapid.checks=5", "-test.run=^Test(Top|Tree|RootVectors|MultiPath)$")
		})
	}
}
