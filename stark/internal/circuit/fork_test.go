package circuit_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark/internal/circuit"
	"github.com/zkbench/zkbench/stark/internal/circuittest"
)

// TestFork: parts that are written down at once are the program that the same parts are one after the other, with
// nested parts, and with constants of which earlier parts, later ones and the program itself have some.
func TestFork(t *testing.T) {
	t.Parallel()
	constant := func(i int) circuit.Value { return circuit.Constant(circuit.X{2, circuit.E(i)}) }
	// fork runs parts with or without Fork.
	type fork func(b *circuit.Builder, n int, part func(b *circuit.Builder, i int) []circuit.Cell) [][]circuit.Cell
	forked := func(b *circuit.Builder, n int, part func(b *circuit.Builder, i int) []circuit.Cell) [][]circuit.Cell {
		return must.Get(b.Fork(n, part))(t)
	}
	inTurn := func(b *circuit.Builder, n int, part func(b *circuit.Builder, i int) []circuit.Cell) (cells [][]circuit.Cell) {
		for i := range n {
			cells = append(cells, part(b, i))
		}
		return cells
	}
	write := func(b *circuit.Builder, run fork) []circuit.Cell {
		x := b.Hint(circuit.X{3, 5})
		b.Cell(constant(1))
		cells := run(b, 5, func(b *circuit.Builder, i int) []circuit.Cell {
			y := b.Hint(circuit.X{circuit.E(i)})
			sum := b.Mul(b.Add(x, y), b.FromCell(b.Cell(constant(i%3))))
			inner := run(b, 4, func(b *circuit.Builder, j int) []circuit.Cell {
				b.Cell(constant(10*i + j%2))
				out := b.Permute([circuit.Pairs]circuit.Value{x, y, constant(j), constant(i), constant(1), circuit.Zero}, circuit.Zero)
				if i == 3 && j > 1 {
					b.Equal(x, y, "part %d of part %d", j, i)
				}
				return []circuit.Cell{b.Cell(out[0]), b.Cell(constant(j)), circuit.None}
			})
			b.Cell(constant(7))
			return append(slices.Concat(inner...), b.Cell(sum), b.Cell(constant(i)))
		})
		b.Cell(constant(4))
		return slices.Concat(cells...)
	}
	for _, ex := range []executor.Executor{executor.Serial(), executor.Pool(), executor.Unbounded(), executor.NewRecorder(16)} {
		want, got := circuit.New(2), circuit.NewOn(t.Context(), ex, 2)
		golden.Equal(t, "the cells that parts return", write(want, inTurn), write(got, forked))
		golden.Equal(t, "rows", want.Rows, got.Rows)
		golden.Equal(t, "permutations", want.Permutations, got.Permutations)
		golden.Equal(t, "values", want.Values, got.Values)
		golden.Equal(t, "errors", fmt.Sprint(want.Err()), fmt.Sprint(got.Err()))
		p := circuittest.New(got)
		golden.Equal(t, "rows that do not hold", 2, len(p.Broken(got.Values)))
	}
	ctx, cancel := context.WithCancel(t.Context())
	_, err := circuit.NewOn(ctx, executor.NewRecorder(1), 2).Fork(3, func(*circuit.Builder, int) []circuit.Cell {
		cancel()
		return nil
	})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled in a part: %v", err)
	}
}
