package poseidon

import (
	"fmt"
	"testing"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/internal/testing/golden"
)

// TestWide: each kernel permutes itself all states that fill its registers, and leaves the
// rest only.
func TestWide(t *testing.T) {
	t.Parallel()
	const n, width = 13, 9
	want := map[string]int{"portable": 0, "avx2": 12, "avx512": 8, "sve": n, "sve2": n}
	for _, k := range goldilocks.Kernels() {
		for name, done := range map[string]int{
			"permute":  permuteWide(k, make([]State, n)),
			"compress": compressWide(k, make([]Digest, n), make([]Digest, 2*n)),
			"leaves":   leavesWide(k, make([]Digest, n), make([]goldilocks.Element, n*width), width),
		} {
			golden.Equal(t, fmt.Sprintf("%v: %s of %d does", k, name, n), want[k.String()], done)
		}
	}
}
