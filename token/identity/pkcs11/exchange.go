//go:build pkcs11 && cgo

package pkcs11

import (
	"crypto/ecdh"
	"errors"
	"fmt"

	p11 "github.com/miekg/pkcs11"

	"github.com/zkbench/zkbench"
)

// exchangeKey implements ExchangeKey.
type exchangeKey struct{ *key }

// secretLen is the length in bytes of a shared secret of X25519.
const secretLen = 32

func openExchange(u *URI) (ExchangeKey, error) {
	k, err := open(u, exchange)
	if err != nil {
		return nil, err
	}
	return &exchangeKey{k}, nil
}

func (k *exchangeKey) PublicKey() *ecdh.PublicKey { return k.public.(*ecdh.PublicKey) }

func (k *exchangeKey) Curve() ecdh.Curve { return ecdh.X25519() }

func (k *exchangeKey) ECDH(remote *ecdh.PublicKey) ([]byte, error) {
	if remote == nil || remote.Curve() != ecdh.X25519() {
		return nil, fmt.Errorf("%w: PKCS #11: a public key; accepted: one of X25519", zkbench.ErrParams)
	}
	// With a point of low order, every private key has the secret zero, which RFC 9180 refuses (section 7.1.4). It is found
	// here, because tokens refuse such a point with an error that looks as if they were out of order.
	other, err := ecdh.X25519().NewPrivateKey(make([]byte, secretLen))
	if err != nil {
		return nil, err
	}
	if _, err := other.ECDH(remote); err != nil {
		return nil, fmt.Errorf("%w: PKCS #11: a public key of low order", zkbench.ErrParams)
	}
	return k.try(func() ([]byte, error) { return k.derive(remote.Bytes()) })
}

// derive returns the shared secret with a point. The token hands it out as an object of the session.
func (k *exchangeKey) derive(point []byte) (secret []byte, err error) {
	ctx := k.lib.ctx
	mechanism := p11.NewMechanism(p11.CKM_ECDH1_DERIVE, p11.NewECDH1DeriveParams(p11.CKD_NULL, nil, point))
	object, err := ctx.DeriveKey(k.session, []*p11.Mechanism{mechanism}, k.object, []*p11.Attribute{
		p11.NewAttribute(p11.CKA_CLASS, p11.CKO_SECRET_KEY), p11.NewAttribute(p11.CKA_KEY_TYPE, p11.CKK_GENERIC_SECRET),
		p11.NewAttribute(p11.CKA_VALUE_LEN, secretLen), p11.NewAttribute(p11.CKA_TOKEN, false),
		p11.NewAttribute(p11.CKA_SENSITIVE, false), p11.NewAttribute(p11.CKA_EXTRACTABLE, true),
	})
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, ctx.DestroyObject(k.session, object)) }()
	values, err := ctx.GetAttributeValue(k.session, object, []*p11.Attribute{p11.NewAttribute(p11.CKA_VALUE, nil)})
	if err != nil {
		return nil, err
	}
	if secret = values[0].Value; len(secret) != secretLen {
		return nil, fmt.Errorf("a shared secret of %d bytes, want %d", len(secret), secretLen)
	}
	return secret, nil
}
