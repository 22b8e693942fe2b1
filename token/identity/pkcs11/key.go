//go:build pkcs11 && cgo

package pkcs11

import (
	"bytes"
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/big"
	"strings"

	p11 "github.com/miekg/pkcs11"
	"golang.org/x/crypto/cryptobyte"
	"golang.org/x/crypto/cryptobyte/asn1"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/sys/secretfile"
)

// ckmEdDSA is the mechanism CKM_EDDSA of PKCS #11 3.0 (section 2.3), which package p11 does not have.
const ckmEdDSA = 0x1057

// signatureLen is the length in bytes of an Ed25519 signature, and of r || s on P-256.
const signatureLen = 64

// use is what a key is for. Its text says which keys are.
type use string

const (
	signing  use = "a key of Ed25519 or P-256"
	exchange use = "a key of X25519, for which the token does not want the PIN each time"
	either   use = signing + ", or " + exchange
)

// keyType is a type of keys.
type keyType struct {
	use
	name      string
	params    []string
	mechanism uint
	pointLen  int // bytes of a public key
}

// The types of keys. CKA_EC_PARAMS is the object identifier of the curve, or its name (PKCS #11 3.0, section 2.3.3).
var keyTypes = []keyType{
	{signing, "Ed25519", []string{"\x06\x03\x2b\x65\x70", "\x13\x0cedwards25519", "\x06\x09\x2b\x06\x01\x04\x01\xda\x47\x0f\x01"}, ckmEdDSA, ed25519.PublicKeySize},
	{signing, "P-256", []string{"\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07"}, p11.CKM_ECDSA, 65},
	{exchange, "X25519", []string{"\x06\x03\x2b\x65\x6e", "\x13\x0acurve25519"}, p11.CKM_ECDH1_DERIVE, 32},
}

// errRefusedPIN is wrapped by the error of a session that could not log in: another try could lock the token.
var errRefusedPIN = errors.New("the token refuses the PIN")

// key implements Key.
type key struct {
	uri    *URI
	use    use
	lib    *library
	typ    keyType
	public crypto.PublicKey

	// Guarded by lib.mu.
	session      p11.SessionHandle
	object       p11.ObjectHandle
	starts       int   // of the library, when the session was opened
	alwaysLogsIn bool  // the PIN is needed for each signature (CKA_ALWAYS_AUTHENTICATE)
	stopped      error // why the key is used no more
}

func openSigning(u *URI) (Key, error) {
	k, err := open(u, signing)
	if err != nil {
		return nil, err
	}
	return k, nil
}

func openAny(u *URI) (Key, ExchangeKey, error) {
	k, err := open(u, either)
	switch {
	case err != nil:
		return nil, nil, err
	case k.use == exchange:
		return nil, &exchangeKey{k}, nil
	}
	return k, nil, nil
}

func open(u *URI, use use) (*key, error) {
	lib, err := openLibrary(u.ModulePath)
	if err != nil {
		return nil, err
	}
	lib.mu.Lock()
	k := &key{uri: u, use: use, lib: lib}
	err = k.connect()
	lib.mu.Unlock()
	if err != nil {
		_ = lib.close()
		return nil, err
	}
	return k, nil
}

func (k *key) Public() crypto.PublicKey { return k.public }

func (k *key) sealed() {}

func (k *key) Close() error {
	k.lib.mu.Lock()
	if errors.Is(k.stopped, fs.ErrClosed) {
		k.lib.mu.Unlock()
		return k.stopped
	}
	k.stopped = fmt.Errorf("PKCS #11 key: %w", fs.ErrClosed)
	k.disconnect()
	k.lib.mu.Unlock()
	return k.lib.close()
}

// disconnect closes the session, if it still is one. The errors say that it is none.
func (k *key) disconnect() {
	if k.starts == k.lib.starts {
		_ = k.lib.ctx.CloseSession(k.session)
	}
	k.starts = 0
}

// connect opens a session in which the key can be used.
func (k *key) connect() (err error) {
	ctx := k.lib.ctx
	slot, err := k.lib.slot(k.uri)
	if err != nil {
		return err
	}
	pin, err := k.uri.pin()
	if err != nil {
		return err
	}
	if k.session, err = ctx.OpenSession(slot, p11.CKF_SERIAL_SESSION); err != nil {
		return unavailable("no session: %v", err)
	}
	k.starts = k.lib.starts
	defer func() {
		if err != nil {
			k.disconnect()
		}
	}()
	// All sessions of a program with a token are logged in together.
	if err := ctx.Login(k.session, p11.CKU_USER, pin); err != nil && !errors.Is(err, p11.Error(p11.CKR_USER_ALREADY_LOGGED_IN)) {
		return loginError(err)
	}
	return k.find()
}

