// Package keccaktest has test vectors of Keccak-256 and SHA3-256, for the hash in Go and for circuits.
// testdata/hash/kat_256.txt names their sources.
package keccaktest

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/internal/testing/golden"
)

// Vector is a message with its two digests. One of them may be missing.
type Vector struct {
	Message []byte
	Digests map[byte][keccak.Digest]byte // by padding byte: keccak.Keccak256 or keccak.SHA3256
}

// Sum returns the digest of message under the hash that the padding byte selects.
func Sum(padding byte, message []byte) [keccak.Digest]byte {
	if padding == keccak.SHA3256 {
		return keccak.SumSHA3256(message)
	}
	return keccak.Sum256(message)
}

// Vectors returns all vectors. The first 256 are the Keccak team's short messages, and the index of each
// is its length in bytes.
func Vectors(t testing.TB) []Vector {
	t.Helper()
	var vectors []Vector
	n := 0
	for line := range strings.Lines(golden.Read(t, "hash/kat_256.txt")) {
		n++
		if strings.HasPrefix(line, "#") {
			continue
		}
		fields := strings.Fields(line)
		if len(fields) != 3 {
			t.Fatalf("line %d: %d fields, want 3", n, len(fields))
		}
		v := Vector{decode(t, n, fields[0]), make(map[byte][keccak.Digest]byte)}
		for i, padding := range []byte{keccak.Keccak256, keccak.SHA3256} {
			switch d := decode(t, n, fields[1+i]); len(d) {
			case 0:
			case keccak.Digest:
				v.Digests[padding] = [keccak.Digest]byte(d)
			default:
				t.Fatalf("line %d: a digest of %d bytes", n, len(d))
			}
		}
		vectors = append(vectors, v)
	}
	return vectors
}

func decode(t testing.TB, line int, field string) []byte {
	t.Helper()
	if field == "-" {
		return nil
	}
	b, err := hex.DecodeString(field)
	if err != nil {
		t.Fatalf("line %d: %v", line, err)
	}
	return b
}
