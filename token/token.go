// Package token is the base of confidential tokens. It has commitments to a type and a value, their openings,
// and the parameters. It proves that an action (an issue or a transfer) mixes no types, and that a transfer
// creates no value.
//
// A token is an owner and a Pedersen commitment
//
//	T = t·G_T + v·G + r·H
//
// where t is the token type hashed to a scalar, v the value and r a uniform blinding. docs/token.md states what
// an action's proof shows and how.
//
// The package hides types and values. It does not hide who owns which token (no graph hiding). Its multi-scalar
// multiplications use secret digits as indices into tables, unless Tuning.ConstantTime is set (SECURITY.md).
package token

import (
	"encoding/binary"
	"fmt"

	"github.com/zkbench/zkbench"
)

// Limits of the wire format, in bytes and in tokens. A decoder refuses larger numbers before it allocates.
const (
	MaxTokens   = 64            // inputs, and outputs, of one action
	MaxAnchor   = 128           // bytes of a transaction's id (its anchor), 1 or more
	MaxRequest  = 16 << 20      // bytes of a request
	MaxID       = MaxAnchor + 4 // bytes of a token id: the transaction's id, and the indices of action and output
	MaxOwner    = 4 << 10       // bytes of an owner
	MaxMembers  = 16            // identities of an owner, and signatures for one input
	MaxType     = 256           // bytes of a token type, 1 or more
	MaxMetadata = 64 << 10
	MaxNote     = 24 << 10 // bytes of an output's encrypted opening
	MaxBound    = 64 << 10 // bytes of an Anchor, 1 or more
)

// ID names a token on a ledger. It is opaque, with 1 to MaxID bytes.
type ID []byte

// Anchor is the string of 1 to MaxBound bytes that a proof is bound to: the proof is valid for no other anchor.
// An anchor is the id of a transaction, or what request.ActionAnchor derives from that id. Anchors and metadata
// have different types so that callers cannot confuse them.
type Anchor string

// LedgerID names the one ledger on which a token system runs (ledger.Genesis). All signatures and proofs of the
// system are bound to it and are not valid on another ledger.
type LedgerID [32]byte

// Token is a token as the ledger stores it: an opaque owner, which is empty if the token is redeemed, and a
// compressed commitment.
type Token struct {
	Owner      []byte
	Commitment []byte
}

// Opening is the secret that opens a token's commitment.
type Opening struct {
	Type     string
	Value    uint64
	Blinding []byte // a canonical scalar, 32 bytes big-endian
}

// Format prints "token.Opening (secret)" for every verb, and never the opening itself.
func (Opening) Format(f fmt.State, _ rune) { fmt.Fprint(f, "token.Opening (secret)") }

// Kind says whether an action is an issue or a transfer.
type Kind uint8

// The kinds of actions. The numbers are those of the wire format.
const (
	Issue    Kind = 1
	Transfer Kind = 2
)

func (k Kind) String() string {
	switch k {
	case Issue:
		return "issue"
	case Transfer:
		return "transfer"
	}
	return "unknown"
}

// Version is the version of the wire format.
const Version = 2

// Encode returns the canonical encoding of a token, as a ledger stores it: the length of the owner as a
// big-endian uint16, the owner, and the commitment. Encode returns ErrLimit if the owner is too long.
func (t *Token) Encode() ([]byte, error) {
	if n := len(t.Owner); n > MaxOwner {
		return nil, &zkbench.LimitError{What: "bytes of owner", Estimate: int64(n), Max: MaxOwner}
	}
	b := binary.BigEndian.AppendUint16(make([]byte, 0, 2+len(t.Owner)+len(t.Commitment)), uint16(len(t.Owner)))
	return append(append(b, t.Owner...), t.Commitment...), nil
}

// DecodeToken decodes a token whose commitment has pointLen bytes. It does not decode the point. The token
// keeps references into data. Errors have type *zkbench.DecodeError.
func DecodeToken(pointLen int, data []byte) (*Token, error) {
	malformed := func(path string, offset int, reason string) (*Token, error) {
		return nil, &zkbench.DecodeError{Path: path, Offset: offset, Reason: reason}
	}
	if len(data) < 2 {
		return malformed("owner", 0, "truncated")
	}
	n := int(binary.BigEndian.Uint16(data))
	switch {
	case n > MaxOwner:
		return malformed("owner", 0, fmt.Sprintf("%d bytes, accepted are up to %d", n, MaxOwner))
	case len(data) != 2+n+pointLen:
		return malformed("commitment", min(2+n, len(data)), fmt.Sprintf("the token has %d bytes, want %d", len(data), 2+n+pointLen))
	}
	return &Token{Owner: data[2 : 2+n : 2+n], Commitment: data[2+n:]}, nil
}
