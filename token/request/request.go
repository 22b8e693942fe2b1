// Package request is what a client submits to a validator: actions, and the
// signatures of owners, issuers and auditors over one message that binds them to
// an anchor (the transaction's id) and to the ledger, and so to its parameters.
//
// Each signature names the identity for which it is made, as that stands in the token or in the
// policy: a signature for one certificate of a key is none for another certificate of that key.
//
// The package knows the envelope only: package action decodes the actions, package identity the
// identities, package script the witnesses. Package validator decides what a request may do.
package request

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"slices"

	"golang.org/x/crypto/cryptobyte"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/internal/wire"
	"github.com/zkbench/zkbench/transcript"
)

// Version is the version of the encoding.
const Version = 4

// Limits of the encoding, in bytes unless said otherwise, beside token.MaxRequest
// and token.MaxAnchor. A decoder refuses more before it allocates.
const (
	MaxActions   = 16 // actions
	MaxAction    = 2 << 20
	MaxProofType = 32
	MaxUnlock    = 256
	MaxPreimage  = 64
	MaxSignature = 1 << 10

	// MaxSignatures bounds the signatures of owners in a request: one for each input that it can have.
	MaxSignatures = MaxActions * token.MaxTokens
)

// Request is a list of actions that apply together or not at all.
type Request struct {
	Anchor   []byte // 1 to token.MaxAnchor bytes
	Until    uint64 // the last time of the ledger at which it may be applied, in Unix seconds; 0: it has no end
	Actions  []Action
	Auditors [][]byte // signatures, in the order of the policy's auditors
}

// Action is one action and what authorizes it.
type Action struct {
	Kind      token.Kind
	ProofType string // the range-proof system, one of the parameters'
	Raw       []byte // the encoding of an action.Action

	Spends []Spend // of a transfer: one for each input, in order
	Issuer *Issuer // of an issue, and of a redemption if the policy asks for it
}

// Spend authorizes one input.
type Spend struct {
	Unlock   []byte // the witness that a script asks for, of up to MaxUnlock bytes; empty for a plain owner
	Preimage []byte // of the hash time lock that is claimed, up to MaxPreimage bytes; else empty. No signature covers it
	// Signatures are the owner's, or those of the signers whom the script and its witness name, in their
	// order: up to token.MaxMembers.
	Signatures [][]byte
}

// Issuer is an issuer of the policy, with its signature.
type Issuer struct {
	Identity  []byte // 1 to token.MaxOwner bytes
	Signature []byte
}

// Message commits to the ledger, the anchor, the end of validity, and every action with its index and
// its issuer. It commits to no signature and to no witness. Signers sign what ToSign makes of it.
func (r *Request) Message(ledger token.LedgerID) [transcript.StateLen]byte {
	t := transcript.New("request")
	t.Append("ledger", ledger[:])
	t.Append("anchor", r.Anchor)
	t.AppendUint64("until", r.Until)
	t.AppendUint64("actions", uint64(len(r.Actions)))
	for i := range r.Actions {
		a := &r.Actions[i]
		t.AppendUint64("kind", uint64(a.Kind))
		t.Append("proof type", []byte(a.ProofType))
		var issuer []byte // no identity is empty
		if a.Issuer != nil {
			issuer = a.Issuer.Identity
		}
		t.Append("issuer", issuer)
		t.Append("action", a.Raw)
	}
	return t.State()
}

// AuditMessage commits to a request's message and to the witness of every input, without the
// preimages: so an auditor's signature says which members of a threshold sign, and which party of a
// hash time lock. Auditors sign what ToSign makes of it.
func (r *Request) AuditMessage(message [transcript.StateLen]byte) [transcript.StateLen]byte {
	t := transcript.New("request/audit")
	t.Append("message", message[:])
	for i := range r.Actions {
		t.AppendUint64("spends", uint64(len(r.Actions[i].Spends)))
		for _, s := range r.Actions[i].Spends {
			t.Append("unlock", s.Unlock)
		}
	}
	return t.State()
}

// Role is what somebody signs a request as: a signature given in one role says
// nothing in another, also where one key has both.
type Role string

const (
	Owner      Role = "owner"   // of all inputs that the identity owns, or whose script names it
	IssuerRole Role = "issuer"  // of one action
	Auditor    Role = "auditor" // under one version of the policy

	Administrator Role = "administrator" // of an update of the policy (package policy)
)

