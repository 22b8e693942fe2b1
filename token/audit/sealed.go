package audit

import (
	"crypto/hpke"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"fmt"

	"golang.org/x/crypto/cryptobyte"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/internal/wire"
)

// Sealed is data encrypted to every auditor of a policy.
type Sealed struct {
	Policy uint64 // the policy's version
	Copies []Copy
}

// Copy is the ciphertext for one auditor.
type Copy struct {
	Key        [KeyNameLen]byte // beginning of a hash of the auditor's key
	Ciphertext []byte           // HPKE's encapsulated key and ciphertext
}

// KeyNameLen is the length of Copy.Key in bytes.
const KeyNameLen = 8

const (
	maxCopies = token.MaxIdentities
	sealStep  = 256              // data is padded to a multiple of this, so that its length says little
	sealRoom  = sealStep + 2<<10 // maximum number of bytes that sealing adds
)

// keyName returns the name of an HPKE key.
func keyName(kem token.KEM, key []byte) (name [KeyNameLen]byte) {
	sum := sha256.Sum256(append(binary.BigEndian.AppendUint16([]byte("zkbench/v3/audit key"), uint16(kem)), key...))
	copy(name[:], sum[:])
	return name
}

// seal encrypts plain, padded with zeros, to the auditors of a policy. info is the HPKE info that names the data;
// the policy's version is added to it. seal returns ErrParams.
func seal(rules *token.Policy, info, plain []byte) (*Sealed, error) {
	if len(rules.Auditors) == 0 {
		return nil, fmt.Errorf("%w: the policy has no auditor to seal to", zkbench.ErrParams)
	}
	plain = append(plain[:len(plain):len(plain)], make([]byte, (sealStep-len(plain)%sealStep)%sealStep)...)
	s := &Sealed{Policy: rules.Version}
	info = s.info(info)
	for i := range rules.Auditors {
		a := &rules.Auditors[i]
		kem, err := a.KEM.HPKE()
		if err != nil {
			return nil, err
		}
		key, err := kem.NewPublicKey(a.Key)
		if err != nil {
			return nil, fmt.Errorf("%w: auditors[%d]: not a key of %v", zkbench.ErrParams, i, a.KEM)
		}
		ciphertext, err := hpke.Seal(key, hpke.HKDFSHA256(), hpke.ChaCha20Poly1305(), info, plain)
		if err != nil {
			return nil, fmt.Errorf("%w: auditors[%d]: key agreement fails", zkbench.ErrParams, i)
		}
		s.Copies = append(s.Copies, Copy{keyName(a.KEM, a.Key), ciphertext})
	}
	return s, nil
}

func (s *Sealed) info(what []byte) []byte {
	return binary.BigEndian.AppendUint64(what[:len(what):len(what)], s.Policy)
}

// open returns the data, still padded, with the auditor's key.
func (s *Sealed) open(key hpke.PrivateKey, info []byte) ([]byte, error) {
	if key == nil {
		return nil, refuse("sealed information, but the auditor has no key")
	}
	name := keyName(token.KEM(key.KEM().ID()), key.PublicKey().Bytes())
	for _, c := range s.Copies {
		if c.Key != name {
			continue
		}
		plain, err := hpke.Open(key, hpke.HKDFSHA256(), hpke.ChaCha20Poly1305(), s.info(info), c.Ciphertext)
		if errors.Is(err, zkbench.ErrEnv) { // the key is in a token that does not answer: this says nothing about the information
			return nil, err
		}
		if err != nil {
			return nil, &zkbench.DecodeError{Path: "sealed", Reason: "cannot be opened here with the auditor's key"}
		}
		return plain, nil
	}
	return nil, refuse("sealed under policy %d, not to this auditor's key: the sender must seal it again", s.Policy)
}

// fill reads the zeros that pad sealed data.
func fill(f *wire.Fields, total int) {
	if !f.OK() {
		return
	}
	for _, b := range f.Bytes("fill", total-f.Offset()) {
		if b != 0 {
			f.Fail("fill", f.Offset(), "not zero")
		}
	}
}

// append appends policy(8) count(2) copies, with copy = key(8) ciphertext. The ciphertext comes after a
// length of 3 bytes; most is its maximum length.
func (s *Sealed) append(b *wire.Builder, most int) {
	b.Bound("sealed copies", len(s.Copies), 1, maxCopies)
	b.AddUint64(s.Policy)
	b.AddUint16(uint16(len(s.Copies)))
	for _, c := range s.Copies {
		b.Bound("sealed bytes", len(c.Ciphertext), 1, most)
		if b.Err() != nil {
			return
		}
		b.AddBytes(c.Key[:])
		b.AddUint24LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(c.Ciphertext) })
	}
}

func readSealed(f *wire.Fields, most int) *Sealed {
	s := new(Sealed)
	if v := f.Bytes(".policy", 8); f.OK() {
		s.Policy = binary.BigEndian.Uint64(v)
	}
	for range f.Number(".copies", 2, 1, maxCopies) {
		var c Copy
		copy(c.Key[:], f.Bytes(".key", KeyNameLen))
		c.Ciphertext = f.Prefixed(".ciphertext", 3, 1, most)
		if !f.OK() {
			break
		}
		s.Copies = append(s.Copies, c)
	}
	return s
}
