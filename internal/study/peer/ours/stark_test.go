package ours

import (
	"fmt"
	"testing"

	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/recursion"
)

// TestStarkBlocks: a message has as many blocks as the case says permutations.
func TestStarkBlocks(t *testing.T) {
	t.Parallel()
	for _, blocks := range starkBlocks {
		golden.Equal(t, fmt.Sprintf("permutations=%d: blocks", blocks), blocks, keccak.Blocks(len(blockMessage(blocks))))
	}
}

// TestAggregateProves: from a message to one proof, which verifies.
func TestAggregateProves(t *testing.T) {
	t.Parallel()
	_, extra, err := proveAggregate(recursion.Compare100(), 100)
	if err != nil {
		t.Fatal(err)
	}
	for _, unit := range []string{"build-ns", "proof-bytes", "verify-ns"} {
		if extra[unit] == 0 {
			t.Errorf("no %s among columns %v", unit, extra)
		}
	}
}

// TestStarkProves: every system proves, and its proof verifies.
func TestStarkProves(t *testing.T) {
	t.Parallel()
	for _, s := range starkSystems {
		t.Run(fmt.Sprintf("field=%s/hash=%s", s.field, s.hash), func(t *testing.T) {
			t.Parallel()
			op, extra, err := proveBlocks(stark.Config{Field: s.field, Hash: s.hash, Params: stark.Compare100(s.field)}, 2)
			if err != nil {
				t.Fatal(err)
			}
			must.Do(t, op())
			if extra["proof-bytes"] == 0 || extra["verify-ns"] == 0 {
				t.Errorf("columns %v", extra)
			}
		})
	}
}
