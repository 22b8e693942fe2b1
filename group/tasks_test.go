package group_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/exectest"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestTableInTasks: a sum over fixed points is the same in any number of tasks, also where the partial sums of tasks are
// the identity, equal or opposite.
func TestTableInTasks(t *testing.T) {
	const n = 520
	g := group.BN254()
	_, _, one, _ := bn254.Generators()
	random := rand.New(rand.NewPCG(1, 2))
	distinct, equal, opposite := make([]bn254.G1Affine, n), make([]bn254.G1Affine, n), make([]bn254.G1Affine, n)
	for i := range n {
		var k fr.Element
		k.SetUint64(random.Uint64())
		distinct[i] = must.Get(g.MSM(t.Context(), executor.Serial(), []bn254.G1Affine{one}, []fr.Element{k}))(t)
		if equal[i], opposite[i] = one, one; i%2 == 1 {
			opposite[i].Neg(&one)
		}
	}
	full, small, ones, few := make([]fr.Element, n), make([]fr.Element, n), make([]fr.Element, n), make([]fr.Element, n)
	for i := range n {
		full[i].SetUint64(random.Uint64())
		full[i].Exp(full[i], fr.Modulus())
		full[i].Square(&full[i])
		small[i].SetUint64(random.Uint64N(4))
		ones[i].SetOne()
	}
	few[n-1].SetInt64(-1)
	for name, points := range map[string][]bn254.G1Affine{"distinct": distinct, "equal": equal, "opposite": opposite} {
		table := must.Get(g.NewTable(points, group.TableOptions{Window: 4, Spacing: 5}))(t)
		for _, rows := range [][][]fr.Element{{full}, {small}, {ones}, {few}, {make([]fr.Element, n)}, {full, small[:200], ones}, {full[:1], small, few, full}} {
			want := make([]bn254.G1Affine, len(rows))
			must.Do(t, table.MSM(t.Context(), executor.Serial(), want, rows))
			for _, width := range []int{2, 3, 16, 64} {
				got := make([]bn254.G1Affine, len(rows))
				must.Do(t, table.MSM(t.Context(), exectest.Wide(width), got, rows))
				for j := range got {
					if !got[j].Equal(&want[j]) {
						t.Errorf("%s points, %d sums, %d tasks: another sum %d", name, len(rows), width, j)
					}
				}
			}
		}
	}
}

// TestAccumulatorInTasks: an accumulator gives the same answer on every executor.
func TestAccumulatorInTasks(t *testing.T) {
	g := group.BN254()
	_, _, one, _ := bn254.Generators()
	random := rand.New(rand.NewPCG(3, 4))
	points := make([]bn254.G1Affine, 200)
	for i := range points {
		var k fr.Element
		k.SetUint64(random.Uint64())
		points[i] = must.Get(g.MSM(t.Context(), executor.Serial(), []bn254.G1Affine{one}, []fr.Element{k}))(t)
	}
	basis := must.Get(group.NewBasis(g, []group.Family{{Name: "tasks", Count: 200}}, group.TableOptions{Window: 4, Spacing: 5}))(t)
	exectest.Each(t, func(t *testing.T, ex executor.Executor) {
		for _, holds := range []bool{true, false} {
			acc := group.NewAccumulator(basis, 0)
			var zero fr.Element
			for i := range points {
				var k fr.Element
				k.SetUint64(random.Uint64())
				acc.AddPoint(&points[i], &k)
				k.Neg(&k)
				acc.AddPoint(&points[i], &k)
				acc.AddFixed(i, &zero)
			}
			if !holds {
				k := fr.One()
				acc.AddFixed(7, &k)
			}
			if got := must.Get(acc.IsZero(t.Context(), ex))(t); got != holds {
				t.Errorf("zero is %v, want %v", got, holds)
			}
		}
	})
}

// TestSmallSumsAlone: an accumulator with as few terms as a verification of one transfer has is not cut into tasks, which
// would take longer. One of a batch is.
func TestSmallSumsAlone(t *testing.T) {
	t.Parallel()
	const n = 130 // generators
	g := group.BN254()
	basis := must.Get(group.NewBasis(g, []group.Family{{Name: "alone", Count: n}}, group.TableOptions{Window: 4, Spacing: 5}))(t)
	for points, cut := range map[int]bool{15: false, 40: false, 64: true, 400: true} {
		acc, one := group.NewAccumulator(basis, 0), fr.One()
		for i := range points {
			acc.AddPoint(&basis.Points[i%n], &one)
		}
		var forks atomic.Int64
		must.Get(acc.IsZero(t.Context(), forking{exectest.Wide(2), &forks}))(t)
		golden.Equal(t, fmt.Sprintf("cut, with %d points", points), cut, forks.Load() > 0)
	}
}

