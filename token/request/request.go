// Package request is what a client submits to a validator: actions, and the
// signatures of owners, issuers and auditors over one message that binds them to
// an anchor (the transaction's id) and to the public parameters.
//
// The package knows the envelope only: actions are bytes, which packages issue and
// transfer decode, and identities are package identity's. What a request may do is
// the validator's to judge.
package request

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"

	"golang.org/x/crypto/cryptobyte"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/transcript"
)

// Version is the version of the encoding.
const Version = 1

// Limits of the encoding, in bytes unless said otherwise. A decoder refuses more
// before it allocates.
const (
	MaxRequest   = 8 << 20
	MaxAnchor    = 64
	MaxActions   = 16 // actions
	MaxAction    = 2 << 20
	MaxProofType = 32
	MaxUnlock    = 256
	MaxSignature = 1 << 10
)

// Request is a list of actions that apply together or not at all.
type Request struct {
	Anchor   []byte // 1 to MaxAnchor bytes
	Actions  []Action
	Auditors [][]byte // signatures, in the order of the parameters' auditors
}

// Action is one action and what authorizes it.
type Action struct {
	Kind      token.Kind
	ProofType string // the range-proof system, one of the parameters'
	Raw       []byte // the encoding of an issue.Action or transfer.Action

	Spends []Spend // of a transfer: one for each input, in order
	Issuer *Issuer // of an issue, and of a redemption whose policy asks for it
}

// Spend authorizes one input.
type Spend struct {
	Unlock    []byte // what a script asks for; empty for a plain owner
	Signature []byte // of the owner, or of the one whom the script names
}

// Issuer is the signature of an issuer.
type Issuer struct {
	Index     int // among the parameters' issuers
	Signature []byte
}

// Message commits to the parameters, the anchor and every action, with its place.
// Signatures and what unlocks scripts are no part of it. Signers sign what ToSign
// makes of it.
func (r *Request) Message(params [transcript.StateLen]byte) [transcript.StateLen]byte {
	t := transcript.New("request")
	t.Append("params", params[:])
	t.Append("anchor", r.Anchor)
	t.AppendUint64("actions", uint64(len(r.Actions)))
	for i := range r.Actions {
		a := &r.Actions[i]
		t.AppendUint64("kind", uint64(a.Kind))
		t.Append("proof type", []byte(a.ProofType))
		t.Append("action", a.Raw)
	}
	return t.State()
}

// Role is what somebody signs a request as: a signature given in one role says
// nothing in another, also where one key has both.
type Role string

const (
	Owner      Role = "owner"  // of all inputs that are the signer's
	IssuerRole Role = "issuer" // of one action
	Auditor    Role = "auditor"
)

// ToSign returns what is signed of a request's message in a role: by an issuer for
// the action of that index, by others with 0.
func ToSign(message [transcript.StateLen]byte, role Role, action int) [transcript.StateLen]byte {
	t := transcript.New("request/signature")
	t.Append("message", message[:])
	t.Append("role", []byte(role))
	t.AppendUint64("action", uint64(action))
	return t.State()
}

// Digest is what a ledger stores for the anchor: that of the message. Two requests
// that say the same have one digest, whoever signed them how.
func (r *Request) Digest(params [transcript.StateLen]byte) [sha256.Size]byte {
	message := r.Message(params)
	return sha256.Sum256(message[:])
}

// Context returns what the proof of an action is bound to: the anchor, and the
// action's place in the request.
func Context(anchor []byte, action int) []byte {
	return binary.BigEndian.AppendUint16(append([]byte("request action "), anchor...), uint16(action))
}

// OutputID returns the id of an output. Anchors of one length that differ have ids
// that differ, those of unlike lengths have ids of unlike lengths.
func OutputID(anchor []byte, action, output int) token.ID {
	id := binary.BigEndian.AppendUint16(append(token.ID(nil), anchor...), uint16(action))
	return binary.BigEndian.AppendUint16(id, uint16(output))
}

// Encode returns the canonical encoding:
//
//	version(1) anchor count(1) actions count(2) auditors' signatures
//	action = kind(1) proof type, raw, count(1) spends, issuer
//	spend  = unlock signature
//	issuer = 0(1), or 1(1) index(2) signature
//
// Numbers are big-endian; anchor and proof type stand behind a length of 1 byte,
// raw of 3, the others of 2. The error is an ErrLimit that names the field.
func (r *Request) Encode() ([]byte, error) {
	var b cryptobyte.Builder
	var err error
	bound := func(what string, n, lo, hi int) {
		if err == nil && (n < lo || n > hi) {
			err = &zkbench.LimitError{What: what, Estimate: int64(n), Max: int64(hi)}
		}
	}
	short := func(data []byte) {
		b.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(data) })
	}
	bound("bytes of anchor", len(r.Anchor), 1, MaxAnchor)
	bound("actions", len(r.Actions), 1, MaxActions)
	bound("signatures of auditors", len(r.Auditors), 0, token.MaxIdentities)
	for i := range r.Actions {
		a := &r.Actions[i]
		bound("bytes of proof type", len(a.ProofType), 1, MaxProofType)
		bound("bytes of action", len(a.Raw), 1, MaxAction)
		bound("spends", len(a.Spends), 0, token.MaxTokens)
		for _, s := range a.Spends {
			bound("bytes of unlock", len(s.Unlock), 0, MaxUnlock)
			bound("bytes of signature", len(s.Signature), 0, MaxSignature)
		}
		if a.Issuer != nil {
			bound("index of issuer", a.Issuer.Index, 0, token.MaxIdentities-1)
			bound("bytes of signature", len(a.Issuer.Signature), 0, MaxSignature)
		}
	}
	for _, s := range r.Auditors {
		bound("bytes of signature", len(s), 0, MaxSignature)
	}
	if err != nil {
		return nil, err
	}

	b.AddUint8(Version)
	b.AddUint8LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(r.Anchor) })
	b.AddUint8(uint8(len(r.Actions)))
	for i := range r.Actions {
		a := &r.Actions[i]
		b.AddUint8(uint8(a.Kind))
		b.AddUint8LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes([]byte(a.ProofType)) })
		b.AddUint24LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(a.Raw) })
		b.AddUint8(uint8(len(a.Spends)))
		for _, s := range a.Spends {
			short(s.Unlock)
			short(s.Signature)
		}
		if a.Issuer == nil {
			b.AddUint8(0)
			continue
		}
		b.AddUint8(1)
		b.AddUint16(uint16(a.Issuer.Index))
		short(a.Issuer.Signature)
	}
	b.AddUint16(uint16(len(r.Auditors)))
	for _, s := range r.Auditors {
		short(s)
	}
	encoded, err := b.Bytes()
	if err == nil && len(encoded) > MaxRequest {
		err = &zkbench.LimitError{What: "bytes of request", Estimate: int64(len(encoded)), Max: MaxRequest}
	}
	return encoded, err
}

