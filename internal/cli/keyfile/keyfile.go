// Package keyfile reads and writes the secret keys of a party in a token system: PEM blocks in a
// file that only its owner can read. In place of the signing key, and of an auditor's key for opening,
// the file can have a line with the PKCS #11 URI of a key in a token. The file can be encrypted with a
// passphrase.
package keyfile

import (
	"crypto"
	"crypto/ecdh"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/hpke"
	"crypto/x509"
	"encoding/hex"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/identity/pkcs11"
)

// Keys are the contents of a file of keys. Each field is the contents of a PEM block or of a line,
// and every one is optional. The file has at most one for each field, except for the field
// Identities, which may have many. A key in a token has its URI in place of its field, which Read
// then sets.
type Keys struct {
	URIs       []string            // of keys in tokens, each in a line: one that signs, one for opening
	Signing    crypto.Signer       // an ed25519.PrivateKey, an *ecdsa.PrivateKey or a pkcs11.Key
	Opening    hpke.PrivateKey     // an auditor's key: what the auditor sees is encrypted to it
	Holder     []byte              // the secret of a holder of pseudonyms
	Enrolment  []byte              // the holder's certificate
	Identities []identity.Identity // public: the certificate of Signing, or the authorities whose enrolments count

	tokens []io.Closer // the keys in tokens that Read has opened
}

// The types of PEM blocks.
const (
	privateBlock   = "PRIVATE KEY" // PKCS #8, of Ed25519, P-256 or X25519
	publicBlock    = "PUBLIC KEY"  // PKIX, of Ed25519
	certBlock      = "CERTIFICATE" // X.509
	holderBlock    = "HOLDER SECRET"
	enrolmentBlock = "ENROLMENT"
)

// Ed25519Prefix is the prefix of an Ed25519 public key in text form. The key's 64 hexadecimal
// digits follow the prefix.
const Ed25519Prefix = "ed25519:"

// ParseEd25519 returns the identity of an Ed25519 public key in text form.
func ParseEd25519(text string) (identity.Identity, error) {
	digits, ok := strings.CutPrefix(text, Ed25519Prefix)
	if !ok {
		return nil, fmt.Errorf("the prefix %q is missing", Ed25519Prefix)
	}
	key, err := hex.DecodeString(digits)
	if err != nil {
		return nil, errors.New("not hex digits")
	}
	return identity.Ed25519(ed25519.PublicKey(key))
}

// hybridBlock holds the bytes of a hybrid key, for which PKCS #8 has no form yet.
var hybridBlock = token.MLKEM768X25519.String() + " " + privateBlock

// Encode returns the contents of a file that holds the keys k, which Read has not opened from a token.
func (k *Keys) Encode() (data []byte, err error) {
	add := func(typ string, body []byte) {
		data = append(data, pem.EncodeToMemory(&pem.Block{Type: typ, Bytes: body})...)
	}
	for _, uri := range k.URIs {
		data = append(append(data, uri...), '\n')
	}
	if k.Signing != nil {
		body, err := x509.MarshalPKCS8PrivateKey(k.Signing)
		if err != nil {
			return nil, err
		}
		add(privateBlock, body)
	}
	if k.Opening != nil {
		typ, body, err := encodeOpening(k.Opening)
		if err != nil {
			return nil, err
		}
		add(typ, body)
	}
	if k.Holder != nil {
		add(holderBlock, k.Holder)
	}
	if k.Enrolment != nil {
		add(enrolmentBlock, k.Enrolment)
	}
	for _, id := range k.Identities {
		switch id.Type() {
		case identity.TypeX509:
			add(certBlock, id[1:])
		case identity.TypeEd25519:
			body, err := x509.MarshalPKIXPublicKey(ed25519.PublicKey(id[1:]))
			if err != nil {
				return nil, err
			}
			add(publicBlock, body)
		default:
			return nil, fmt.Errorf("a file of keys cannot hold an identity of type %v", id.Type())
		}
	}
	return data, nil
}

