package audit

import (
	"crypto/hpke"
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/internal/wire"
)

// Owner tells who a pseudonym is: in clear, from whoever owns it, or sealed to the auditors, so that a payer can hand it
// on without learning who is paid. Of other identities it is empty.
type Owner struct {
	Certificate []byte // the holder's enrolment
	Proof       []byte // that the pseudonym is the holder's, in Context
	Sealed      *Sealed
}

// Sealed is certificate and proof, encrypted to every auditor of a policy.
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
	maxCopies     = token.MaxIdentities
	maxCiphertext = 2 + MaxCertificate + 2 + MaxProof + sealStep + 2<<10
	sealStep      = 256 // what is sealed is filled up to a multiple: its length says little of the name's
)

// keyName names a key of HPKE.
func keyName(kem token.KEM, key []byte) (name [KeyNameLen]byte) {
	sum := sha256.Sum256(append(binary.BigEndian.AppendUint16([]byte("zkbench/v3/audit key"), uint16(kem)), key...))
	copy(name[:], sum[:])
	return name
}

// sealInfo is HPKE's info: "zkbench/v3/audit" ledger(32) policy(8) identity.
func sealInfo(ledger token.LedgerID, policy uint64, id identity.Identity) []byte {
	info := append([]byte("zkbench/v3/audit"), ledger[:]...)
	return append(binary.BigEndian.AppendUint64(info, policy), id...)
}

// Seal encrypts what a pseudonym's owner tells auditors to all of a policy. It returns an owner that is empty as it is. The error is an
// ErrParams or an ErrLimit.
func Seal(rules *token.Policy, ledger token.LedgerID, id identity.Identity, o Owner) (Owner, error) {
	if len(o.Certificate) == 0 && len(o.Proof) == 0 {
		return o, nil
	}
	var b wire.Builder
	b.Bound("bytes of certificate", len(o.Certificate), 1, MaxCertificate)
	b.Bound("bytes of audit proof", len(o.Proof), 1, MaxProof)
	if err := b.Err(); err != nil {
		return Owner{}, err
	}
	b.Short(o.Certificate)
	b.Short(o.Proof)
	plain, err := b.Bytes()
	if err != nil {
		return Owner{}, err
	}
	plain = append(plain, make([]byte, (sealStep-len(plain)%sealStep)%sealStep)...)
	info := sealInfo(ledger, rules.Version, id)
	sealed := &Sealed{Policy: rules.Version}
	for i := range rules.Auditors {
		a := &rules.Auditors[i]
		kem, err := a.KEM.HPKE()
		if err != nil {
			return Owner{}, err
		}
		key, err := kem.NewPublicKey(a.Key)
		if err != nil {
			return Owner{}, fmt.Errorf("%w: auditors[%d]: no key of %v", zkbench.ErrParams, i, a.KEM)
		}
		ciphertext, err := hpke.Seal(key, hpke.HKDFSHA256(), hpke.ChaCha20Poly1305(), info, plain)
		if err != nil {
			return Owner{}, fmt.Errorf("%w: auditors[%d]: a key that agrees on nothing", zkbench.ErrParams, i)
		}
		sealed.Copies = append(sealed.Copies, Copy{keyName(a.KEM, a.Key), ciphertext})
	}
	return Owner{Sealed: sealed}, nil
}

// open returns an owner in clear, with the key of the auditor who reads.
func (o *Owner) open(key hpke.PrivateKey, ledger token.LedgerID, id identity.Identity) (*Owner, error) {
	if o.Sealed == nil {
		return o, nil
	}
	if key == nil {
		return nil, refuse("a sealed owner, and the auditor has no key")
	}
	name := keyName(token.KEM(key.KEM().ID()), key.PublicKey().Bytes())
	for _, c := range o.Sealed.Copies {
		if c.Key != name {
			continue
		}
		plain, err := hpke.Open(key, hpke.HKDFSHA256(), hpke.ChaCha20Poly1305(), sealInfo(ledger, o.Sealed.Policy, id), c.Ciphertext)
		if err != nil {
			return nil, &zkbench.DecodeError{Path: "sealed owner", Reason: "does not open with the auditor's key, for this ledger and identity"}
		}
		f := wire.NewFields(plain, "sealed owner", maxCiphertext)
		clear := &Owner{Certificate: f.Prefixed("certificate", 2, 1, MaxCertificate), Proof: f.Prefixed("proof", 2, 1, MaxProof)}
		if f.OK() {
			for _, b := range f.Bytes("fill", len(plain)-f.Offset()) {
				if b != 0 {
					f.Fail("fill", f.Offset(), "not zero")
				}
			}
		}
		return clear, f.End("sealed owner")
	}
	return nil, refuse("sealed under policy %d, to other keys than this auditor's: the payee must make a new address", o.Sealed.Policy)
}

// The forms of an owner; the numbers are those of the encoding.
const (
	formEmpty = iota
	formClear
	formSealed
)

// Append appends the canonical encoding; what is out of bounds is b's error:
//
//	owner  = form(1); 0: nothing; 1: certificate proof; 2: policy(8) count(2) copies
//	copy   = key(8) ciphertext
//
// with certificate, proof and ciphertext behind a length of 2 bytes.
func (o *Owner) Append(b *wire.Builder) {
	switch {
	case o.Sealed != nil:
		b.Bound("copies of a sealed owner", len(o.Sealed.Copies), 1, maxCopies)
		b.AddUint8(formSealed)
		b.AddUint64(o.Sealed.Policy)
		b.AddUint16(uint16(len(o.Sealed.Copies)))
		for _, c := range o.Sealed.Copies {
			b.Bound("bytes of a sealed owner", len(c.Ciphertext), 1, maxCiphertext)
			if b.Err() != nil {
				return
			}
			b.AddBytes(c.Key[:])
			b.Short(c.Ciphertext)
		}
	case len(o.Certificate) > 0 || len(o.Proof) > 0:
		b.Bound("bytes of certificate", len(o.Certificate), 0, MaxCertificate)
		b.Bound("bytes of audit proof", len(o.Proof), 0, MaxProof)
		if b.Err() != nil {
			return
		}
		b.AddUint8(formClear)
		b.Short(o.Certificate)
		b.Short(o.Proof)
	default:
		b.AddUint8(formEmpty)
	}
}

// ReadOwner reads what Append wrote.
func ReadOwner(f *wire.Fields) (o Owner) {
	at := f.Offset()
	switch f.Number(".form", 1, formEmpty, formSealed) {
	case formClear:
		o.Certificate = f.Prefixed(".certificate", 2, 0, MaxCertificate)
		o.Proof = f.Prefixed(".proof", 2, 0, MaxProof)
		if f.OK() && len(o.Certificate) == 0 && len(o.Proof) == 0 {
			f.Fail(".form", at, "in clear, and empty")
		}
	case formSealed:
		o.Sealed = new(Sealed)
		if v := f.Bytes(".policy", 8); f.OK() {
			o.Sealed.Policy = binary.BigEndian.Uint64(v)
		}
		for range f.Number(".copies", 2, 1, maxCopies) {
			if !f.OK() {
				return Owner{}
			}
			var c Copy
			copy(c.Key[:], f.Bytes(".key", KeyNameLen))
			c.Ciphertext = f.Prefixed(".ciphertext", 2, 1, maxCiphertext)
			o.Sealed.Copies = append(o.Sealed.Copies, c)
		}
	}
	return o
}