// ToSign returns what is signed of a message in a role. For an issuer, of is the index of the action;
// for an auditor, the version of the policy, and the message is that of AuditMessage; for others 0.
// signer is the identity for which the signature is made, in the bytes that stand in the token, its
// script or the policy: two certificates of one key have different signatures.
func ToSign(message [transcript.StateLen]byte, role Role, of uint64, signer []byte) [transcript.StateLen]byte {
	t := transcript.New("request/signature")
	t.Append("message", message[:])
	t.Append("role", []byte(role))
	t.AppendUint64("of", of)
	t.Append("signer", signer)
	return t.State()
}

// Digest is what a ledger stores for the anchor: that of the message. Two requests
// that say the same have one digest, whoever signed them how.
func (r *Request) Digest(ledger token.LedgerID) [sha256.Size]byte {
	message := r.Message(ledger)
	return sha256.Sum256(message[:])
}

// WithoutPreimages returns a copy of the request that names no preimage, for auditors: what they sign
// commits to none. The copy shares the rest with the request.
func (r *Request) WithoutPreimages() *Request {
	c := *r
	c.Actions = slices.Clone(r.Actions)
	for i := range c.Actions {
		spends := slices.Clone(c.Actions[i].Spends)
		for j := range spends {
			spends[j].Preimage = nil
		}
		c.Actions[i].Spends = spends
	}
	return &c
}

// ActionAnchor returns what the proof of an action is bound to: the ledger, the request's anchor,
// and the action's place in the request.
func ActionAnchor(ledger token.LedgerID, anchor []byte, action int) token.Anchor {
	bound := append(append([]byte("request action "), ledger[:]...), anchor...)
	return token.Anchor(binary.BigEndian.AppendUint16(bound, uint16(action)))
}

// OutputID returns the id of an output. Anchors of one length that differ have ids
// that differ, those of unlike lengths have ids of unlike lengths.
func OutputID(anchor []byte, action, output int) token.ID {
	id := binary.BigEndian.AppendUint16(append(token.ID(nil), anchor...), uint16(action))
	return binary.BigEndian.AppendUint16(id, uint16(output))
}

// Encode returns the canonical encoding:
//
//	version(1) anchor until(8) count(1) actions count(2) auditors' signatures
//	action = kind(1) proof type, raw, count(1) spends, issuer
//	spend  = unlock preimage count(1) signatures
//	issuer = identity, and if that is not empty, signature
//
// Numbers are big-endian. A length comes before each field of bytes: of 1 byte before anchor, proof type
// and preimage, of 3 before raw, of 2 before the others. Encode returns an ErrLimit that names the field.
func (r *Request) Encode() ([]byte, error) {
	var b wire.Builder
	b.Bound("bytes of anchor", len(r.Anchor), 1, token.MaxAnchor)
	b.Bound("actions", len(r.Actions), 1, MaxActions)
	b.Bound("signatures of auditors", len(r.Auditors), 0, token.MaxIdentities)
	signatures := 0
	for i := range r.Actions {
		a := &r.Actions[i]
		b.Bound("bytes of proof type", len(a.ProofType), 1, MaxProofType)
		b.Bound("bytes of action", len(a.Raw), 1, MaxAction)
		b.Bound("spends", len(a.Spends), 0, token.MaxTokens)
		for _, s := range a.Spends {
			b.Bound("bytes of unlock", len(s.Unlock), 0, MaxUnlock)
			b.Bound("bytes of preimage", len(s.Preimage), 0, MaxPreimage)
			b.Bound("signatures of a spend", len(s.Signatures), 0, token.MaxMembers)
			for _, signature := range s.Signatures {
				b.Bound("bytes of signature", len(signature), 0, MaxSignature)
			}
			signatures += len(s.Signatures)
		}
		if a.Issuer != nil {
			b.Bound("bytes of issuer", len(a.Issuer.Identity), 1, token.MaxOwner)
			b.Bound("bytes of signature", len(a.Issuer.Signature), 0, MaxSignature)
		}
	}
	b.Bound("signatures of owners", signatures, 0, MaxSignatures)
	for _, s := range r.Auditors {
		b.Bound("bytes of signature", len(s), 0, MaxSignature)
	}
	if err := b.Err(); err != nil {
		return nil, err
	}

	b.AddUint8(Version)
	b.AddUint8LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(r.Anchor) })
	b.AddUint64(r.Until)
	b.AddUint8(uint8(len(r.Actions)))
	for i := range r.Actions {
		a := &r.Actions[i]
		b.AddUint8(uint8(a.Kind))
		b.AddUint8LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes([]byte(a.ProofType)) })
		b.AddUint24LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(a.Raw) })
		b.AddUint8(uint8(len(a.Spends)))
		for _, s := range a.Spends {
			b.Short(s.Unlock)
			b.AddUint8LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(s.Preimage) })
			b.AddUint8(uint8(len(s.Signatures)))
			for _, signature := range s.Signatures {
				b.Short(signature)
			}
		}
		if a.Issuer == nil {
			b.AddUint16(0)
			continue
		}
		b.Short(a.Issuer.Identity)
		b.Short(a.Issuer.Signature)
	}
	b.AddUint16(uint16(len(r.Auditors)))
	for _, s := range r.Auditors {
		b.Short(s)
	}
	encoded, err := b.Bytes()
	if err == nil && len(encoded) > token.MaxRequest {
		err = &zkbench.LimitError{What: "bytes of request", Estimate: int64(len(encoded)), Max: token.MaxRequest}
	}
	return encoded, err
}

