package ours

import (
	"testing"

	"github.com/zkbench/zkbench/internal/study/peer/guest"
	"github.com/zkbench/zkbench/stark"
)

// TestGuestProves: the run of each loop is proved and verified, and the columns say what that took.
func TestGuestProves(t *testing.T) {
	t.Parallel()
	for _, loop := range guest.Proved() {
		elapsed, extra, err := proveGuest(&guest.Program{Loop: loop, XLEN: 64, System: guest.Linux, Instructions: 10_000}, stark.Keccak)
		if err != nil {
			t.Fatalf("%s: %v", loop.Name, err)
		}
		for _, unit := range []string{"cycles/s", "setup-ns", "verify-ns", "proof-bytes"} {
			if !(extra[unit] > 0) {
				t.Errorf("%s: no %s among columns %v", loop.Name, unit, extra)
			}
		}
		if elapsed <= 0 || extra["proved-bits"] < 100 {
			t.Errorf("%s: %v, columns %v", loop.Name, elapsed, extra)
		}
	}
}

// TestProofs: both peers have the loops that others execute.
func TestProofs(t *testing.T) {
	t.Parallel()
	keccak, poseidon := Proofs(stark.Keccak), Proofs(stark.Poseidon)
	if len(keccak) != len(guest.Proved()) {
		t.Fatalf("%d cases", len(keccak))
	}
	for i, c := range keccak {
		if c.Name != poseidon[i].Name || c.Once == nil {
			t.Errorf("cases %q and %q", c.Name, poseidon[i].Name)
		}
	}
}
