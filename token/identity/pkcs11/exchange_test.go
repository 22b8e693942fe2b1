//go:build pkcs11 && cgo

package pkcs11

import (
	"crypto/ecdh"
	"crypto/hpke"
	"crypto/rand"
	"io/fs"
	"os"
	"testing"

	p11 "github.com/miekg/pkcs11"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/softhsmtest"
)

// ckmEdwardsKeyPairGen is the mechanism by which SoftHSM 2.6 makes keys of X25519 too.
const ckmEdwardsKeyPairGen = 0x1055

// generate makes a key of X25519 in a token.
func generate(t *testing.T, s *softhsmtest.Token, label string) {
	t.Helper()
	k := opened(t, s.URI("ed")) // for its login
	k.lib.mu.Lock()
	defer k.lib.mu.Unlock()
	session := must.Get(k.lib.ctx.OpenSession(must.Get(k.lib.slot(k.uri))(t), p11.CKF_SERIAL_SESSION|p11.CKF_RW_SESSION))(t)
	both := []*p11.Attribute{p11.NewAttribute(p11.CKA_TOKEN, true), p11.NewAttribute(p11.CKA_LABEL, label), p11.NewAttribute(p11.CKA_ID, []byte(label))}
	public := append([]*p11.Attribute{p11.NewAttribute(p11.CKA_EC_PARAMS, []byte("\x06\x03\x2b\x65\x6e"))}, both...)
	private := append([]*p11.Attribute{p11.NewAttribute(p11.CKA_DERIVE, true), p11.NewAttribute(p11.CKA_SENSITIVE, true), p11.NewAttribute(p11.CKA_EXTRACTABLE, false)}, both...)
	_, _, err := k.lib.ctx.GenerateKeyPair(session, []*p11.Mechanism{p11.NewMechanism(ckmEdwardsKeyPairGen, nil)}, public, private)
	must.Do(t, err)
	must.Do(t, k.lib.ctx.CloseSession(session))
}

// TestExchange: the shared secrets of a key in a token are those of the other side, also after the library started anew. What is
// sealed to the key can be opened, and an error says whether the token or what was sent is at fault.
func TestExchange(t *testing.T) {
	s := newToken(t)
	generate(t, s, "audit")
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

	must.Do(t, os.Rename(s.Dir, s.Dir+".away"))
	must.FailGet(open())(t, zkbench.ErrEnv, "the token is away")
	must.Do(t, os.Rename(s.Dir+".away", s.Dir))
	golden.Equal(t, "opened when it is back", "secret", string(must.Get(open())(t)))
	must.Do(t, k.Close())
	must.FailGet(k.ECDH(other.PublicKey()))(t, fs.ErrClosed, "closed")
}
