package stark

import (
	"context"
	"fmt"
	"testing"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/stark/air"
)

const (
	stepRows = 8
	cellRows = 2 * stepRows
)

// fixedTables are a program of eight steps and the cells that it reads and writes once: of two cells, which
// the statement sends, every step makes the next one, their sum or their product, and the statement receives
// the last. Of the program a column says which it is, and three of what cells; of the cells one has the
// address, and one how often each is read or written.
func fixedTables(change func(steps, cells [][]uint64)) []*air.Table {
	steps, cells := make([][]uint64, 4), make([][]uint64, 2)
	times := make([]uint64, cellRows)
	times[0]++
	times[1]++
	times[stepRows+1]++
	for i := range uint64(stepRows) {
		for j, v := range []uint64{i % 3 & 1, i, i + 1, i + 2} {
			steps[j] = append(steps[j], v)
			if j > 0 {
				times[v]++
			}
		}
	}
	for i := range uint64(cellRows) {
		cells[0] = append(cells[0], i)
	}
	cells[1] = times
	if change != nil {
		change(steps, cells)
	}
	return []*air.Table{
		{Name: "steps", Columns: 3, Fixed: steps, State: func(b *air.Builder) {
			product, x, y, z := b.Fixed(0), b.Here(0), b.Here(1), b.Here(2)
			b.Zero(air.Everywhere, "sum", air.Constant(1).Sub(product).Mul(z.Sub(x.Add(y))))
			b.Zero(air.Everywhere, "product", product.Mul(z.Sub(x.Mul(y))))
			for i := range 3 {
				b.Receive("cell", air.Constant(1), b.Fixed(1+i), b.Here(i))
			}
		}},
		{Name: "cells", Columns: 1, Fixed: cells, State: func(b *air.Builder) {
			b.Send("cell", b.Fixed(1), b.Fixed(0), b.Here(0))
		}},
	}
}

// fixedTraces are of the program that begins with 3 and 4, of whose cells some are changed.
func fixedTraces(change func(table int, c *Cells)) ([]Trace, Statement) {
	values := []uint64{3, 4}
	for i := range stepRows {
		x, y := values[i], values[i+1]
		if i%3&1 == 1 {
			values = append(values, x*y)
		} else {
			values = append(values, x+y)
		}
	}
	trace := func(table, height int, set func(c *Cells)) Trace {
		return Trace{Rows: height, Fill: func(_ context.Context, _ executor.Executor, c *Cells) error {
			set(c)
			if change != nil {
				change(table, c)
			}
			return nil
		}}
	}
	return []Trace{
			trace(0, stepRows, func(c *Cells) {
				for i := range stepRows {
					for j := range 3 {
						c.Set(i, j, values[i+j])
					}
				}
			}),
			trace(1, cellRows, func(c *Cells) {
				for i, v := range values {
					c.Set(i, 0, v)
				}
			}),
		}, Statement{Messages: []Message{
			{"cell", -1, []uint64{0, values[0]}}, {"cell", -1, []uint64{1, values[1]}}, {"cell", -1, []uint64{stepRows + 1, values[stepRows+1]}},
		}, Context: []byte("fixed")}
}

// TestFixed: tables with fixed columns are proved over all fields and hashes, and what is proved depends on
// no executor, and on no other proof of the system.
func TestFixed(t *testing.T) {
	t.Parallel()
	for _, stack := range []int{0, 1, 3} {
		for _, c := range []Config{
			{Goldilocks, Keccak, smallSet(2)}, {Goldilocks, Poseidon, smallSet(2)}, {Goldilocks, Poseidon, smallSet(3)},
			{KoalaBear, Keccak, smallSet(4)}, {KoalaBear, Keccak, smallSet(6)},
		} {
			c.Set.Stack = stack
			t.Run(fmt.Sprintf("%s/%s/degree=%d/stack=%d", c.Field, c.Hash, c.Set.Degree, stack), func(t *testing.T) {
				t.Parallel()
				s := must.Get(New(c, fixedTables(nil)...))(t)
				traces, about := fixedTraces(nil)
				must.Do(t, s.Check(t.Context(), executor.Serial(), traces, about))
				first := must.Get(s.Prove(t.Context(), executor.Serial(), traces, about, Options{}))(t)
				must.Do(t, s.Verify(first, about))
				again := must.Get(New(c, fixedTables(nil)...))(t)
				for _, s := range []*System{s, again} {
					proof := must.Get(s.Prove(t.Context(), executor.Pool(), traces, about, Options{}))(t)
					if string(proof) != string(first) {
						t.Error("a proof depends on the executor, or on proofs before it")
					}
				}
			})
		}
	}
}
