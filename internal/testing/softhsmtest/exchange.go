//go:build pkcs11 && cgo

package softhsmtest

import (
	"errors"
	"testing"

	p11 "github.com/miekg/pkcs11"

	"github.com/zkbench/zkbench/internal/testing/must"
)

// ckmEdwardsKeyPairGen is the mechanism by which SoftHSM 2.6 makes keys of X25519 too.
const ckmEdwardsKeyPairGen = 0x1055

// Generate makes a key of X25519 in the token, with its label as its id. Import cannot, since softhsm2-util does not allow
// the keys that it stores to derive secrets.
func (k *Token) Generate(t *testing.T, label string) {
	t.Helper()
	ctx := p11.New(k.Module)
	defer ctx.Destroy()
	switch err := ctx.Initialize(); {
	case errors.Is(err, p11.Error(p11.CKR_CRYPTOKI_ALREADY_INITIALIZED)): // by the test, which ends it
	default:
		must.Do(t, err)
		defer func() { must.Do(t, ctx.Finalize()) }()
	}
	for _, slot := range must.Get(ctx.GetSlotList(true))(t) {
		if must.Get(ctx.GetTokenInfo(slot))(t).Label != k.Label {
			continue
		}
		session := must.Get(ctx.OpenSession(slot, p11.CKF_SERIAL_SESSION|p11.CKF_RW_SESSION))(t)
		if err := ctx.Login(session, p11.CKU_USER, PIN); !errors.Is(err, p11.Error(p11.CKR_USER_ALREADY_LOGGED_IN)) {
			must.Do(t, err)
		}
		both := []*p11.Attribute{p11.NewAttribute(p11.CKA_TOKEN, true), p11.NewAttribute(p11.CKA_LABEL, label), p11.NewAttribute(p11.CKA_ID, []byte(label))}
		public := append([]*p11.Attribute{p11.NewAttribute(p11.CKA_EC_PARAMS, []byte("\x06\x03\x2b\x65\x6e"))}, both...)
		private := append([]*p11.Attribute{p11.NewAttribute(p11.CKA_DERIVE, true), p11.NewAttribute(p11.CKA_SENSITIVE, true), p11.NewAttribute(p11.CKA_EXTRACTABLE, false)}, both...)
		_, _, err := ctx.GenerateKeyPair(session, []*p11.Mechanism{p11.NewMechanism(ckmEdwardsKeyPairGen, nil)}, public, private)
		must.Do(t, err)
		must.Do(t, ctx.CloseSession(session))
		return
	}
	t.Fatalf("no token %q", k.Label)
}