// maxPIN is the maximum number of bytes in a PIN.
const maxPIN = 1024

// pin reads the PIN. It is read for each session, so that it is not kept in memory.
func (u *URI) pin() (string, error) {
	const accepted = "a file with the PIN, which only its owner can open"
	data, err := secretfile.Read(u.PINFile, maxPIN+1)
	if open, ok := errors.AsType[*secretfile.ModeError](err); ok {
		return "", refuse("pin-source", open.Error(), accepted)
	}
	if err != nil {
		return "", refuse("pin-source", err.Error(), accepted)
	}
	pin := strings.TrimSuffix(strings.TrimSuffix(string(data), "\n"), "\r")
	if pin == "" || len(pin) > maxPIN {
		return "", refuse("pin-source", fmt.Sprintf("a file of %d bytes", len(data)), fmt.Sprintf("a PIN of 1 to %d bytes", maxPIN))
	}
	return pin, nil
}

func loginError(err error) error {
	for _, code := range []uint{p11.CKR_PIN_INCORRECT, p11.CKR_PIN_INVALID, p11.CKR_PIN_LEN_RANGE, p11.CKR_PIN_EXPIRED, p11.CKR_PIN_LOCKED} {
		if errors.Is(err, p11.Error(code)) {
			return fmt.Errorf("%w: PKCS #11 URI: pin-source: %w: %w", zkbench.ErrParams, errRefusedPIN, err)
		}
	}
	return unavailable("no login: %v", err)
}

// find finds the private key, and its public key.
func (k *key) find() error {
	template := []*p11.Attribute{p11.NewAttribute(p11.CKA_CLASS, p11.CKO_PRIVATE_KEY)}
	if k.uri.Object != "" {
		template = append(template, p11.NewAttribute(p11.CKA_LABEL, k.uri.Object))
	}
	if len(k.uri.ID) > 0 {
		template = append(template, p11.NewAttribute(p11.CKA_ID, k.uri.ID))
	}
	object, err := k.one("private", template)
	if err != nil {
		return err
	}
	values, err := k.lib.ctx.GetAttributeValue(k.session, object, []*p11.Attribute{p11.NewAttribute(p11.CKA_ID, nil), p11.NewAttribute(p11.CKA_LABEL, nil)})
	if err != nil {
		return unavailable("the private key has no id and label: %v", err)
	}
	// A pair of keys has one id. Labels may differ, but are what is left without ids.
	same := values[0]
	if len(same.Value) == 0 {
		same = values[1]
	}
	publicObject, err := k.one("public", []*p11.Attribute{p11.NewAttribute(p11.CKA_CLASS, p11.CKO_PUBLIC_KEY), same})
	if err != nil {
		return err
	}
	typ, public, err := k.publicKey(publicObject)
	if err != nil {
		return err
	}
	if k.public == nil {
		k.typ, k.use, k.public = typ, typ.use, public
	} else if !public.(interface{ Equal(crypto.PublicKey) bool }).Equal(k.public) {
		return unavailable("the token now has another key with this name")
	}
	k.object = object
	always, err := k.lib.ctx.GetAttributeValue(k.session, object, []*p11.Attribute{p11.NewAttribute(p11.CKA_ALWAYS_AUTHENTICATE, nil)})
	k.alwaysLogsIn = err == nil && bytes.Equal(always[0].Value, []byte{1}) // a token without the attribute has an error
	if k.alwaysLogsIn && k.use == exchange {                               // PKCS #11 has no login for one derivation
		return refuse("object", "a key for which the token wants the PIN each time", string(k.use))
	}
	return nil
}

// one returns the one key that matches a template.
func (k *key) one(class string, template []*p11.Attribute) (p11.ObjectHandle, error) {
	ctx := k.lib.ctx
	if err := ctx.FindObjectsInit(k.session, template); err != nil {
		return 0, unavailable("no search for the %s key: %v", class, err)
	}
	found, _, err := ctx.FindObjects(k.session, 2)
	if err = errors.Join(err, ctx.FindObjectsFinal(k.session)); err != nil {
		return 0, unavailable("no search for the %s key: %v", class, err)
	}
	switch len(found) {
	case 0:
		return 0, refuse("object", "the token has no such "+class+" key", "the label and id of one private key, and of one public key")
	case 1:
		return found[0], nil
	}
	return 0, refuse("object", "the token has several such "+class+" keys", "a URI of one key, for example with its id")
}

