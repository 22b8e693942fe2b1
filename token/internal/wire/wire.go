// Package wire is the wire format that all token actions share: version, kind,
// tokens, metadata, proof. cryptobyte does the bytes; this package adds the
// limits and errors that name the field and its offset.
//
//	action   = version(1) kind(1) ... metadata proof
//	tokens   = uint16 count, count times token
//	token    = uint16 length, owner, commitment (fixed length)
//	metadata = uint24 length, bytes
//	proof    = uint24 length, bytes
package wire

import (
	"fmt"

	"golang.org/x/crypto/cryptobyte"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
)

// maxProof bounds a proof's length before anything is known about it.
const maxProof = 1 << 20

// Header writes version and kind.
func Header(b *cryptobyte.Builder, kind token.Kind) {
	b.AddUint8(token.Version)
	b.AddUint8(uint8(kind))
}

// Count writes the number of tokens that follow. The error is an ErrLimit.
func Count(b *cryptobyte.Builder, field string, n int) error {
	if n > token.MaxTokens {
		return &zkbench.LimitError{What: field, Estimate: int64(n), Max: token.MaxTokens}
	}
	b.AddUint16(uint16(n))
	return nil
}

// ID writes a token id. The error is an ErrLimit.
func ID(b *cryptobyte.Builder, id token.ID) error {
	if n := len(id); n < 1 || n > token.MaxID {
		return &zkbench.LimitError{What: "bytes of token id", Estimate: int64(n), Max: token.MaxID}
	}
	b.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(id) })
	return nil
}

// Token writes one token. The error is an ErrLimit.
func Token(b *cryptobyte.Builder, t *token.Token) error {
	if n := len(t.Owner); n > token.MaxOwner {
		return &zkbench.LimitError{What: "bytes of owner", Estimate: int64(n), Max: token.MaxOwner}
	}
	b.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(t.Owner) })
	b.AddBytes(t.Commitment)
	return nil
}

// Tail writes the outputs and the metadata, which end every action's body, and
// returns the body. The error is an ErrLimit.
func Tail(b *cryptobyte.Builder, outputs []token.Token, metadata []byte) ([]byte, error) {
	if err := Count(b, "outputs", len(outputs)); err != nil {
		return nil, err
	}
	for i := range outputs {
		if err := Token(b, &outputs[i]); err != nil {
			return nil, err
		}
	}
	if n := len(metadata); n > token.MaxMetadata {
		return nil, &zkbench.LimitError{What: "bytes of metadata", Estimate: int64(n), Max: token.MaxMetadata}
	}
	b.AddUint24LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(metadata) })
	return b.Bytes()
}

// Seal appends the proof to an action's body.
func Seal(body, proof []byte) ([]byte, error) {
	b := cryptobyte.NewBuilder(body[:len(body):len(body)])
	b.AddUint24LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(proof) })
	return b.Bytes()
}

// Path names a field of an encoding, for errors. It is put together only when
// there is one.
type Path struct {
	Field string
	Index int
}

func (p Path) String() string { return fmt.Sprintf("%s[%d]", p.Field, p.Index) }

// Reader reads the wire format and remembers where it is, so that errors name
// the field and its offset. After the first error all reads return zero values.
type Reader struct {
	s     cryptobyte.String
	total int
	err   error
}

// NewReader reads data.
func NewReader(data []byte) *Reader { return &Reader{s: data, total: len(data)} }

// Offset is the number of bytes read.
func (r *Reader) Offset() int { return r.total - len(r.s) }

func (r *Reader) fail(path string, offset int, reason string) {
	if r.err == nil {
		r.err = &zkbench.DecodeError{Path: path, Offset: offset, Reason: reason}
	}
}

// Header reads version and kind.
func (r *Reader) Header(kind token.Kind) {
	var version, k uint8
	switch {
	case !r.s.ReadUint8(&version) || !r.s.ReadUint8(&k):
		r.fail("header", 0, "truncated")
	case version != token.Version:
		r.fail("version", 0, fmt.Sprintf("version %d, only %d is known", version, token.Version))
	case token.Kind(k) != kind:
		r.fail("kind", 1, fmt.Sprintf("kind %d, want %d (%s)", k, kind, kind))
	}
}

