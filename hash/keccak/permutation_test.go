package keccak

import (
	"testing"

	"github.com/zkbench/zkbench/internal/golden"
)

// TestRound: 24 of them, with the derived constants, are Keccak's permutation.
func TestRound(t *testing.T) {
	t.Parallel()
	var a [Lanes]uint64
	a[0], a[Rate/8-1] = Keccak256, 1<<63 // no message, padded
	for _, constant := range RoundConstants() {
		a = Round(a, constant)
	}
	var digest [Digest]byte
	for i := range digest {
		digest[i] = byte(a[i/8] >> (8 * (i % 8)))
	}
	golden.Equal(t, "digest", Sum256(nil), digest)
}