// Decode decodes the envelope of a request. It does no arithmetic, and allocates no
// more than a small multiple of data. The error is a *zkbench.DecodeError that
// names the field. The request keeps references into data.
func Decode(data []byte) (*Request, error) {
	f := wire.NewFields(data, "request", token.MaxRequest)
	r := new(Request)
	f.Version(Version)
	r.Anchor = f.Prefixed("anchor", 1, 1, token.MaxAnchor)
	r.Until = f.Uint64("until")
	r.Actions = make([]Action, f.Number("actions", 1, 1, MaxActions))
	left := MaxSignatures
	for i := range r.Actions {
		decodeAction(f, fmt.Sprintf("actions[%d]", i), &r.Actions[i], &left)
	}
	for i := range f.Number("auditors", 2, 0, token.MaxIdentities) {
		r.Auditors = append(r.Auditors, f.Prefixed(fmt.Sprintf("auditors[%d]", i), 2, 0, MaxSignature))
	}
	if err := f.End("request"); err != nil {
		return nil, err
	}
	return r, nil
}

// decodeAction decodes an action whose owners have at most so many signatures left, and takes its own off.
func decodeAction(f *wire.Fields, path string, a *Action, left *int) {
	if !f.OK() {
		return
	}
	at := f.Offset()
	a.Kind = token.Kind(f.Number(path+".kind", 1, 0, 255))
	if f.OK() && a.Kind != token.Issue && a.Kind != token.Transfer {
		f.Fail(path+".kind", at, fmt.Sprintf("kind %d, accepted are %d (%s) and %d (%s)", a.Kind, token.Issue, token.Issue, token.Transfer, token.Transfer))
	}
	a.ProofType = string(f.Prefixed(path+".proof type", 1, 1, MaxProofType))
	a.Raw = f.Prefixed(path+".action", 3, 1, MaxAction)
	for i := range f.Number(path+".spends", 1, 0, token.MaxTokens) {
		spend := fmt.Sprintf("%s.spends[%d]", path, i)
		a.Spends = append(a.Spends, Spend{
			Unlock:     f.Prefixed(spend+".unlock", 2, 0, MaxUnlock),
			Preimage:   f.Prefixed(spend+".preimage", 1, 0, MaxPreimage),
			Signatures: decodeSignatures(f, spend+".signatures", left),
		})
	}
	if id := f.Prefixed(path+".issuer", 2, 0, token.MaxOwner); len(id) > 0 {
		a.Issuer = &Issuer{id, f.Prefixed(path+".issuer.signature", 2, 0, MaxSignature)}
	}
}

func decodeSignatures(f *wire.Fields, path string, left *int) (signatures [][]byte) {
	at, n := f.Offset(), f.Number(path, 1, 0, token.MaxMembers)
	if *left -= n; *left < 0 {
		f.Fail(path, at, fmt.Sprintf("%d more than the %d of owners that a request may have", -*left, MaxSignatures))
	}
	for i := range n {
		if !f.OK() {
			return nil
		}
		f.Item(path, i)
		signatures = append(signatures, f.Prefixed("", 2, 0, MaxSignature))
	}
	f.EndItems()
	return signatures
}
