package audit_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token/audit"
)

// owners are an Owner of each form.
func owners() map[string]audit.Owner {
	return map[string]audit.Owner{
		"empty":        {},
		"in the clear": {Certificate: []byte("certificate"), Proof: []byte("proof")},
		"sealed":       {Sealed: &audit.Sealed{Policy: 7, Copies: []audit.Copy{{Key: [audit.KeyNameLen]byte{1}, Ciphertext: []byte("ciphertext")}}}},
	}
}

func decodeError(err error) *zkbench.DecodeError {
	d, _ := errors.AsType[*zkbench.DecodeError](err)
	return d
}

// TestOwnerEncoding: an Owner is appended to what is there, and decoded at the start of what is there, to its last byte.
func TestOwnerEncoding(t *testing.T) {
	for name, o := range owners() {
		encoded := must.Get(o.Append([]byte("before")))(t)
		if !bytes.HasPrefix(encoded, []byte("before")) {
			t.Errorf("%s: %q does not begin with what was there", name, encoded)
		}
		encoded = encoded[len("before"):]
		got, n, err := audit.DecodeOwner(append(bytes.Clone(encoded), "behind"...))
		must.Do(t, err, name)
		golden.Equal(t, name+": length", len(encoded), n)
		golden.Equal(t, name, o, got)
		for cut := range encoded {
			o, n, err := audit.DecodeOwner(encoded[:cut])
			if !errors.Is(err, zkbench.ErrMalformed) || n != 0 || o.Certificate != nil || o.Sealed != nil {
				t.Errorf("%s, cut to %d bytes: %v, %d bytes read", name, cut, err, n)
			}
		}
	}
	_, _, err := audit.DecodeOwner([]byte{1, 0, 0, 0, 0})
	golden.Equal(t, "in the clear, and empty", &zkbench.DecodeError{Path: "form", Reason: "in clear, and empty"}, decodeError(err))
	_, _, err = audit.DecodeOwner([]byte{1, 0, 1, 'c', 0xff, 0})
	golden.Equal(t, "offset in the owner", 4, decodeError(err).Offset)
	long := audit.Owner{Certificate: make([]byte, audit.MaxCertificate+1), Proof: []byte("proof")}
	must.FailGet(long.Append(nil))(t, zkbench.ErrLimit, "a certificate that is too long")
}

// FuzzDecodeOwner: what is decoded has one encoding, of the length that was read.
func FuzzDecodeOwner(f *testing.F) {
	for _, o := range owners() {
		f.Add(must.Get(o.Append(nil))(f))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		o, n, err := audit.DecodeOwner(data)
		if err != nil {
			must.Fail(t, err, zkbench.ErrMalformed, "untyped error")
			return
		}
		golden.Equal(t, "the same owner, encoded again", data[:n], must.Get(o.Append(nil))(t))
	})
}