// Decode decodes the envelope of a request. It does no arithmetic, and allocates no
// more than a small multiple of data. The error is a *zkbench.DecodeError that
// names the field. The request keeps references into data.
func Decode(data []byte) (*Request, error) {
	d := decoder{s: data, total: len(data)}
	r := new(Request)
	if len(data) > MaxRequest {
		d.fail("request", fmt.Sprintf("%d bytes, accepted are up to %d", len(data), MaxRequest))
	}
	if v := d.uint8("version"); d.err == nil && v != Version {
		d.s = data
		d.fail("version", fmt.Sprintf("version %d, only %d is known", v, Version))
	}
	r.Anchor = d.bytes("anchor", 1, 1, MaxAnchor)
	n := d.count("actions", d.uint8("actions"), 1, MaxActions)
	r.Actions = make([]Action, n)
	for i := range r.Actions {
		d.action(fmt.Sprintf("actions[%d]", i), &r.Actions[i])
	}
	if n := d.count("auditors", d.uint16("auditors"), 0, token.MaxIdentities); n > 0 {
		r.Auditors = make([][]byte, n)
		for i := range r.Auditors {
			r.Auditors[i] = d.bytes(fmt.Sprintf("auditors[%d]", i), 2, 0, MaxSignature)
		}
	}
	if d.err == nil && len(d.s) > 0 {
		d.fail("request", "trailing bytes")
	}
	if d.err != nil {
		return nil, d.err
	}
	return r, nil
}

func (d *decoder) action(path string, a *Action) {
	if d.err != nil {
		return
	}
	a.Kind = token.Kind(d.uint8(path + ".kind"))
	if d.err == nil && a.Kind != token.Issue && a.Kind != token.Transfer {
		d.fail(path+".kind", fmt.Sprintf("kind %d, accepted are %d (%s) and %d (%s)", a.Kind, token.Issue, token.Issue, token.Transfer, token.Transfer))
	}
	a.ProofType = string(d.bytes(path+".proof type", 1, 1, MaxProofType))
	a.Raw = d.bytes(path+".action", 3, 1, MaxAction)
	if n := d.count(path+".spends", d.uint8(path+".spends"), 0, token.MaxTokens); n > 0 {
		a.Spends = make([]Spend, n)
		for i := range a.Spends {
			at := fmt.Sprintf("%s.spends[%d]", path, i)
			a.Spends[i] = Spend{d.bytes(at+".unlock", 2, 0, MaxUnlock), d.bytes(at+".signature", 2, 0, MaxSignature)}
		}
	}
	switch present := d.uint8(path + ".issuer"); {
	case d.err != nil || present == 0:
	case present == 1:
		index := d.count(path+".issuer.index", d.uint16(path+".issuer.index"), 0, token.MaxIdentities-1)
		a.Issuer = &Issuer{index, d.bytes(path+".issuer.signature", 2, 0, MaxSignature)}
	default:
		d.fail(path+".issuer", fmt.Sprintf("%d, accepted are 0 and 1", present))
	}
}

// decoder reads fields and remembers the first error; after it all reads return
// zero values.
type decoder struct {
	s     cryptobyte.String
	total int
	err   error
}

func (d *decoder) fail(path, reason string) {
	if d.err == nil {
		d.err = &zkbench.DecodeError{Path: path, Offset: d.total - len(d.s), Reason: reason}
	}
}

func (d *decoder) uint8(path string) int {
	var v uint8
	if d.err == nil && !d.s.ReadUint8(&v) {
		d.fail(path, "truncated")
	}
	return int(v)
}

func (d *decoder) uint16(path string) int {
	var v uint16
	if d.err == nil && !d.s.ReadUint16(&v) {
		d.fail(path, "truncated")
	}
	return int(v)
}

// count returns n if it is within the bounds, and 0 where it is not.
func (d *decoder) count(path string, n, lo, hi int) int {
	if d.err == nil && (n < lo || n > hi) {
		d.fail(path, fmt.Sprintf("%d, accepted are %d to %d", n, lo, hi))
	}
	if d.err != nil {
		return 0
	}
	return n
}

// bytes reads a length of so many bytes, and as many bytes as it says.
func (d *decoder) bytes(path string, lengthBytes, lo, hi int) []byte {
	n := 0
	for range lengthBytes {
		n = n<<8 | d.uint8(path)
	}
	n = d.count(path, n, lo, hi)
	var out []byte
	if d.err == nil && !d.s.ReadBytes(&out, n) {
		d.fail(path, "truncated")
	}
	return out[:len(out):len(out)] // appending to a field must not write over the next
}
