package zkbench

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/cli/keyfile"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
)

// TestKeyShow: the flags for parameters accept what key show prints, and it is the public part of the secret keys. The
// output has each key once, and no secret.
func TestKeyShow(t *testing.T) {
	show := func(k *keyfile.Keys) string {
		t.Helper()
		var out strings.Builder
		must.Do(t, showKeys(&out, k))
		return out.String()
	}
	field := func(text, name string) string {
		t.Helper()
		for line := range strings.Lines(text) {
			if what, key, _ := strings.Cut(line, " "); what == name {
				return strings.TrimSpace(key)
			}
		}
		t.Fatalf("no line %q in:\n%s", name, text)
		return ""
	}
	public, private, err := ed25519.GenerateKey(nil)
	must.Do(t, err)
	other, _, err := ed25519.GenerateKey(nil)
	must.Do(t, err)
	authority := must.Get(identity.Ed25519(other))(t)
	for _, kem := range []token.KEM{token.X25519, token.MLKEM768X25519} {
		k := &keyfile.Keys{Signing: private, Opening: must.Get(must.Get(kem.HPKE())(t).GenerateKey())(t), Identities: []identity.Identity{authority}}
		text := show(k)
		opens := field(text, "opens")
		if block, _ := pem.Decode([]byte(text)); block != nil {
			opens = filepath.Join(t.TempDir(), "public.pem")
			must.Do(t, os.WriteFile(opens, pem.EncodeToMemory(block), 0o600))
		}
		a := must.Get(parseAuditor(field(text, "signs") + "=" + opens))(t)
		want := token.Auditor{Identity: must.Get(identity.Ed25519(public))(t), KEM: kem, Key: k.Opening.PublicKey().Bytes()}
		golden.Equal(t, "auditor", want, a)
		golden.Equal(t, "authority", []byte(authority), must.Get(parseIdentity(field(text, "authority")))(t))
		for _, secret := range [][]byte{private.Seed(), must.Get(k.Opening.Bytes())(t)} {
			if strings.Contains(text, hex.EncodeToString(secret)) || strings.Contains(text, "PRIVATE") {
				t.Error(text)
			}
		}
	}

	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Unix(1e9, 0), NotAfter: time.Unix(2e9, 0)}
	own := must.Get(identity.X509(must.Get(x509.CreateCertificate(rand.Reader, template, template, key.Public(), key))(t)))(t)
	text := show(&keyfile.Keys{Signing: key, Identities: []identity.Identity{own}})
	path := filepath.Join(t.TempDir(), "own.pem")
	_, certificate, _ := strings.Cut(text, "\n")
	must.Do(t, os.WriteFile(path, []byte(certificate), 0o600))
	golden.Equal(t, "certificate", []byte(own), must.Get(parseIdentity(path))(t))

	golden.Equal(t, "P-256", "signs      a key on P-256, without its certificate\n", show(&keyfile.Keys{Signing: must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)}))
	golden.Equal(t, "pseudonyms", "holds      pseudonyms\n", show(&keyfile.Keys{Holder: []byte("hunter2")}))
}
