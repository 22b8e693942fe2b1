package group_test

import (
	"runtime"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// TestExecutorsAgree: a sum is the same from every executor and on any number of processors, also
// if a window has several ranges of terms, buckets of several tasks, and a bucket that takes most
// terms. It sets GOMAXPROCS, so it is not parallel.
func TestExecutorsAgree(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	n := testsize.Pick(1<<15, 1<<17, 1<<17)
	g, free := group.WithScratch(group.BN254())
	points := multiplesOf(t, g, n)
	rng := random()
	s := &suite[fr.Element, bn254.G1Affine]{Group: g}
	same, full := s.randomScalar(rng), make([]fr.Element, n)
	short, alike := make([]fr.Element, n), make([]fr.Element, n)
	for i := range full {
		full[i] = s.randomScalar(rng)
		short[i].SetUint64(rng.Uint64() & (1<<16 - 1))
		if alike[i] = same; i%16 == 0 {
			alike[i] = full[i]
		}
	}
	for name, scalars := range map[string][]fr.Element{"full": full, "short": short, "mostly the same": alike} {
		want := must.Get(g.MSM(t.Context(), executor.Serial(), points, scalars))(t)
		for _, cpus := range []int{1, 2, 3, 16} {
			runtime.GOMAXPROCS(cpus)
			for _, ex := range []executor.Executor{executor.Pool(), executor.Unbounded(), executor.NewRecorder(cpus)} {
				if cpus == 3 {
					free() // as new as the first time
				}
				if got := must.Get(g.MSM(t.Context(), ex, points, scalars))(t); got != want {
					t.Errorf("scalars=%s exec=%s cpus=%d: another sum than that of the serial executor", name, ex.Name(), cpus)
				}
			}
		}
	}
}