func encodeOpening(key hpke.PrivateKey) (typ string, body []byte, err error) {
	raw, err := key.Bytes()
	if err != nil {
		return "", nil, err
	}
	switch token.KEM(key.KEM().ID()) {
	case token.X25519:
		private, err := ecdh.X25519().NewPrivateKey(raw)
		if err != nil {
			return "", nil, err
		}
		body, err = x509.MarshalPKCS8PrivateKey(private)
		return privateBlock, body, err
	case token.MLKEM768X25519:
		return hybridBlock, raw, nil
	}
	return "", nil, fmt.Errorf("a file of keys cannot hold a key of KEM %#04x", key.KEM().ID())
}

// Decode parses the URI and the PEM blocks of a file. It does not open the key of the URI. No error
// contains any part of a secret.
func Decode(data []byte) (*Keys, error) {
	k, blocks := new(Keys), 0
	for line := range strings.Lines(string(data)) {
		line = strings.TrimSpace(line)
		if !strings.HasPrefix(line, pkcs11.Scheme) {
			continue
		}
		if _, err := pkcs11.ParseURI(line); err != nil {
			return nil, err
		}
		k.URIs = append(k.URIs, line)
	}
	for block, rest := pem.Decode(data); block != nil; block, rest = pem.Decode(rest) {
		if err := k.add(block); err != nil {
			return nil, fmt.Errorf("PEM block %d: %w", blocks, err)
		}
		blocks++
	}
	if blocks == 0 && len(k.URIs) == 0 {
		return nil, errors.New("no PEM block and no PKCS #11 URI")
	}
	secrets := len(k.URIs)
	if k.Signing != nil {
		secrets++
	}
	if k.Opening != nil {
		secrets++
	}
	if len(k.URIs) > 0 && secrets > 2 {
		return nil, fmt.Errorf("%d secret keys with those of PKCS #11 URIs, where two are accepted: one that signs, and one for opening", secrets)
	}
	return k, nil
}

// add adds the contents of one block.
func (k *Keys) add(block *pem.Block) error {
	once := func(had bool) error {
		if had {
			return fmt.Errorf("a second %s, where one is accepted", block.Type)
		}
		return nil
	}
	switch block.Type {
	case privateBlock:
		private, err := x509.ParsePKCS8PrivateKey(block.Bytes)
		if err != nil {
			return errors.New("not a private key in PKCS #8")
		}
		switch key := private.(type) {
		case ed25519.PrivateKey:
			err, k.Signing = once(k.Signing != nil), key
		case *ecdsa.PrivateKey:
			err, k.Signing = once(k.Signing != nil), key
		case *ecdh.PrivateKey:
			if err = once(k.Opening != nil); err == nil {
				k.Opening, err = openingKey(token.X25519, key.Bytes())
			}
		default:
			err = errors.New("a private key that is not of Ed25519, P-256 or X25519")
		}
		return err
	case hybridBlock:
		if err := once(k.Opening != nil); err != nil {
			return err
		}
		var err error
		k.Opening, err = openingKey(token.MLKEM768X25519, block.Bytes)
		return err
	case holderBlock:
		err := once(k.Holder != nil)
		k.Holder = block.Bytes
		return err
	case enrolmentBlock:
		err := once(k.Enrolment != nil)
		k.Enrolment = block.Bytes
		return err
	}
	id, err := Identity(block)
	k.Identities = append(k.Identities, id)
	return err
}

func openingKey(kem token.KEM, raw []byte) (hpke.PrivateKey, error) {
	suite, err := kem.HPKE()
	if err != nil {
		return nil, err
	}
	key, err := suite.NewPrivateKey(raw)
	if err != nil {
		return nil, fmt.Errorf("not a private key of %v", kem)
	}
	return key, nil
}

// Identity parses the identity in a PEM block: a certificate or an Ed25519 public key.
func Identity(block *pem.Block) (identity.Identity, error) {
	switch block.Type {
	case certBlock:
		return identity.X509(block.Bytes)
	case publicBlock:
		parsed, err := x509.ParsePKIXPublicKey(block.Bytes)
		if public, ok := parsed.(ed25519.PublicKey); err == nil && ok {
			return identity.Ed25519(public)
		}
		return nil, errors.New("a PEM public key that is not of Ed25519")
	}
	return nil, errors.New("a PEM block that is neither a certificate nor a public key")
}

