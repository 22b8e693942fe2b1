package service

import (
	"encoding/binary"

	"golang.org/x/crypto/cryptobyte"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/audit"
	"github.com/zkbench/zkbench/token/internal/wire"
)

// deliveryVersion is the version of the encoding of deliveries.
const deliveryVersion = 2

// MaxDelivery is the length in bytes of the longest encoding of a delivery.
const MaxDelivery = 1 + 1 + token.MaxID + 2 + token.MaxOwner + 1 + maxCommitment + 2 + token.MaxType + 8 + blindingLen +
	1 + maxAudit*(2+audit.MaxCertificate+2+audit.MaxProof)

const (
	maxCommitment = 255
	blindingLen   = 32
	maxAudit      = 2 // identities of a script
)

// Delivery is what the payee of an output needs to spend it. It is secret, and the
// only copy but for the payer's: a token whose opening is lost is lost.
type Delivery struct {
	ID      token.ID
	Token   token.Token
	Opening token.Opening
	// Audit is, of a script, what auditors want to see of both its identities: who spends it shows that. Else none.
	Audit []audit.Owner
}

// Encode returns the canonical encoding:
//
//	version(1) id owner commitment type value(8) blinding(32) count(1) certificate and audit proof of each identity
//
// Numbers are big-endian; id and commitment stand behind a length of 1 byte, the others
// of 2. The error is an ErrLimit that names the field.
func (d *Delivery) Encode() ([]byte, error) {
	type field struct {
		what         string
		n, least, hi int
	}
	fields := []field{
		{"bytes of token id", len(d.ID), 1, token.MaxID},
		{"bytes of owner", len(d.Token.Owner), 0, token.MaxOwner},
		{"bytes of commitment", len(d.Token.Commitment), 1, maxCommitment},
		{"bytes of type", len(d.Opening.Type), 0, token.MaxType},
		{"bytes of blinding", len(d.Opening.Blinding), blindingLen, blindingLen},
		{"identities of a script", len(d.Audit), 0, maxAudit},
	}
	for _, o := range d.Audit {
		fields = append(fields, field{"bytes of certificate", len(o.Certificate), 0, audit.MaxCertificate}, field{"bytes of audit proof", len(o.Proof), 0, audit.MaxProof})
	}
	for _, f := range fields {
		if f.n < f.least || f.n > f.hi {
			return nil, &zkbench.LimitError{What: f.what, Estimate: int64(f.n), Max: int64(f.hi)}
		}
	}
	var b cryptobyte.Builder
	b.AddUint8(deliveryVersion)
	b.AddUint8LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(d.ID) })
	b.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(d.Token.Owner) })
	b.AddUint8LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(d.Token.Commitment) })
	b.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes([]byte(d.Opening.Type)) })
	b.AddUint64(d.Opening.Value)
	b.AddBytes(d.Opening.Blinding)
	addAudit(&b, d.Audit)
	return b.Bytes()
}

// DecodeDelivery decodes a delivery, without any arithmetic: Receive looks whether
// the opening opens the token. The error is a *zkbench.DecodeError that names the
// field and shows nothing of it. The delivery keeps references into data.
func DecodeDelivery(data []byte) (Delivery, error) {
	f := wire.NewFields(data, "delivery", MaxDelivery)
	var d Delivery
	f.Version(deliveryVersion)
	d.ID = f.Prefixed("id", 1, 1, token.MaxID)
	d.Token.Owner = f.Prefixed("owner", 2, 0, token.MaxOwner)
	d.Token.Commitment = f.Prefixed("commitment", 1, 1, maxCommitment)
	d.Opening.Type = string(f.Prefixed("type", 2, 0, token.MaxType))
	if value := f.Bytes("value", 8); f.OK() {
		d.Opening.Value = binary.BigEndian.Uint64(value)
	}
	d.Opening.Blinding = f.Bytes("blinding", blindingLen)
	d.Audit = readAudit(f, maxAudit)
	if err := f.End("delivery"); err != nil {
		return Delivery{}, err
	}
	return d, nil
}
