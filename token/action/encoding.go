package action

import (
	"fmt"

	"golang.org/x/crypto/cryptobyte"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/internal/statement"
)

// The wire format, integers big-endian:
//
//	action   = version(1) kind(1) inputs outputs metadata proof; an issue has no inputs
//	inputs   = uint16 count, count times id and token
//	outputs  = uint16 count, count times token
//	id       = uint16 length, bytes
//	token    = uint16 length, owner, commitment (fixed length)
//	metadata = uint24 length, bytes
//	proof    = uint24 length, bytes

// maxProof bounds a proof's length before anything is known about it.
const maxProof = 1 << 20

// body encodes all but the proof. The error is an ErrLimit.
func (a *Action) body() ([]byte, error) {
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
	write := func(t *token.Token) {
		bound("bytes of owner", len(t.Owner), 0, token.MaxOwner)
		short(t.Owner)
		b.AddBytes(t.Commitment)
	}
	b.AddUint8(token.Version)
	b.AddUint8(uint8(a.Kind()))
	if len(a.Inputs) > 0 {
		bound("inputs", len(a.Inputs), 1, token.MaxTokens)
		b.AddUint16(uint16(len(a.Inputs)))
		for i := range a.Inputs {
			bound("bytes of token id", len(a.Inputs[i].ID), 1, token.MaxID)
			short(a.Inputs[i].ID)
			write(&a.Inputs[i].Token)
		}
	}
	bound("outputs", len(a.Outputs), 1, token.MaxTokens)
	b.AddUint16(uint16(len(a.Outputs)))
	for j := range a.Outputs {
		write(&a.Outputs[j])
	}
	bound("bytes of metadata", len(a.Metadata), 0, token.MaxMetadata)
	b.AddUint24LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(a.Metadata) })
	if err != nil {
		return nil, err
	}
	return b.Bytes()
}

// seal appends the proof to an action's body.
func seal(body, proof []byte) ([]byte, error) {
	b := cryptobyte.NewBuilder(body[:len(body):len(body)])
	b.AddUint24LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(proof) })
	return b.Bytes()
}

// Parse is Decode without the points and scalars, which Receive decodes: it costs
// little, whatever data holds. pointLen is the length in bytes of a commitment.
func Parse(pointLen int, kind token.Kind, data []byte) (*Action, error) {
	a := new(Action)
	st, r := &a.statement, &reader{s: data, total: len(data)}
	r.header(kind)
	if kind == token.Transfer {
		n := r.count("inputs")
		a.Inputs, st.Inputs = make([]Input, n), make([]statement.Field, n)
		seen := make(tokenIDs, n)
		for i := range a.Inputs {
			a.Inputs[i].ID = r.id(path{"inputs", i}, seen)
			a.Inputs[i].Token, st.Inputs[i] = r.token(path{"inputs", i}, pointLen)
		}
	}
	m := r.count("outputs")
	a.Outputs, st.Outputs = make([]token.Token, m), make([]statement.Field, m)
	for j := range a.Outputs {
		a.Outputs[j], st.Outputs[j] = r.token(path{"outputs", j}, pointLen)
	}
	a.Metadata = r.long("metadata", token.MaxMetadata)
	st.Action = data[:r.offset()]
	a.proof.Bytes = r.long("proof", maxProof)
	a.proof.Offset = r.offset() - len(a.proof.Bytes)
	if len(r.s) > 0 {
		r.fail("action", r.offset(), "trailing bytes")
	}
	if r.err != nil {
		return nil, r.err
	}
	return a, nil
}

// path names a token of an encoding, for errors. It is put together only when there
// is one.
type path struct {
	field string
	index int
}

func (p path) String() string { return fmt.Sprintf("%s[%d]", p.field, p.index) }

// reader reads the wire format and remembers where it is, so that errors name the
// field and its offset. After the first error all reads return zero values.
type reader struct {
	s     cryptobyte.String
	total int
	err   error
}

func (r *reader) offset() int { return r.total - len(r.s) }

func (r *reader) fail(path string, offset int, reason string) {
	if r.err == nil {
		r.err = &zkbench.DecodeError{Path: path, Offset: offset, Reason: reason}
	}
}

// header reads version and kind.
func (r *reader) header(kind token.Kind) {
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

// count reads a number of tokens, 1 to token.MaxTokens.
func (r *reader) count(field string) int {
	at := r.offset()
	var n uint16
	switch {
	case r.err != nil:
	case !r.s.ReadUint16(&n):
		r.fail(field, at, "truncated")
	case n < 1 || n > token.MaxTokens:
		r.fail(field, at, fmt.Sprintf("%d tokens, accepted are 1 to %d", n, token.MaxTokens))
	default:
		return int(n)
	}
	return 0
}

// tokenIDs are the ids that an action has named so far.
type tokenIDs map[string]bool

// id reads a token id and refuses one that is in seen: a token is spent once.
func (r *reader) id(path path, seen tokenIDs) token.ID {
	at := r.offset()
	id := token.ID(r.short(path, ".id", 1, token.MaxID))
	if r.err == nil && seen[string(id)] {
		r.fail(path.String()+".id", at, "names a token that an input before names")
	}
	seen[string(id)] = true
	return id
}

// token reads a token, and returns its commitment as a field too.
func (r *reader) token(path path, pointLen int) (token.Token, statement.Field) {
	t := token.Token{Owner: r.short(path, ".owner", 0, token.MaxOwner)}
	at := r.offset()
	if r.err == nil && !r.s.ReadBytes(&t.Commitment, pointLen) {
		r.fail(path.String()+".commitment", at, "truncated")
	}
	t.Commitment = t.Commitment[:len(t.Commitment):len(t.Commitment)]
	return t, statement.Field{Bytes: t.Commitment, Offset: at}
}

// short reads a uint16 length, lo to hi, and that many bytes.
func (r *reader) short(path path, field string, lo, hi int) []byte {
	at := r.offset()
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

// long reads a uint24 length up to most and that many bytes.
func (r *reader) long(field string, most int) []byte {
	at := r.offset()
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