// Count reads a number of tokens, lo to token.MaxTokens.
func (r *Reader) Count(field string, lo int) int {
	at := r.Offset()
	var n uint16
	switch {
	case r.err != nil:
	case !r.s.ReadUint16(&n):
		r.fail(field, at, "truncated")
	case int(n) < lo || int(n) > token.MaxTokens:
		r.fail(field, at, fmt.Sprintf("%d tokens, accepted are %d to %d", n, lo, token.MaxTokens))
	default:
		return int(n)
	}
	return 0
}

// IDs are the token ids that an action has named so far.
type IDs map[string]bool

// ID reads a token id behind its uint16 length and refuses one that is in seen
// already: a token is spent once.
func (r *Reader) ID(path Path, seen IDs) token.ID {
	at := r.Offset()
	id := token.ID(r.short(path, ".id", 1, token.MaxID))
	if r.err == nil && seen[string(id)] {
		r.fail(path.String()+".id", at, "names a token that an input before names")
	}
	seen[string(id)] = true
	return id
}

// Token reads a token, and returns its commitment as a field too.
func (r *Reader) Token(path Path, pointLen int) (token.Token, token.Field) {
	t := token.Token{Owner: r.short(path, ".owner", 0, token.MaxOwner)}
	at := r.Offset()
	if r.err == nil && !r.s.ReadBytes(&t.Commitment, pointLen) {
		r.fail(path.String()+".commitment", at, "truncated")
	}
	t.Commitment = t.Commitment[:len(t.Commitment):len(t.Commitment)]
	return t, token.Field{Bytes: t.Commitment, Offset: at}
}

func (r *Reader) short(path Path, field string, lo, hi int) []byte {
	at := r.Offset()
	var n uint16
	var out []byte
	switch {
	case r.err != nil:
	case !r.s.ReadUint16(&n):
		r.fail(path.String()+field, at, "truncated")
	case int(n) < lo || int(n) > hi:
		r.fail(path.String()+field, at, fmt.Sprintf("%d bytes, accepted are %d to %d", n, lo, hi))
	case !r.s.ReadBytes(&out, int(n)):
		r.fail(path.String()+field, at, "truncated")
	}
	return out[:len(out):len(out)] // appending to a field must not write over the next
}

// Tail reads the outputs and the metadata.
func (r *Reader) Tail(pointLen int) (outputs []token.Token, commitments []token.Field, metadata []byte) {
	m := r.Count("outputs", 1)
	outputs, commitments = make([]token.Token, m), make([]token.Field, m)
	for j := range outputs {
		outputs[j], commitments[j] = r.Token(Path{Field: "outputs", Index: j}, pointLen)
	}
	return outputs, commitments, r.long("metadata", token.MaxMetadata)
}

// long reads a uint24 length up to most and that many bytes.
func (r *Reader) long(field string, most int) []byte {
	at := r.Offset()
	var n uint32
	var out []byte
	switch {
	case r.err != nil:
	case !r.s.ReadUint24(&n):
		r.fail(field, at, "truncated")
	case int(n) > most:
		r.fail(field, at, fmt.Sprintf("%d bytes, accepted are up to %d", n, most))
	case !r.s.ReadBytes(&out, int(n)):
		r.fail(field, at, "truncated")
	}
	return out[:len(out):len(out)]
}

// Proof reads the proof.
func (r *Reader) Proof() token.Field {
	b := r.long("proof", maxProof)
	return token.Field{Bytes: b, Offset: r.Offset() - len(b)}
}

// End refuses trailing bytes and returns the first error, a
// *zkbench.DecodeError.
func (r *Reader) End() error {
	if r.err == nil && len(r.s) > 0 {
		r.fail("action", r.Offset(), "trailing bytes")
	}
	return r.err
}
