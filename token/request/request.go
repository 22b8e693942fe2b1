// Package request defines what a client submits to a validator: actions, and the signatures of owners, issuers and
// auditors. All signatures cover one message, which binds them to an anchor (the transaction's id) and to the
// ledger, and so to its parameters.
//
// Each signature also covers the signer's identity, byte for byte as in the token or in the policy. So a signature
// for one certificate of a key is not valid for another certificate of the same key.
//
// The package does not look inside actions, identities and witnesses: package action decodes the actions, package
// identity the identities, and package script the witnesses. Package validator decides what a request may do.
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

// Version is the version of the encoding of requests.
const Version = 4

// Limits of the encoding, in bytes unless stated otherwise, besides token.MaxRequest
// and token.MaxAnchor. A decoder refuses more before it allocates.
const (
	MaxActions   = 16 // actions
	MaxAction    = 2 << 20
	MaxProofType = 32
	MaxUnlock    = 256
	MaxPreimage  = 64
	MaxSignature = 1 << 10

	// MaxSignatures is the maximum number of owners' signatures in a request: one for each possible input.
	MaxSignatures = MaxActions * token.MaxTokens
)

// Request is a list of actions that are applied together or not at all.
type Request struct {
	Anchor   []byte // 1 to token.MaxAnchor bytes
	Until    uint64 // last block time at which it may be applied, in Unix seconds; 0 for no limit
	Actions  []Action
	Auditors [][]byte // signatures, in the order of the policy's auditors
}

// Action is one action, with the signatures and witnesses that authorize it.
type Action struct {
	Kind      token.Kind
	ProofType string // the range-proof system: one of those in the public parameters
	Raw       []byte // the encoding of an action.Action

	Spends []Spend // for a transfer: one for each input, in order
	Issuer *Issuer // for an issue, and for a redemption if the policy requires it
}

// Spend authorizes the spending of one input.
type Spend struct {
	Unlock   []byte // the witness for a script, up to MaxUnlock bytes; empty for a plain owner
	Preimage []byte // for claiming a hash time lock, up to MaxPreimage bytes; not covered by signatures
	// Signatures has the owner's signature, or one for each signer that the script and its witness name, in their
	// order: up to token.MaxMembers.
	Signatures [][]byte
}

// Issuer is an issuer that the policy names, with the issuer's signature.
type Issuer struct {
	Identity  []byte // 1 to token.MaxOwner bytes
	Signature []byte
}

// Message returns a commitment to the ledger, the anchor, the end of validity, and every action with its index and
// issuer. The commitment covers no signatures and no witnesses. Signers sign what ToSign returns for this
// commitment.
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

// AuditMessage returns a commitment to the given message, which Message returned, and to the witness of every
// input, except the preimages. So an auditor's signature also covers which members of a threshold sign, and
// which party of a hash time lock signs. Auditors sign what ToSign returns for this commitment.
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

// Role is the role in which somebody signs a request. A signature given in one role is not valid in another, even
// if one key has both roles.
type Role string

const (
	Owner      Role = "owner"   // owner of inputs, also one that a script names
	IssuerRole Role = "issuer"  // issuer in one action
	Auditor    Role = "auditor" // auditor under one version of the policy

	Administrator Role = "administrator" // administrator who signs a policy update (package policy)
)

// ToSign returns the bytes that a signer signs for a message in a role. For an issuer, the parameter number is
// the index of the action. For an auditor, it is the version of the policy, and message is what AuditMessage
// returns. For other roles, number is 0.
//
// The parameter signer is the identity that signs, byte for byte as in the token, its script or the policy. So the
// signatures for two certificates of one key differ.
func ToSign(message [transcript.StateLen]byte, role Role, number uint64, signer []byte) [transcript.StateLen]byte {
	t := transcript.New("request/signature")
	t.Append("message", message[:])
	t.Append("role", []byte(role))
	t.AppendUint64("of", number)
	t.Append("signer", signer)
	return t.State()
}

// Digest returns the digest that a ledger stores under the anchor: the SHA-256 of what Message returns.
// Requests with the same content have the same digest, whatever their signatures.
func (r *Request) Digest(ledger token.LedgerID) [sha256.Size]byte {
	message := r.Message(ledger)
	return sha256.Sum256(message[:])
}

// WithoutPreimages returns a copy of the request without preimages, for auditors, whose signatures do not cover
// preimages. The copy shares everything else with the request.
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

// ActionAnchor returns what the proof of an action is bound to: the ledger, the request's anchor, and the action's
// index in the request.
func ActionAnchor(ledger token.LedgerID, anchor []byte, action int) token.Anchor {
	bound := append(append([]byte("request action "), ledger[:]...), anchor...)
	return token.Anchor(binary.BigEndian.AppendUint16(bound, uint16(action)))
}

// OutputID returns the id of an output. Different anchors of the same length give different ids, and anchors of
// different lengths give ids of different lengths.
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
// Numbers are big-endian. A length comes before each field of bytes: 1 byte before anchor, proof type and
// preimage, 3 bytes before raw, 2 bytes before the others. If a field is too long or a list has too many items,
// Encode returns an ErrLimit that names the field.
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

// Decode decodes a request, but not the actions, identities and witnesses in it. The request keeps references into
// data. Decode does no curve arithmetic, and allocates at most a small multiple of len(data). The error is of type
// *zkbench.DecodeError and names the field.
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

// decodeAction decodes an action. left is how many more signatures of owners the request may have; decodeAction
// subtracts those of the action.
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
		f.Fail(path, at, fmt.Sprintf("%d signatures more than the %d of owners that a request may have", -*left, MaxSignatures))
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
