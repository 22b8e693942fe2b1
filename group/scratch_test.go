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
	"github.com/zkbench/zkbench/internal/testing/testsize"
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
// of these has memory of a whole sum. The more tasks run at once, the smaller are their trees, and windows have memory for
// few at once, so that a sum takes little more of it than on two processors. The test sets GOMAXPROCS, so it is not parallel.
func TestScratchOfTasks(t *testing.T) {
	const windows = 20 // or fewer have a task that waits for its own tasks
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(0))
	n := testsize.Pick(1<<15, 1<<17, 1<<17)
	sortings := 3 << 19 / (2 * n) // as much memory as three windows of 2^18 points need
	k := keptPoints(t, n)
	for _, test := range []struct {
		procs, terms int // of a tree
		ex           executor.Executor
	}{
		{2, 1 << 13, executor.Pool()},
		{16, 1 << 12, executor.Pool()},
		{64, 1 << 11, executor.Pool()},
		{64, 1 << 11, executor.Unbounded()},
	} {
		runtime.GOMAXPROCS(test.procs)
		g, count := group.Counted(group.BN254())
		for range 4 {
			if got := must.Get(g.MSM(t.Context(), test.ex, k.points, k.scalars))(t); got != k.sum {
				t.Errorf("%s, %d processors: another sum than that of the serial executor", test.ex.Name(), test.procs)
			}
			runtime.GC()
		}
		s := count()
		if most := test.procs + windows; s.Tasks > most && test.ex != executor.Unbounded() || s.Large != 0 {
			t.Errorf("%s, %d processors: %d scratches of tasks, %d of them with memory of a whole sum; accepted are %d, and 0", test.ex.Name(), test.procs, s.Tasks, s.Large, most)
		}
		// Places that fill up vectors are an eighth more, and a slice that grows has room for a quarter more.
		if most := test.terms * 3 / 2; s.Tasks > 0 && s.Room == 0 || s.Room > most {
			t.Errorf("%s, %d processors: trees for %d points, accepted are 1 to %d", test.ex.Name(), test.procs, s.Room, most)
		}
		if s.Sortings == 0 || s.Sortings > sortings {
			t.Errorf("%s, %d processors: memory to sort %d windows at once, accepted are 1 to %d", test.ex.Name(), test.procs, s.Sortings, sortings)
		}
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
