package group_test

import (
	"errors"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// TestKernels holds the sums of every kernel, and of the Go form of that in lanes, to what
// TestConformance holds the fastest to.
func TestKernels(t *testing.T) {
	t.Parallel()
	for _, k := range []group.Kernel{must.Get(group.KernelNamed("portable"))(t), group.Twin} {
		t.Run("kernel="+k.String(), func(t *testing.T) {
			t.Parallel()
			t.Run("group=BN254", func(t *testing.T) { sums(t, group.BN254(k), curveBN254) })
			t.Run("group=BLS12_381_BBS_GURVY", func(t *testing.T) { sums(t, group.BLS12381(k), curveBLS12381) })
		})
	}
}

func sums[S, P any](t *testing.T, g group.Group[S, P], c curve) {
	t.Parallel()
	s := &suite[S, P]{Group: g, curve: c}
	s.all = s.terms(testsize.Pick(130, 330, 330))
	t.Run("MSM", s.testMSM)
	t.Run("lengths", s.testLengths)
	t.Run("table", s.testTable)
	t.Run("cancelling", s.testCancelling)
	t.Run("stored", s.testStored)
	if c.form == zcash {
		t.Run("torsion", s.testTorsion)
	}
}

// TestKernelNamed: a kernel that is not here is an error that names those that are.
func TestKernelNamed(t *testing.T) {
	t.Parallel()
	for _, k := range group.Kernels() {
		golden.Equal(t, k.String(), true, must.Get(group.KernelNamed(k.String()))(t) == k)
	}
	_, err := group.KernelNamed("avx9000")
	golden.Contains(t, err.Error(), "portable")
	golden.Equal(t, "is an ErrEnv", true, errors.Is(err, zkbench.ErrEnv))
	golden.Equal(t, "zero kernel", group.Kernels()[len(group.Kernels())-1].String(), group.Kernel{}.String())
}
