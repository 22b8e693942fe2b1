package group_test

import (
	"context"
	"runtime"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// testScratch checks that sums with their own scratch are the same, one after another and
// concurrently.
func (s *suite[S, P]) testScratch(t *testing.T) {
	g, free := group.WithScratch(s.Group)
	defer free()
	n := len(s.all.points)
	for _, ex := range executors() {
		err := executor.Pool().Do(t.Context(), 8, func(_ context.Context, i int) error {
			for _, n := range []int{n, 1 + i, n / 2, 0} {
				sum, err := g.MSM(t.Context(), ex, s.all.points[:n], s.all.scalars[:n])
				if err != nil {
					return err
				}
				if !s.EqualPoints(&sum, &s.all.sums[n]) {
					t.Errorf("exec=%s: the sum of %d is wrong", ex.Name(), n)
				}
			}
			return nil
		})
		must.Do(t, err)
	}
}

// BenchmarkScratch is of sums in turn, by what they allocate.
func BenchmarkScratch(b *testing.B) {
	k := keptPoints(b, 1<<14)
	own, _ := group.WithScratch(group.BN254())
	for name, g := range map[string]group.Group[fr.Element, bn254.G1Affine]{"own": own, "shared": group.BN254()} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				runtime.GC()
				must.Get(g.MSM(b.Context(), executor.Serial(), k.points, k.scalars))(b)
			}
		})
	}
}
