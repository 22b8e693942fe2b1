//go:build linux && !arm64

package merkle_test

import (
	"testing"

	"github.com/zkbench/zkbench/internal/testing/qemutest"
)

// TestEmulated: the trees' top nodes and roots by the kernels of arm64.
func TestEmulated(t *testing.T) {
	t.Parallel()
	qemutest.RunVectors(t, "-test.short", "-rapid.checks=5", "-test.run=^Test(Top|Tree|RootVectors|MultiPath)$")
}
