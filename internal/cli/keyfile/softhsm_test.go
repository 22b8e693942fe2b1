//go:build pkcs11 && cgo

package keyfile

import (
	"bytes"
	"crypto/ecdsa"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/softhsmtest"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
)

// TestToken: a URI in place of a path signs with the key in the token, and so does a file with the URI, which has the
// other keys: an auditor's key for opening, or the certificate of a key on P-256.
func TestToken(t *testing.T) {
	s := softhsmtest.New(t).Make(t, "bank")
	ed, ec := some(t, token.X25519), certified(t)
	s.Import(t, "ed", 1, ed.Signing)
	s.Import(t, "ec", 2, ec.Signing.(*ecdsa.PrivateKey))
	read := func(what string) *Keys {
		t.Helper()
		k := must.Get(Read("key", what, "a key"))(t)
		t.Cleanup(func() { must.Do(t, k.Signing.(io.Closer).Close()) })
		return k
	}
	signs := func(signer identity.Signer, want *Keys) {
		t.Helper()
		if signer == nil {
			t.Fatal("no signer")
		}
		golden.Equal(t, "identity", want.Self().Identity(), signer.Identity())
		signature := must.Get(signer.Sign([]byte("message"), nil))(t)
		verifier := must.Get(must.Get(identity.NewSet(1, nil))(t).Verifier(want.Self().Identity()))(t)
		must.Do(t, verifier.Verify([]byte("message"), signature))
	}
	signs(read(s.URI("ed")).Self(), ed)
	signs(read(s.URI("ec")).Signer(ed.Self().Identity(), ec.Self().Identity()), ec) // as an administrator's
	if read(s.URI("ec")).Self() != nil {
		t.Error("a key on P-256 signs without a certificate")
	}
	for name, k := range map[string]*Keys{"ed": ed, "ec": ec} {
		path := filepath.Join(t.TempDir(), name)
		data := must.Get((&Keys{URI: s.URI(name), Opening: k.Opening, Identities: k.Identities}).Encode())(t)
		must.Do(t, os.WriteFile(path, data, 0o600))
		again := read(path)
		signs(again.Self(), k)
		if k.Opening != nil && !bytes.Equal(again.Opening.PublicKey().Bytes(), k.Opening.PublicKey().Bytes()) {
			t.Error("another key for opening")
		}
	}
}
