// Package softhsmtest makes tokens of SoftHSM, a PKCS #11 library that keeps its tokens in files.
package softhsmtest

import (
	"crypto"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

const (
	need    = "softhsm"
	program = "softhsm2-util"
)

// Tokens is a directory with tokens.
type Tokens struct {
	Module string // path of the library
	Dir    string // that holds the tokens

	util string
}

// New makes an empty directory of tokens, and makes the library use it in this process and in its children, until the
// test ends. If there is no SoftHSM, New skips the test, unless ZKBENCH_REQUIRE names "softhsm" (see package testsize).
// Keys of the library must be closed when the test ends.
func New(t *testing.T) *Tokens {
	t.Helper()
	s := &Tokens{util: testsize.Program(t, need, program), Dir: filepath.Join(t.TempDir(), "tokens")}
	for _, pattern := range []string{"/usr/lib/softhsm/libsofthsm2.so", "/usr/lib/*/softhsm/libsofthsm2.so", "/usr/lib64/softhsm/libsofthsm2.so", "/usr/local/lib/softhsm/libsofthsm2.so"} {
		if found, _ := filepath.Glob(pattern); len(found) > 0 {
			s.Module = found[0]
			break
		}
	}
	if s.Module == "" {
		testsize.Without(t, need, "libsofthsm2.so: not in /usr/lib")
	}
	must.Do(t, os.Mkdir(s.Dir, 0o700))
	conf := filepath.Join(filepath.Dir(s.Dir), "softhsm2.conf")
	must.Do(t, os.WriteFile(conf, fmt.Appendf(nil, "directories.tokendir = %s\nobjectstore.backend = file\nlog.level = ERROR\n", s.Dir), 0o600))
	t.Setenv("SOFTHSM2_CONF", conf)
	return s
}

// Token is a token.
type Token struct {
	*Tokens
	Label   string
	PINFile string // its PIN is 1234
}

// PIN is the PIN of all tokens.
const PIN = "1234"

// Make makes an empty token.
func (s *Tokens) Make(t *testing.T, label string) *Token {
	t.Helper()
	s.run(t, "--init-token", "--free", "--label", label, "--pin", PIN, "--so-pin", "12345678")
	token := &Token{s, label, filepath.Join(t.TempDir(), "pin")}
	must.Do(t, os.WriteFile(token.PINFile, []byte(PIN+"\n"), 0o600))
	return token
}

// Import stores a key of package crypto in the token, and its public key.
func (k *Token) Import(t *testing.T, label string, id byte, key crypto.Signer) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "key.pem")
	block := &pem.Block{Type: "PRIVATE KEY", Bytes: must.Get(x509.MarshalPKCS8PrivateKey(key))(t)}
	must.Do(t, os.WriteFile(path, pem.EncodeToMemory(block), 0o600))
	k.run(t, "--import", path, "--token", k.Label, "--label", label, "--id", hex.EncodeToString([]byte{id}), "--pin", PIN)
}

// URI returns the URI of a key.
func (k *Token) URI(object string) string {
	return fmt.Sprintf("pkcs11:token=%s;object=%s?module-path=%s&pin-source=file:%s", k.Label, object, k.Module, k.PINFile)
}

func (s *Tokens) run(t *testing.T, args ...string) {
	t.Helper()
	if out, err := exec.CommandContext(t.Context(), s.util, args...).CombinedOutput(); err != nil {
		t.Fatalf("%s %q: %v\n%s", program, args, err, out)
	}
}
