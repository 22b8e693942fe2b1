package group

import (
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
)

// TestKinds: 0, 1 and -1 are known by all their words, and magnitudes by their length.
func TestKinds(t *testing.T) {
	t.Parallel()
	testKinds(t, BN254())
	testKinds(t, BLS12381())
	for k, want := range map[uint64]uint8{2: 1, 1<<16 - 1: 1, 1 << 16: 2, 1<<64 - 1: 2} {
		if class := classOf(k); class != want {
			t.Errorf("%d is of class %d, want %d", k, class, want)
		}
	}
}

func testKinds[S scalarElement, P any](t *testing.T, g Group[S, P]) {
	one := g.ScalarFromUint64(1)
	var minusOne S
	g.Neg(&minusOne, &one)
	a, b := [4]uint64(one), [4]uint64(minusOne)
	for _, c := range []struct {
		words [4]uint64
		want  uint8
	}{{[4]uint64{}, none}, {a, unit}, {b, unit | minus}} {
		if kind := kindOf(c.words, &a, &b); kind != c.want {
			t.Errorf("%s: %x is of kind %d, want %d", g.Name(), c.words, kind, c.want)
		}
		for i := range 256 {
			other := c.words
			other[i/64] ^= 1 << (i % 64)
			if kind := kindOf(other, &a, &b); kind != full {
				t.Fatalf("%s: %x is of kind %d, want %d", g.Name(), other, kind, full)
			}
		}
	}
}

// TestTermsForget: terms that are used again have no counts of the sum before.
func TestTermsForget(t *testing.T) {
	for _, pieces := range []int{1, 2} {
		used := terms{counted: []classCounts{{3, 1}, {4}}}
		used.reset(8, pieces)
		golden.Equal(t, "counts", make([]classCounts, pieces), used.counted)
	}
}
