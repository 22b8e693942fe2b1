package keccak_test

import (
	"bytes"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/keccaktest"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestVectors: both hashes of every length from 0 to 255 bytes, and of the longer ones.
func TestVectors(t *testing.T) {
	t.Parallel()
	counts, longest := make(map[byte]int), 0
	for i, v := range keccaktest.Vectors(t) {
		if i < 256 && len(v.Message) != i {
			t.Errorf("vector %d has %d bytes", i, len(v.Message))
		}
		for padding, want := range v.Digests {
			golden.Equal(t, fmt.Sprintf("padding=%d/bytes=%d", padding, len(v.Message)), want, keccaktest.Sum(padding, v.Message))
			if other := keccaktest.Sum(padding^7, v.Message); other == want {
				t.Errorf("padding=%d/bytes=%d: both hashes are %x", padding, len(v.Message), want)
			}
			counts[padding]++
		}
		longest = max(longest, len(v.Message))
	}
	golden.Equal(t, "vectors by padding", map[byte]int{keccak.Keccak256: 262, keccak.SHA3256: 257}, counts)
	golden.Equal(t, "bytes of the longest message", 4288, longest)
}

// TestPieces: the hash does not depend on how the message is cut.
func TestPieces(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		message := rapid.SliceOfN(rapid.Byte(), 0, 3*keccak.Rate).Draw(t, "message")
		h := keccak.New256()
		for rest := message; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(t, "piece")
			h.Write(rest[:n])
			rest = rest[n:]
		}
		if got, want := h.Sum(nil), keccak.Sum256(message); !bytes.Equal(got, want[:]) {
			t.Fatalf("in pieces %x, whole %x", got, want)
		}
	})
}

// TestBlocks: the padding takes a byte, so a full block needs another.
func TestBlocks(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{0: 1, 135: 1, 136: 2, 271: 2, 272: 3, 136_000: 1001} {
		golden.Equal(t, fmt.Sprintf("blocks of %d bytes", n), want, keccak.Blocks(n))
	}
}

// TestCheckPadding: bit 7 is not for a padding byte, and 0 tells no end.
func TestCheckPadding(t *testing.T) {
	t.Parallel()
	for _, padding := range []byte{0x01, 0x06, 0x7f} {
		if err := keccak.CheckPadding(padding); err != nil {
			t.Error(err)
		}
	}
	for _, padding := range []byte{0, 0x80, 0xff} {
		must.Fail(t, keccak.CheckPadding(padding), zkbench.ErrParams, "padding byte")
	}
}
