package audit

import (
	"crypto/hpke"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"golang.org/x/crypto/cryptobyte"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/internal/wire"
)

// Sealed is something encrypted to every auditor of a policy.
type Sealed struct {
	Policy uint64 // the policy's version
	Copies []Copy
}

// Copy is for one auditor.
type Copy struct {
	Key        [KeyNameLen]byte // names the auditor's key
	Ciphertext []byte           // HPKE's encapsulated key and ciphertext
}

// KeyNameLen is the length in bytes of what names a key: the beginning of a hash.
const KeyNameLen = 8

const (
	maxCopies = token.MaxIdentities
	sealStep  = 256              // what is sealed is filled up to a multiple: its length says little
	sealRoom  = sealStep + 2<<10 // bytes that sealing adds at most
)

// keyName names a key of HPKE.
func keyName(kem token.KEM, key []byte) (name [KeyNameLen]byte) {
	sum := sha256.Sum256(append(binary.BigEndian.AppendUint16([]byte("zkbench/v3/audit key"), uint16(kem)), key...))
	copy(name[:], sum[:])
	return name
}

// seal encrypts to the auditors of a policy, filled up with zeros. info, of HPKE, names what is sealed, the policy's version behind it. The error is an ErrParams.
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
			return nil, fmt.Errorf("%w: auditors[%d]: no key of %v", zkbench.ErrParams, i, a.KEM)
		}
		ciphertext, err := hpke.Seal(key, hpke.HKDFSHA256(), hpke.ChaCha20Poly1305(), info, plain)
		if err != nil {
			return nil, fmt.Errorf("%w: auditors[%d]: a key that agrees on nothing", zkbench.ErrParams, i)
		}
		s.Copies = append(s.Copies, Copy{keyName(a.KEM, a.Key), ciphertext})
	}
	return s, nil
}

func (s *Sealed) info(what []byte) []byte {
	return binary.BigEndian.AppendUint64(what[:len(what):len(what)], s.Policy)
}

// open returns what is sealed, filled up, with the key of the auditor who reads.
func (s *Sealed) open(key hpke.PrivateKey, info []byte) ([]byte, error) {
	if key == nil {
		return nil, refuse("something sealed, and the auditor has no key")
	}
	name := keyName(token.KEM(key.KEM().ID()), key.PublicKey().Bytes())
	for _, c := range s.Copies {
		if c.Key != name {
			continue
		}
		plain, err := hpke.Open(key, hpke.HKDFSHA256(), hpke.ChaCha20Poly1305(), s.info(info), c.Ciphertext)
		if err != nil {
			return nil, &zkbench.DecodeError{Path: "sealed", Reason: "does not open with the auditor's key in this place"}
		}
		return plain, nil
	}
	return nil, refuse("sealed under policy %d, to other keys than this auditor's: who has sealed it must do so again", s.Policy)
}

// fill reads the zeros behind what was sealed.
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

// append appends policy(8) count(2) copies; copy = key(8) ciphertext, this behind a length of 3 bytes and of so many at most.
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
