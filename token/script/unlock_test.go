package script

import (
	"bytes"
	"crypto/sha256"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestUnlock: witnesses at the limits of their lengths, encoded, decoded and used.
func TestUnlock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, path string // an empty path is accepted
		unlock     Unlock
	}{
		{"reclaim", "", Unlock{Kind: Reclaim}},
		{"claim,preimage=1", "", Unlock{Claim, make([]byte, 1)}},
		{"claim,preimage=64", "", Unlock{Claim, make([]byte, 64)}},
		{"claim,preimage=0", "preimage", Unlock{Kind: Claim}},
		{"claim,preimage=65", "preimage", Unlock{Claim, make([]byte, 65)}},
		{"reclaim,preimage=1", "preimage", Unlock{Reclaim, make([]byte, 1)}},
		{"kind=0", "kind", Unlock{}},
		{"kind=3", "kind", Unlock{Kind: 3}},
	} {
		t.Run(c.name, func(t *testing.T) {
			wire := []byte{byte(c.unlock.Kind)}
			encoded, encodeErr := c.unlock.Encode()
			decoded, decodeErr := DecodeUnlock(wire, c.unlock.Preimage)
			if c.path != "" {
				mustDecodeError(t, encodeErr, "unlock."+c.path, len(wire))
				mustDecodeError(t, decodeErr, "unlock."+c.path, len(wire))
				_, err := testLock(t).Signer(unix(testDeadline, 0), c.unlock)
				mustDecodeError(t, err, "unlock."+c.path, len(wire))
				return
			}
			if encodeErr != nil || !bytes.Equal(encoded, wire) {
				t.Errorf("encoded %x, %v", encoded, encodeErr)
			}
			if decodeErr != nil || decoded.Kind != c.unlock.Kind || !bytes.Equal(decoded.Preimage, c.unlock.Preimage) {
				t.Errorf("decoded %v, %v", decoded, decodeErr)
			}
		})
	}
	for _, wire := range [][]byte{nil, {1, 1}} {
		_, err := DecodeUnlock(wire, testPreimage)
		mustDecodeError(t, err, "unlock.kind", 0)
	}
}

// TestImage: the image is the preimage's SHA-256, for lengths of 1 to 64 only.
func TestImage(t *testing.T) {
	t.Parallel()
	for n := range MaxPreimage + 2 {
		preimage := bytes.Repeat([]byte{7}, n)
		image, err := Image(preimage)
		if n < 1 || n > MaxPreimage {
			mustDecodeError(t, err, "unlock.preimage", 1)
		} else if err != nil || image != sha256.Sum256(preimage) {
			t.Errorf("length %d: %x, %v", n, image, err)
		}
	}
}

// TestUnlockCanonical: whatever decodes encodes to the same witness.
func TestUnlockCanonical(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		witness := []byte{rapid.ByteRange(0, 3).Draw(t, "kind")}
		preimage := rapid.SliceOfN(rapid.Byte(), 0, 66).Draw(t, "preimage")
		u, err := DecodeUnlock(witness, preimage)
		n := len(preimage)
		if want := witness[0] == 1 && n >= 1 && n <= 64 || witness[0] == 2 && n == 0; (err == nil) != want {
			t.Fatalf("kind %d with %d bytes: %v", witness[0], n, err)
		}
		if err != nil {
			return
		}
		golden.Equal(t, "the same witness, encoded again", witness, must.Get(u.Encode())(t))
		golden.Equal(t, "its preimage", preimage, u.Preimage, cmpopts.EquateEmpty())
	})
}

// FuzzDecodeUnlock: any bytes are refused with a typed error, or are the one
// encoding of what they decode to.
func FuzzDecodeUnlock(f *testing.F) {
	f.Add([]byte{}, []byte{})
	f.Add([]byte{byte(Reclaim)}, []byte{})
	f.Add([]byte{byte(Reclaim)}, []byte{0})
	f.Add([]byte{byte(Claim)}, testPreimage)
	f.Add([]byte{byte(Claim)}, make([]byte, MaxPreimage+1))
	f.Fuzz(func(t *testing.T, witness, preimage []byte) {
		u, err := DecodeUnlock(witness, preimage)
		if err != nil {
			mustDecodeError(t, err, "", max(len(witness), len(preimage)))
			return
		}
		if again := must.Get(u.Encode())(t); !bytes.Equal(again, witness) || !bytes.Equal(u.Preimage, preimage) {
			t.Fatal("a second encoding of one witness")
		}
	})
}
