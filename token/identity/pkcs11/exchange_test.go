//go:build pkcs11 && cgo

package pkcs11

import (
	"crypto"
	"crypto/ecdh"
	"crypto/hpke"
	"crypto/rand"
	"io/fs"
	"os"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestExchange: the shared secrets of a key in a token are those of the other side, also after the library started anew. What is
// sealed to the key can be opened, and an error says whether the token or what was sent is at fault.
func TestExchange(t *testing.T) {
	s := newToken(t)
	s.Generate(t, "audit")
	k := must.Get(OpenExchange(s.URI("audit")))(t)
	defer k.Close()
	other := must.Get(ecdh.X25519().GenerateKey(rand.Reader))(t)
	want := must.Get(other.ECDH(k.PublicKey()))(t)
	golden.Equal(t, "secret", want, must.Get(k.ECDH(other.PublicKey()))(t))
	lib := k.(*exchangeKey).lib
	lib.mu.Lock()
	must.Do(t, lib.restart())
	lib.mu.Unlock()
	golden.Equal(t, "secret after a restart", want, must.Get(k.ECDH(other.PublicKey()))(t))

	key := must.Get(hpke.NewDHKEMPrivateKey(k))(t)
	sealed := must.Get(hpke.Seal(key.PublicKey(), hpke.HKDFSHA256(), hpke.ChaCha20Poly1305(), nil, []byte("secret")))(t)
	open := func() ([]byte, error) {
		return hpke.Open(key, hpke.HKDFSHA256(), hpke.ChaCha20Poly1305(), nil, sealed)
	}
	golden.Equal(t, "opened", "secret", string(must.Get(open())(t)))

	must.FailGet(k.ECDH(must.Get(ecdh.X25519().NewPublicKey(make([]byte, 32)))(t)))(t, zkbench.ErrParams, "a point of low order")
	must.FailGet(k.ECDH(must.Get(ecdh.P256().GenerateKey(rand.Reader))(t).PublicKey()))(t, zkbench.ErrParams, "a key of another curve")
	must.FailGet(OpenExchange(s.URI("ed")))(t, zkbench.ErrParams, "a key that signs")
	must.FailGet(Open(s.URI("audit")))(t, zkbench.ErrParams, "a key that does not sign")
	signing, exchanges, err := OpenAny(s.URI("audit"))
	must.Do(t, err)
	golden.Equal(t, "public key", k.PublicKey().Bytes(), exchanges.PublicKey().Bytes())
	must.Do(t, exchanges.Close())
	if signing != nil {
		t.Error("a key of X25519 signs")
	}
	signing, exchanges, err = OpenAny(s.URI("ed"))
	must.Do(t, err)
	must.Get(signing.Sign(nil, []byte("message"), crypto.Hash(0)))(t)
	must.Do(t, signing.Close())
	if exchanges != nil {
		t.Error("a key of Ed25519 exchanges")
	}

	must.Do(t, os.Rename(s.Dir, s.Dir+".away"))
	must.FailGet(open())(t, zkbench.ErrEnv, "the token is away")
	must.Do(t, os.Rename(s.Dir+".away", s.Dir))
	golden.Equal(t, "opened when it is back", "secret", string(must.Get(open())(t)))
	must.Do(t, k.Close())
	must.FailGet(k.ECDH(other.PublicKey()))(t, fs.ErrClosed, "closed")
}
