package audit

import (
	"crypto/hpke"
	"errors"
	"slices"
	"strings"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/internal/wire"
)

// Owner tells auditors who holds a pseudonym. The holder makes the Owner unencrypted. After it is sealed
// to the auditors, a payer can pass it on without learning who is paid. The Owner of an identity that is
// not a pseudonym is empty.
type Owner struct {
	Certificate []byte // the holder's certificate
	Proof       []byte // the proof that the pseudonym belongs to the holder; it is bound to Context
	Sealed      *Sealed
}

// ownerInfo returns the HPKE info of a sealed owner without the policy's version, which Sealed.info adds:
// "zkbench/v3/audit" ledger(32) identity policy(8).
func ownerInfo(ledger token.LedgerID, id identity.Identity) []byte {
	return append(append([]byte("zkbench/v3/audit"), ledger[:]...), id...)
}

// Seal encrypts an Owner for the pseudonym id to all auditors of a policy. If the Owner is empty or already
// sealed, Seal returns it unchanged. Seal returns ErrParams or ErrLimit.
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
	s, err := seal(rules, ownerInfo(ledger, id), plain)
	return Owner{Sealed: s}, err
}

// ReadableBy reports whether all auditors of a policy can read who holds the pseudonym. They can if the Owner
// is in the clear, or if it is sealed to the keys of all of them.
func (o *Owner) ReadableBy(rules *token.Policy) bool {
	if o.Sealed == nil {
		return len(rules.Auditors) == 0 || len(o.Certificate) > 0
	}
	for i := range rules.Auditors {
		name := keyName(rules.Auditors[i].KEM, rules.Auditors[i].Key)
		if !slices.ContainsFunc(o.Sealed.Copies, func(c Copy) bool { return c.Key == name }) {
			return false
		}
	}
	return true
}

// open returns the Owner in the clear, with the auditor's key.
func (o *Owner) open(key hpke.PrivateKey, ledger token.LedgerID, id identity.Identity) (*Owner, error) {
	if o.Sealed == nil {
		return o, nil
	}
	plain, err := o.Sealed.open(key, ownerInfo(ledger, id))
	if err != nil {
		return nil, err
	}
	f := wire.NewFields(plain, "sealed owner", maxSealedOwner)
	clear := &Owner{Certificate: f.Prefixed("certificate", 2, 1, MaxCertificate), Proof: f.Prefixed("proof", 2, 1, MaxProof)}
	fill(f, len(plain))
	return clear, f.End("sealed owner")
}

const maxSealedOwner = 2 + MaxCertificate + 2 + MaxProof + sealRoom

// Forms of an Owner. The numbers are part of the encoding.
const (
	formEmpty = iota
	formClear
	formSealed
)

// Append appends the canonical encoding to dst. If something is out of bounds, it returns a *zkbench.LimitError.
// The encoding is as follows:
//
//	owner = form(1), and then, depending on the form:
//	        0 (empty): nothing
//	        1 (in the clear): certificate proof
//	        2 (sealed): policy(8) count(2) copies
//	copy  = key(8) ciphertext
//
// A length of 2 bytes comes before the certificate, and another before the proof. A length of 3 bytes comes
// before the ciphertext.
func (o *Owner) Append(dst []byte) ([]byte, error) {
	var b wire.Builder
	o.append(&b)
	if err := b.Err(); err != nil {
		return nil, err
	}
	encoded, err := b.Bytes()
	return append(dst, encoded...), err
}

func (o *Owner) append(b *wire.Builder) {
	switch {
	case o.Sealed != nil:
		b.AddUint8(formSealed)
		o.Sealed.append(b, maxSealedOwner)
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

// DecodeOwner decodes an Owner that Append encoded, at the start of data. It returns the Owner, which keeps
// references into data, and the length of its encoding. The error is of type *zkbench.DecodeError.
func DecodeOwner(data []byte) (o Owner, n int, err error) {
	f := wire.NewFields(data, "owner", len(data))
	o = readOwner(f)
	if d, ok := errors.AsType[*zkbench.DecodeError](f.Err()); ok {
		return Owner{}, 0, &zkbench.DecodeError{Path: strings.TrimPrefix(d.Path, "."), Offset: d.Offset, Reason: d.Reason}
	}
	return o, f.Offset(), nil
}

// readOwner reads an Owner, which is an item of a list.
func readOwner(f *wire.Fields) (o Owner) {
	at := f.Offset()
	switch f.Number(".form", 1, formEmpty, formSealed) {
	case formClear:
		o.Certificate = f.Prefixed(".certificate", 2, 0, MaxCertificate)
		o.Proof = f.Prefixed(".proof", 2, 0, MaxProof)
		if f.OK() && len(o.Certificate) == 0 && len(o.Proof) == 0 {
			f.Fail(".form", at, "in clear, and empty")
		}
	case formSealed:
		o.Sealed = readSealed(f, maxSealedOwner)
	}
	return o
}
