package ours

import (
	"errors"
	"testing"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/study/peer/guest"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/zkvm"
)

// TestGuestProves: the run of a loop is proved and verified, and the columns say what that took.
func TestGuestProves(t *testing.T) {
	t.Parallel()
	elapsed, extra, err := proveGuest(&guest.Program{Loop: guest.Proved()[0], XLEN: 64, System: guest.Linux, Instructions: 10_000}, stark.Keccak)
	must.Do(t, err)
	for _, unit := range []string{"cycles/s", "setup-ns", "verify-ns", "proof-bytes"} {
		if !(extra[unit] > 0) {
			t.Errorf("no %s among columns %v", unit, extra)
		}
	}
	if elapsed <= 0 || extra["proved-bits"] < 100 || extra["instructions"] != 10_000 {
		t.Errorf("%v, columns %v", elapsed, extra)
	}
}

// TestProvedFit: the tables hold the runs that are proved, in 110 cells a cycle at most, as docs/zkvm.md says.
func TestProvedFit(t *testing.T) {
	t.Parallel()
	planned := errors.New("planned")
	for _, loop := range guest.Proved() {
		p := guest.Program{Loop: loop, XLEN: 64, System: guest.Linux, Instructions: loop.Proved}
		program := must.Get(zkvm.Load(p.ELF()))(t)
		_, _, err := program.Prove(t.Context(), executor.Pool(), nil, zkvm.About{Exit: uint64(p.Exit())}, zkvm.Options{Plan: func(plan zkvm.Plan) error {
			if plan.Cycles != uint64(p.Instructions) || plan.Bits < 100 {
				t.Errorf("%s: %+v", loop.Name, plan)
			}
			cells := float64(plan.Cells) / float64(plan.Cycles)
			t.Logf("%s: %.1f cells a cycle", loop.Name, cells)
			if cells > 110 {
				t.Errorf("%s: %.1f cells a cycle, want at most 110", loop.Name, cells)
			}
			return planned
		}})
		must.Fail(t, err, planned, "%s", loop.Name)
	}
}

// TestProofs: both peers have the same loops.
func TestProofs(t *testing.T) {
	t.Parallel()
	keccak, poseidon := Proofs(stark.Keccak), Proofs(stark.Poseidon)
	golden.Equal(t, "cases", [2]int{len(guest.Proved()), len(guest.Proved())}, [2]int{len(keccak), len(poseidon)})
	for i, c := range keccak {
		if c.Name != poseidon[i].Name || c.Once == nil {
			t.Errorf("cases %q and %q", c.Name, poseidon[i].Name)
		}
	}
}
