//go:build linux && !arm64

package goldilocks_test

import (
	"testing"

	"github.com/zkbench/zkbench/internal/testing/qemutest"
)

// TestEmulated runs this package's tests on the kernels of arm64.
func TestEmulated(t *testing.T) {
	t.Parallel()
	qemutest.RunVectors(t, "-test.short", "-rapid.checks=20")
}