// Signer returns a signer that signs with the key k.Signing. The signer's identity is the first
// one in ids to which that key belongs. Signer returns nil if the key belongs to no identity in
// ids.
func (k *Keys) Signer(ids ...[]byte) identity.Signer {
	own := k.ed25519()
	for _, id := range ids {
		if own != nil && string(own.Identity()) == string(id) {
			return own
		}
		if k.Signing == nil || identity.Identity(id).Type() != identity.TypeX509 {
			continue
		}
		if s, err := identity.NewX509Signer(id[1:], k.Signing); err == nil {
			return s
		}
	}
	return nil
}

// ed25519 returns the signer of an Ed25519 key, and nil for other keys.
func (k *Keys) ed25519() identity.Signer {
	s, err := identity.NewEd25519Signer(k.Signing)
	if err != nil {
		return nil
	}
	return s
}

// Self returns a signer that signs with the key k.Signing under that key's own identity. The key
// must be an Ed25519 key, or a P-256 key whose certificate is among k.Identities; otherwise Self
// returns nil.
func (k *Keys) Self() identity.Signer {
	if s := k.ed25519(); s != nil {
		return s
	}
	for _, id := range k.Identities {
		if s := k.Signer(id); s != nil {
			return s
		}
	}
	return nil
}

// longest is the maximum number of bytes in a file of keys. Only one with many certificates could
// be longer.
const longest = 8 << 20

// Read reads the file of keys at path, and opens the keys of its URIs. In place of a path, the
// parameter can be a URI. The tokens' keys are open until Close, or until the process ends. If the file is
// encrypted, Read asks for the passphrase (see DescriptorVariable). Read returns an error
// if users other than the file's owner can open the file. The parameter field is the name with
// which errors begin. The parameter accepted is a text that says which keys the user may give.
// Errors about the file's contents end with this text.
func Read(field, path, accepted string) (*Keys, error) {
	if strings.HasPrefix(path, pkcs11.Scheme) {
		keys, err := open([]byte(path))
		if err != nil {
			return nil, fmt.Errorf("%s: %w", field, err) // without the URI, which may have a PIN
		}
		return keys, nil
	}
	data, err := ReadSecret(field, path)
	if err != nil {
		return nil, err
	}
	if file := encrypted(data); file != nil {
		secret, err := passphrase(path)
		if err != nil {
			return nil, err
		}
		if data, err = decrypt(file, secret); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", field, path, err)
		}
	}
	keys, err := open(data)
	if err != nil {
		return nil, fmt.Errorf("%s: %s: %w; accepted: %s", field, path, err, accepted)
	}
	return keys, nil
}

// open decodes the contents of a file of keys, and opens the keys of its URIs.
func open(data []byte) (*Keys, error) {
	keys, err := Decode(data)
	if err != nil {
		return nil, err
	}
	for _, uri := range keys.URIs {
		if err := keys.openToken(uri); err != nil {
			return nil, errors.Join(err, keys.Close())
		}
	}
	return keys, nil
}

// openToken opens a key in a token. The token says what it is for.
func (k *Keys) openToken(uri string) error {
	signing, exchange, err := pkcs11.OpenAny(uri)
	const second = "a second key %s, the one of a PKCS #11 URI, where one is accepted"
	switch {
	case signing != nil:
		k.tokens = append(k.tokens, signing)
		if k.Signing != nil {
			return fmt.Errorf(second, "that signs")
		}
		k.Signing = signing
	case exchange != nil:
		k.tokens = append(k.tokens, exchange)
		if k.Opening != nil {
			return fmt.Errorf(second, "for opening")
		}
		k.Opening, err = hpke.NewDHKEMPrivateKey(exchange)
	}
	return err
}

// Close closes the keys in tokens.
func (k *Keys) Close() error {
	var errs []error
	for _, key := range k.tokens {
		errs = append(errs, key.Close())
	}
	k.tokens = nil
	return errors.Join(errs...)
}

// Write writes the keys k to a new file with mode 0600 and flushes it to the disk. It returns
// fs.ErrExist if the file exists.
func Write(path string, k *Keys) error {
	data, err := k.Encode()
	if err != nil {
		return err
	}
	return WriteSecret(path, data)
}