// publicKey reads a public key.
func (k *key) publicKey(object p11.ObjectHandle) (keyType, crypto.PublicKey, error) {
	other := func(found string) error { return refuse("object", found, string(k.use)) }
	values, err := k.lib.ctx.GetAttributeValue(k.session, object, []*p11.Attribute{p11.NewAttribute(p11.CKA_EC_PARAMS, nil), p11.NewAttribute(p11.CKA_EC_POINT, nil)})
	if err != nil {
		return keyType{}, nil, other("not a key of an elliptic curve")
	}
	params, point := string(values[0].Value), values[1].Value
	for _, typ := range keyTypes {
		for _, p := range typ.params {
			if p != params || k.use != either && typ.use != k.use {
				continue
			}
			if public := typ.decode(point); public != nil {
				return typ, public, nil
			}
			return keyType{}, nil, other("a public key of " + typ.name + " that is no point")
		}
	}
	return keyType{}, nil, other("a key of another curve")
}

// decode returns the public key with a CKA_EC_POINT, nil if it is none. The attribute is the point in an OCTET STRING;
// some libraries leave that out.
func (t keyType) decode(point []byte) crypto.PublicKey {
	if in := cryptobyte.String(point); len(point) != t.pointLen {
		var content cryptobyte.String
		if !in.ReadASN1(&content, asn1.OCTET_STRING) || !in.Empty() || len(content) != t.pointLen {
			return nil
		}
		point = content
	}
	switch t.mechanism {
	case ckmEdDSA:
		return ed25519.PublicKey(point)
	case p11.CKM_ECDH1_DERIVE:
		public, err := ecdh.X25519().NewPublicKey(point)
		if err != nil {
			return nil
		}
		return public
	}
	public, err := ecdsa.ParseUncompressedPublicKey(elliptic.P256(), point)
	if err != nil {
		return nil
	}
	return public
}

func (k *key) Sign(_ io.Reader, digest []byte, opts crypto.SignerOpts) ([]byte, error) {
	want, length := crypto.SHA256, crypto.SHA256.Size()
	if k.typ.mechanism == ckmEdDSA {
		want, length = 0, len(digest)
	}
	if context, ok := opts.(*ed25519.Options); opts == nil || opts.HashFunc() != want || len(digest) != length || ok && context.Context != "" {
		return nil, fmt.Errorf("%w: PKCS #11: options of a signature; accepted: crypto.Hash(0) and a message for Ed25519, crypto.SHA256 and its digest for P-256", zkbench.ErrParams)
	}
	signature, err := k.try(func() ([]byte, error) { return k.sign(digest) })
	if err != nil {
		return nil, err
	}
	if k.typ.mechanism == ckmEdDSA {
		return signature, nil
	}
	var b cryptobyte.Builder
	b.AddASN1(asn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1BigInt(new(big.Int).SetBytes(signature[:signatureLen/2]))
		b.AddASN1BigInt(new(big.Int).SetBytes(signature[signatureLen/2:]))
	})
	return b.Bytes()
}

// try uses the key in its session, and once more in a new one.
func (k *key) try(use func() ([]byte, error)) (result []byte, err error) {
	k.lib.mu.Lock()
	defer k.lib.mu.Unlock()
	if k.stopped != nil {
		return nil, k.stopped
	}
	err = errors.New("the session has ended")
	if k.starts == k.lib.starts {
		result, err = use()
	}
	if err != nil {
		if err = k.reconnect(err); err == nil {
			result, err = use()
		}
	}
	if err != nil {
		stop := errors.Is(err, errRefusedPIN)
		if !errors.Is(err, zkbench.ErrEnv) { // the caller's parameters are good
			err = unavailable("%v", err)
		}
		if err = fmt.Errorf("the key in the token does not work: %w", err); stop {
			k.stopped = err
		}
		return nil, err
	}
	return result, nil
}

// sign signs in the session.
func (k *key) sign(digest []byte) ([]byte, error) {
	ctx := k.lib.ctx
	if err := ctx.SignInit(k.session, []*p11.Mechanism{p11.NewMechanism(k.typ.mechanism, nil)}, k.object); err != nil {
		return nil, err
	}
	if k.alwaysLogsIn {
		pin, err := k.uri.pin()
		if err != nil {
			return nil, err
		}
		if err := ctx.Login(k.session, p11.CKU_CONTEXT_SPECIFIC, pin); err != nil {
			return nil, loginError(err)
		}
	}
	signature, err := ctx.Sign(k.session, digest)
	if err == nil && len(signature) != signatureLen {
		err = fmt.Errorf("a signature of %d bytes, want %d", len(signature), signatureLen)
	}
	return signature, err
}

// reconnect opens a new session after an error: first in the library as it is, then in the library started anew.
func (k *key) reconnect(err error) error {
	if errors.Is(err, errRefusedPIN) {
		return err
	}
	k.disconnect()
	if err = k.connect(); err == nil || errors.Is(err, errRefusedPIN) {
		return err
	}
	if err := k.lib.restart(); err != nil {
		return err
	}
	return k.connect()
}
