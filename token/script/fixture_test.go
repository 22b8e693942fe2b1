package script

import (
	"bytes"
	"crypto/ed25519"
	"crypto/sha256"
	"errors"
	"slices"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token/identity"
)

const testDeadline = 1_800_000_000

var testPreimage = []byte("a preimage that nobody guesses!!")

// ed returns the Ed25519 identity of a seed of equal bytes.
func ed(seed byte) identity.Identity {
	key := ed25519.NewKeyFromSeed(bytes.Repeat([]byte{seed}, ed25519.SeedSize))
	return append(identity.Identity{byte(identity.TypeEd25519)}, key.Public().(ed25519.PublicKey)...)
}

// sender and recipient are the parties of testLock.
func sender() identity.Identity    { return ed(1) }
func recipient() identity.Identity { return ed(2) }

func testLock(t testing.TB) *HashLock {
	t.Helper()
	return must.Get(NewHashLock(must.Get(Image(testPreimage))(t), testDeadline, sender(), recipient()))(t)
}

// sameMeaning reports whether two locks have all fields in common.
func sameMeaning(a, b *HashLock) bool {
	return a.Image() == b.Image() && a.Deadline() == b.Deadline() &&
		bytes.Equal(a.Sender(), b.Sender()) && bytes.Equal(a.Recipient(), b.Recipient())
}

// rebuilt encodes the fields of a lock anew.
func rebuilt(h *HashLock) ([]byte, error) {
	again, err := NewHashLock(h.Image(), h.Deadline(), h.Sender(), h.Recipient())
	if err != nil {
		return nil, err
	}
	return again.Owner(), nil
}

// mustDecodeError checks that err is a *zkbench.DecodeError within n bytes, of the
// field at path where that is not empty.
func mustDecodeError(t testing.TB, err error, path string, n int) *zkbench.DecodeError {
	t.Helper()
	var de *zkbench.DecodeError
	if !errors.As(err, &de) || !errors.Is(err, zkbench.ErrMalformed) {
		t.Fatalf("error %v, want a *DecodeError", err)
	}
	if path != "" && de.Path != path {
		t.Fatalf("error %v, want one of %s", err, path)
	}
	if de.Offset < 0 || de.Offset > n {
		t.Fatalf("offset %d of %d bytes", de.Offset, n)
	}
	return de
}

// sha returns the hash of bytes that Image may refuse.
func sha(b []byte) [ImageLen]byte { return sha256.Sum256(b) }

// overwritten returns data with the bytes at offset replaced.
func overwritten(data []byte, offset int, b ...byte) []byte {
	out := slices.Clone(data)
	copy(out[offset:], b)
	return out
}
