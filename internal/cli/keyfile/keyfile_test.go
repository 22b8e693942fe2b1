package keyfile

import (
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"io/fs"
	"math/big"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
)

// some returns keys with a block of each kind.
func some(t testing.TB, kem token.KEM) *Keys {
	t.Helper()
	_, key, err := ed25519.GenerateKey(nil)
	must.Do(t, err)
	other, _, err := ed25519.GenerateKey(nil)
	must.Do(t, err)
	return &Keys{
		Signing: key, Opening: must.Get(must.Get(kem.HPKE())(t).GenerateKey())(t), Holder: []byte("secret"), Enrolment: []byte("certificate"),
		Identities: []identity.Identity{must.Get(identity.Ed25519(other))(t)},
	}
}

// certified returns a P-256 key with its certificate.
func certified(t testing.TB) *Keys {
	t.Helper()
	key := must.Get(ecdsa.GenerateKey(elliptic.P256(), rand.Reader))(t)
	template := &x509.Certificate{SerialNumber: big.NewInt(1), NotBefore: time.Unix(1e9, 0), NotAfter: time.Unix(2e9, 0)}
	der := must.Get(x509.CreateCertificate(rand.Reader, template, template, key.Public(), key))(t)
	return &Keys{Signing: key, Identities: []identity.Identity{must.Get(identity.X509(der))(t)}}
}

// TestFile: what is written is read again, in a file of the owner's alone, which is not written over.
func TestFile(t *testing.T) {
	for name, k := range map[string]*Keys{"kem=X25519": some(t, token.X25519), "kem=hybrid": some(t, token.MLKEM768X25519), "X.509": certified(t)} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "keys.pem")
			must.Do(t, Write(path, k))
			if mode := must.Get(os.Stat(path))(t).Mode(); runtime.GOOS != "windows" {
				golden.Equal(t, "mode", fs.FileMode(0o600), mode)
			}
			again := must.Get(Read("key", path, "a key"))(t)
			golden.Equal(t, "file", string(must.Get(k.Encode())(t)), string(must.Get(again.Encode())(t)))
			if id := again.Self().Identity(); string(id) != string(k.Self().Identity()) {
				t.Errorf("signs as %x", id)
			}
			must.Fail(t, Write(path, k), fs.ErrExist, "an existing file")
		})
	}
}

func TestSigner(t *testing.T) {
	k, other := some(t, token.X25519), certified(t)
	id := k.Self().Identity()
	if s := k.Signer(other.Identities[0], id); s == nil || string(s.Identity()) != string(id) {
		t.Errorf("signer %v", s)
	}
	if s := k.Signer(k.Identities[0], other.Identities[0]); s != nil {
		t.Errorf("signs for %x", s.Identity())
	}
	if s := (&Keys{Signing: other.Signing}).Self(); s != nil {
		t.Error("a key of P-256 signs without a certificate")
	}
}

// TestReadOthers: a file that others can read is refused, with what makes it good.
func TestReadOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes say nothing about others")
	}
	path := filepath.Join(t.TempDir(), "keys.pem")
	must.Do(t, Write(path, some(t, token.X25519)))
	for _, mode := range []os.FileMode{0o640, 0o604, 0o620, 0o610} {
		must.Do(t, os.Chmod(path, mode))
		_, err := Read("key", path, "a key")
		if refused, ok := errors.AsType[*argument.ValueError](err); !ok || refused.Field != "key" || !strings.Contains(err.Error(), "chmod 600") {
			t.Errorf("mode %v: %v", mode, err)
		}
	}
	must.Do(t, os.Chmod(path, 0o400))
	must.Get(Read("key", path, "a key"))(t)
}

func TestDecodeRefuses(t *testing.T) {
	k := some(t, token.X25519)
	whole := string(must.Get(k.Encode())(t))
	block := func(typ, body string) string {
		return string(pem.EncodeToMemory(&pem.Block{Type: typ, Bytes: []byte(body)}))
	}
	for says, text := range map[string]string{
		"no PEM block and no PKCS #11 URI":       "hunter2",
		"pin-value: other users can see":         "pkcs11:object=o?pin-value=hunter2",
		"3 secret keys with those of PKCS #11":   whole + someURI,
		"4 secret keys with those of PKCS #11":   someURI + "\n" + someURI + "\n" + whole,
		"not a private key in PKCS #8":           block(privateBlock, "hunter2"),
		"a second PRIVATE KEY":                   whole + string(must.Get((&Keys{Signing: k.Signing}).Encode())(t)),
		"a second HOLDER SECRET":                 whole + block(holderBlock, "hunter2"),
		"a second ENROLMENT":                     whole + block(enrolmentBlock, "hunter2"),
		"not a private key of MLKEM768-X25519":   block(hybridBlock, "hunter2"),
		"not of Ed25519":                         block(publicBlock, "hunter2"),
		"neither a certificate nor a public key": block("SOMETHING", "hunter2"),
	} {
		_, err := Decode([]byte(text))
		if err == nil || !strings.Contains(err.Error(), says) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%v; want ...%s", err, says)
		}
	}
}

const someURI = "pkcs11:object=o?module-path=/none.so&pin-source=file:/none"

// TestURI: a line of a file, and a URI in place of a path, name a key in a token.
func TestURI(t *testing.T) {
	k := some(t, token.X25519)
	k.Signing, k.URIs = nil, []string{someURI}
	again := must.Get(Decode(must.Get(k.Encode())(t)))(t)
	golden.Equal(t, "URI", k.URIs, again.URIs)
	if again.Opening == nil || again.Signing != nil || len(again.Identities) != 1 {
		t.Errorf("%+v", again)
	}
	golden.Equal(t, "URIs between blocks", []string{someURI, someURI}, must.Get(Decode([]byte("# made by hand\r\n  "+someURI+"\r\n\n"+someURI)))(t).URIs)

	path := filepath.Join(t.TempDir(), "keys.pem")
	must.Do(t, Write(path, k))
	for _, given := range []string{path, someURI} { // there is no such library
		_, err := Read("key", given, "a key")
		must.Fail(t, err, zkbench.ErrEnv, "%s", given)
		if err == nil || !strings.HasPrefix(err.Error(), "key: ") {
			t.Error(err)
		}
	}
	_, err := Read("key", "pkcs11:object=o?pin-value=hunter2", "a key")
	must.Fail(t, err, zkbench.ErrParams, "a PIN")
	if err == nil || strings.Contains(err.Error(), "hunter2") {
		t.Error(err)
	}
}

// FuzzDecode: no file makes Decode panic, and what it accepts it reads again from what Encode makes of it.
func FuzzDecode(f *testing.F) {
	inToken := some(f, token.X25519)
	inToken.Signing, inToken.URIs = nil, []string{someURI}
	for _, k := range []*Keys{some(f, token.X25519), some(f, token.MLKEM768X25519), certified(f), inToken} {
		f.Add(must.Get(k.Encode())(f))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		k, err := Decode(data)
		if err != nil {
			return
		}
		encoded, err := k.Encode()
		if err != nil {
			t.Fatal(err)
		}
		if len(encoded) > 0 {
			must.Get(Decode(encoded))(t)
		}
	})
}
