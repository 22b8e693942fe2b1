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

// TestScratchOfTasks: sums in turn on many processors have no more scratches of tasks than there are tasks at once, and none
// of these has memory of a whole sum. It sets GOMAXPROCS, so it is not parallel.
func TestScratchOfTasks(t *testing.T) {
	const (
		procs   = 16
		windows = 20 // or fewer have a task that waits for its own tasks
	)
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(procs))
	k := keptPoints(t, 1<<15)
	g, count := group.Counted(group.BN254())
	for range 8 {
		if got := must.Get(g.MSM(t.Context(), executor.Pool(), k.points, k.scalars))(t); got != k.sum {
			t.Error("another sum than that of the serial executor")
		}
		runtime.GC()
	}
	if tasks, large := count(); tasks == 0 || tasks > procs+windows || large != 0 {
		t.Errorf("%d scratches of tasks, %d of them with memory of a whole sum; accepted are 1 to %d, and 0", tasks, large, procs+windows)
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