// forking counts the calls of Do with more than one task.
type forking struct {
	executor.Executor
	calls *atomic.Int64
}

func (f forking) Do(ctx context.Context, n int, task func(ctx context.Context, i int) error) error {
	if n > 1 {
		f.calls.Add(1)
	}
	return f.Executor.Do(ctx, n, task)
}

// TestSumsInTasksFailClosed: whichever call of an executor fails, and whenever a context ends, sums in tasks have no result: an
// accumulator is not zero, also if all terms but those of the failed sum are, and a table returns the error.
func TestSumsInTasksFailClosed(t *testing.T) {
	t.Parallel()
	const n = 320 // two tasks of a table
	g := group.BN254()
	basis := must.Get(group.NewBasis(g, []group.Family{{Name: "tasks", Count: n}}, group.TableOptions{Window: 4, Spacing: 5}))(t)
	ones := make([]fr.Element, n)
	fixed, points, both := group.NewAccumulator(basis, 0), group.NewAccumulator(basis, 0), group.NewAccumulator(basis, 0)
	for i := range ones {
		ones[i].SetOne()
		var minus fr.Element
		minus.Neg(&ones[i])
		fixed.AddFixed(i, &ones[i])
		points.AddPoint(&basis.Points[i], &ones[i])
		both.AddFixed(i, &ones[i])
		both.AddPoint(&basis.Points[i], &minus)
	}
	for name, acc := range map[string]*group.Accumulator[fr.Element, bn254.G1Affine]{"fixed": fixed, "points": points, "both": both} {
		for _, ex := range []executor.Executor{executor.Serial(), exectest.Wide(2)} {
			var zero bool
			isZero := func(ctx context.Context, ex executor.Executor) (err error) {
				if zero, err = acc.IsZero(ctx, ex); zero && (err != nil || acc != both) {
					t.Errorf("%s on %s: zero, error %v", name, ex.Name(), err)
				}
				return err
			}
			calls, err := exectest.EachRefused(t, ex, func(ex executor.Executor) error { return isZero(t.Context(), ex) })
			must.Do(t, err)
			if ex.Width() > 1 && calls < 2 {
				t.Errorf("%s on %s: only %d calls", name, ex.Name(), calls)
			}
			golden.Equal(t, name+" is zero", acc == both, zero)
			_, err = exectest.EachEnded(t, ex, isZero)
			must.Do(t, err)
		}
	}
	want, got := make([]bn254.G1Affine, 1), make([]bn254.G1Affine, 1)
	must.Do(t, basis.Table.MSM(t.Context(), executor.Serial(), want, [][]fr.Element{ones}))
	calls, err := exectest.EachRefused(t, exectest.Wide(2), func(ex executor.Executor) error {
		return basis.Table.MSM(t.Context(), ex, got, [][]fr.Element{ones})
	})
	must.Do(t, err)
	if calls != 1 || got[0] != want[0] {
		t.Errorf("a table's sum has %d calls and is right: %v", calls, got[0] == want[0])
	}
}

// BenchmarkTableInTasks shows what tasks cost: the tasks of one sum share its doublings, so that the work grows little.
func BenchmarkTableInTasks(b *testing.B) {
	const n = 130
	g := group.BN254()
	_, _, one, _ := bn254.Generators()
	points, scalars := make([]bn254.G1Affine, n), make([]fr.Element, n)
	for i := range n {
		points[i] = one
		scalars[i].SetUint64(uint64(i) + 1)
		scalars[i].Inverse(&scalars[i])
	}
	table := must.Get(g.NewTable(points, group.TableOptions{}))(b)
	for _, tasks := range []int{1, 2, 4} {
		b.Run(fmt.Sprintf("tasks=%d", tasks), func(b *testing.B) {
			r := executor.NewRecorder(tasks)
			rows, dst := [][]fr.Element{scalars, scalars, scalars, scalars}, make([]bn254.G1Affine, 4)
			for b.Loop() {
				must.Do(b, table.MSM(b.Context(), r, dst, rows))
			}
		})
	}
}
