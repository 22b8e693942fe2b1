package group_test

import (
	"context"
	"errors"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

type bnTable = group.Table[fr.Element, bn254.G1Affine]

// calls counts a table's sums, by call.
type calls struct {
	bnTable
	sums []int
}

func (c *calls) MSM(ctx context.Context, ex executor.Executor, dst []bn254.G1Affine, scalars [][]fr.Element) error {
	c.sums = append(c.sums, len(dst))
	return c.bnTable.MSM(ctx, ex, dst, scalars)
}

// TestTogether: those that run in step get the sums that they would get alone, each as many as
// it asks for, in as many calls as the longest of them makes.
func TestTogether(t *testing.T) {
	t.Parallel()
	g := group.BN254()
	basis := must.Get(group.NewBasis(g, []group.Family{{Name: "together", Count: 3}}, group.TableOptions{}))(t)
	table := &calls{bnTable: basis.Table}
	run := func(ctx context.Context, n int, wrong error) (out [][]bn254.G1Affine, err error) {
		out = make([][]bn254.G1Affine, n)
		err = group.Together(ctx, executor.Serial(), bnTable(table), n, func(i int, table bnTable) error {
			golden.Equal(t, "points", 3, table.Len())
			for round := range i + 1 { // number i takes i+1 rounds of round+1 sums
				dst, scalars := make([]bn254.G1Affine, round+1), make([][]fr.Element, round+1)
				for k := range scalars {
					scalars[k] = []fr.Element{g.ScalarFromUint64(uint64(i)), g.ScalarFromUint64(uint64(round)), g.ScalarFromUint64(uint64(k))}
				}
				if err := table.MSM(ctx, executor.Serial(), dst, scalars); err != nil {
					return err
				}
				if i == 1 && round == 0 && wrong != nil {
					return wrong
				}
				want := make([]bn254.G1Affine, len(dst))
				must.Do(t, basis.Table.MSM(context.Background(), executor.Serial(), want, scalars))
				golden.Equal(t, "sums", want, dst)
				out[i] = append(out[i], dst...)
			}
			return nil
		})
		return out, err
	}
	for n, want := range [][]int{{}, {1}, {2, 2}, {3, 4, 3}, {4, 6, 6, 4}} {
		table.sums = []int{}
		out, err := run(t.Context(), n, nil)
		must.Do(t, err)
		golden.Equal(t, "sums by call", want, table.sums)
		for i := range out {
			golden.Equal(t, "sums of one", (i+1)*(i+2)/2, len(out[i]))
		}
	}
	// One that fails leaves the others to end.
	wrong := errors.New("wrong")
	out, err := run(t.Context(), 3, wrong)
	golden.Equal(t, "is the error of one", true, errors.Is(err, wrong))
	golden.Equal(t, "sums of the others", [2]int{1, 6}, [2]int{len(out[0]), len(out[2])})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = run(ctx, 3, nil)
	golden.Equal(t, "is cancelled", true, errors.Is(err, context.Canceled))
	for n := 1; n < 3; n++ {
		if !panics(func() {
			_ = group.Together(t.Context(), executor.Serial(), bnTable(table), n, func(_ int, table bnTable) error {
				return table.MSM(t.Context(), executor.Serial(), make([]bn254.G1Affine, 2), make([][]fr.Element, 1))
			})
		}) {
			t.Error("fewer sums than destinations do not panic")
		}
	}
}
