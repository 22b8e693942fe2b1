package zkvm

import (
	"context"
	"sync"

	"github.com/zkbench/zkbench/executor"
)

// counts says how often rows ask the tables of fixed columns for each of their rows.
type counts struct {
	halves, signs                    []uint32 // indexed by the half
	ands, bytes                      []uint32 // indexed by the two bytes
	powers                           []uint32 // indexed by kind and amount of a shift
	instructions, constants, targets []uint32 // indexed by the instruction
	loaded                           []uint32 // indexed by the program's constant cell, then the input's
}

// newCounts returns counts of 0 for a program and the number of its input's cells.
func newCounts(s shape, p *Program, input int) *counts {
	instructions := len(p.instructions)
	return &counts{
		halves: make([]uint32, s.halves()), signs: make([]uint32, s.halves()), ands: make([]uint32, 1<<(2*s.byte)), bytes: make([]uint32, 1<<(2*s.byte)), powers: make([]uint32, shiftKinds<<s.amountBits()),
		instructions: make([]uint32, instructions), constants: make([]uint32, instructions), targets: make([]uint32, instructions),
		loaded: make([]uint32, len(p.constants)+input),
	}
}

func (c *counts) all() [9][]uint32 {
	return [...][]uint32{c.halves, c.signs, c.ands, c.bytes, c.powers, c.instructions, c.constants, c.targets, c.loaded}
}

// tally has the counts of tasks: as many as tasks have run at once.
type tally struct {
	fresh func() *counts
	mu    sync.Mutex
	free  []*counts
}

// take returns counts for one task, which gives them back.
func (t *tally) take() *counts {
	t.mu.Lock()
	defer t.mu.Unlock()
	if n := len(t.free); n > 0 {
		c := t.free[n-1]
		t.free = t.free[:n-1]
		return c
	}
	return t.fresh()
}

func (t *tally) give(c *counts) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.free = append(t.free, c)
}

// addTo adds the counts of all tasks to the total.
func (t *tally) addTo(ctx context.Context, ex executor.Executor, total *counts) error {
	if len(t.free) == 0 {
		return nil
	}
	for i, to := range total.all() {
		err := executor.Ranges(ctx, ex, len(to), together, func(_ context.Context, lo, hi int) error {
			for _, c := range t.free {
				for j, n := range c.all()[i][lo:hi] {
					to[lo+j] += n
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}
