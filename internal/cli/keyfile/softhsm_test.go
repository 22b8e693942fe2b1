//go:build pkcs11 && cgo

package keyfile

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/hpke"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/softhsmtest"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/identity/pkcs11"
)

// TestToken: a URI in place of a path signs with the key in the token, and so does a file with the URI, which has the
// other keys: an auditor's key for opening, or the certificate of a key on P-256. A second URI, in any order, opens.
func TestToken(t *testing.T) {
	s := softhsmtest.New(t).Make(t, "bank")
	ed, ec := some(t, token.X25519), certified(t)
	s.Import(t, "ed", 1, ed.Signing)
	s.Import(t, "ec", 2, ec.Signing.(*ecdsa.PrivateKey))
	read := func(what string) *Keys {
		t.Helper()
		k := must.Get(Read("key", what, "a key"))(t)
		t.Cleanup(func() { must.Do(t, k.Close()) })
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
		data := must.Get((&Keys{URIs: []string{s.URI(name)}, Opening: k.Opening, Identities: k.Identities}).Encode())(t)
		must.Do(t, os.WriteFile(path, data, 0o600))
		again := read(path)
		signs(again.Self(), k)
		if k.Opening != nil && !bytes.Equal(again.Opening.PublicKey().Bytes(), k.Opening.PublicKey().Bytes()) {
			t.Error("another key for opening")
		}
	}

	s.Generate(t, "x")
	write := func(k Keys, lines ...string) string {
		path := filepath.Join(t.TempDir(), "keys.pem")
		data := must.Get(k.Encode())(t)
		must.Do(t, os.WriteFile(path, append([]byte(strings.Join(lines, "\n")+"\n"), data...), 0o600))
		return path
	}
	_, x, err := pkcs11.OpenAny(s.URI("x"))
	must.Do(t, err)
	public := must.Get(hpke.NewDHKEMPublicKey(x.PublicKey()))(t)
	must.Do(t, x.Close())
	sealed := must.Get(hpke.Seal(public, hpke.HKDFSHA256(), hpke.ChaCha20Poly1305(), nil, []byte("amount")))(t)
	for _, path := range []string{
		write(Keys{}, s.URI("ed"), s.URI("x")), write(Keys{}, s.URI("x"), s.URI("ed")), write(Keys{Signing: ed.Signing}, s.URI("x")),
	} {
		k := read(path)
		signs(k.Self(), ed)
		golden.Equal(t, "opened", "amount", string(must.Get(hpke.Open(k.Opening, hpke.HKDFSHA256(), hpke.ChaCha20Poly1305(), nil, sealed))(t)))
	}
	for says, path := range map[string]string{
		"a second key that signs":     write(Keys{}, s.URI("ed"), s.URI("ec")),
		"a second key for opening":    write(Keys{Opening: ed.Opening}, s.URI("x")),
		"that signs, the one of a PK": write(Keys{Signing: ed.Signing}, s.URI("ec")),
	} {
		if _, err := Read("key", path, "a key"); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("%v; want ...%s", err, says)
		}
	}
}
