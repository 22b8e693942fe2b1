package zkvm

import (
	"fmt"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/guesttest"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/riscv"
)

// TestRandom: the tables of random programs hold, and the first ones are proved and verified. Together they execute every
// instruction of the set.
func TestRandom(t *testing.T) {
	m := newMachine(rv64)
	executed := make(map[string]bool)
	for seed := range testsize.Pick[uint64](1, 20, 1000) {
		t.Run(fmt.Sprint("seed=", seed), func(t *testing.T) {
			p := must.Get(Load(guesttest.Bare(seed, 300)))(t)
			x, r, err := p.run(t.Context(), m, riscv.Options{})
			must.Do(t, err)
			golden.Equal(t, "output", string(r.Output), string(x.output))
			must.Do(t, check(t, x))
			names := make(map[uint64]string)
			for _, in := range p.guest.Instructions() {
				names[in.Address] = in.Op
			}
			for _, of := range x.rows {
				for i := range of.n {
					executed[names[p.instructions[of.at(i).index].address]] = true
				}
			}
			if seed < testsize.Pick[uint64](0, 2, 50) {
				proveAndVerify(t, p, nil)
			}
		})
	}
	if testing.Short() {
		return
	}
	for op := range operations {
		if !executed[op] {
			t.Errorf("no program executes %s", op)
		}
	}
}
