package token

import (
	"fmt"

	"github.com/zkbench/zkbench"
	"golang.org/x/crypto/cryptobyte"
)

// AppendToken writes an owner behind its uint16 length and a commitment. The
// error is an ErrLimit where the owner is too long.
func AppendToken(b *cryptobyte.Builder, t *Token) error {
	if n := len(t.Owner); n > MaxOwner {
		return &zkbench.LimitError{What: "bytes of owner", Estimate: int64(n), Max: MaxOwner}
	}
	b.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(t.Owner) })
	b.AddBytes(t.Commitment)
	return nil
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
func (r *Reader) Header(kind Kind) {
	var version, k uint8
	switch {
	case !r.s.ReadUint8(&version) || !r.s.ReadUint8(&k):
		r.fail("header", 0, "truncated")
	case version != Version:
		r.fail("version", 0, fmt.Sprintf("version %d, only %d is known", version, Version))
	case Kind(k) != kind:
		r.fail("kind", 1, fmt.Sprintf("kind %d, want %d (%s)", k, kind, kind))
	}
}

// Count reads a number of tokens, lo to MaxTokens.
func (r *Reader) Count(field string, lo int) int {
	at := r.Offset()
	var n uint16
	switch {
	case r.err != nil:
	case !r.s.ReadUint16(&n):
		r.fail(field, at, "truncated")
	case int(n) < lo || int(n) > MaxTokens:
		r.fail(field, at, fmt.Sprintf("%d tokens, accepted are %d to %d", n, lo, MaxTokens))
	default:
		return int(n)
	}
	return 0
}

// ID reads a token id behind its uint16 length.
func (r *Reader) ID(path Path) ID { return r.short(path, ".id", 1, MaxID) }

// Token reads what AppendToken wrote, and returns its commitment as a field
// too.
func (r *Reader) Token(path Path, pointLen int) (Token, Field) {
	t := Token{Owner: r.short(path, ".owner", 0, MaxOwner)}
	at := r.Offset()
	if r.err == nil && !r.s.ReadBytes(&t.Commitment, pointLen) {
		r.fail(path.String()+".commitment", at, "truncated")
	}
	return t, Field{t.Commitment, at}
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
	return out
}

// Long reads a uint24 length up to most and that many bytes.
func (r *Reader) Long(field string, most int) []byte {
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
	return out
}

// Proof reads a proof as Long does.
func (r *Reader) Proof() Field {
	b := r.Long("proof", maxProof)
	return Field{b, r.Offset() - len(b)}
}

// End refuses trailing bytes and returns the first error, a
// *zkbench.DecodeError.
func (r *Reader) End() error {
	if r.err == nil && len(r.s) > 0 {
		r.fail("action", r.Offset(), "trailing bytes")
	}
	return r.err
}
