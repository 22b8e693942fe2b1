package action

import (
	"fmt"
	"slices"

	"golang.org/x/crypto/cryptobyte"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/internal/statement"
	"github.com/zkbench/zkbench/token/internal/wire"
)

// The wire format, integers big-endian:
//
//	action   = version(1) kind(1) inputs outputs metadata proof; an issue has no inputs
//	inputs   = uint16 count, count times id and token
//	outputs  = uint16 count, count times token and note
//	id       = uint16 length, bytes
//	token    = uint16 length, owner, commitment (fixed length)
//	note     = uint16 length, bytes
//	metadata = uint24 length, bytes
//	proof    = uint24 length, bytes

// maxProof bounds a proof's length before anything is known about it.
const maxProof = 1 << 20

// body encodes everything except the proof. It returns ErrLimit if a part is too long.
func (a *Action) body() ([]byte, error) {
	var b wire.Builder
	if b.Bound("notes", len(a.Notes), len(a.Outputs), len(a.Outputs)); b.Err() != nil {
		return nil, b.Err()
	}
	write := func(t *token.Token) {
		b.Bound("bytes of owner", len(t.Owner), 0, token.MaxOwner)
		b.Short(t.Owner)
		b.AddBytes(t.Commitment)
	}
	b.AddUint8(token.Version)
	b.AddUint8(uint8(a.Kind()))
	if len(a.Inputs) > 0 {
		b.Bound("inputs", len(a.Inputs), 1, token.MaxTokens)
		b.AddUint16(uint16(len(a.Inputs)))
		for i := range a.Inputs {
			b.Bound("bytes of token id", len(a.Inputs[i].ID), 1, token.MaxID)
			b.Short(a.Inputs[i].ID)
			write(&a.Inputs[i].Token)
		}
	}
	b.Bound("outputs", len(a.Outputs), 1, token.MaxTokens)
	b.AddUint16(uint16(len(a.Outputs)))
	for j := range a.Outputs {
		write(&a.Outputs[j])
		b.Bound("bytes of note", len(a.Notes[j]), 0, token.MaxNote)
		b.Short(a.Notes[j])
	}
	b.Bound("bytes of metadata", len(a.Metadata), 0, token.MaxMetadata)
	b.AddUint24LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(a.Metadata) })
	if err := b.Err(); err != nil {
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

// Parse parses an action like Decode, but leaves the points and scalars of the action undecoded; Receive
// decodes them. Parse is cheap, even if data is malicious. The parameter pointLen is the length in bytes of a
// commitment. The action refers to data, which the caller must not change.
func Parse(pointLen int, kind token.Kind, data []byte) (*Action, error) {
	a := new(Action)
	if err := a.parse(pointLen, kind, data); err != nil {
		return nil, err
	}
	return a, nil
}

// parse fills in an empty action.
func (a *Action) parse(pointLen int, kind token.Kind, data []byte) error {
	f, st := wire.NewFields(data, "action", len(data)), &a.statement
	decodeHeader(f, kind)
	if kind == token.Transfer {
		n := f.Number("inputs", 2, 1, token.MaxTokens)
		a.Inputs, st.Inputs = make([]Input, n), make([]statement.Field, n)
		seen := make(map[string]bool, n)
		for i := range a.Inputs {
			f.Item("inputs", i)
			a.Inputs[i].ID = decodeID(f, seen)
			a.Inputs[i].Token, st.Inputs[i] = decodeToken(f, pointLen)
		}
		f.EndItems()
		a.inputs = slices.Clone(a.Inputs)
	}
	m := f.Number("outputs", 2, 1, token.MaxTokens)
	a.Outputs, a.Notes, st.Outputs = make([]token.Token, m), make([][]byte, m), make([]statement.Field, m)
	for j := range a.Outputs {
		f.Item("outputs", j)
		a.Outputs[j], st.Outputs[j] = decodeToken(f, pointLen)
		a.Notes[j] = f.Block(".note", 2, 0, token.MaxNote)
	}
	f.EndItems()
	a.Metadata = f.Block("metadata", 3, 0, token.MaxMetadata)
	st.Action = data[:f.Offset()]
	a.proof.Bytes = f.Block("proof", 3, 0, maxProof)
	a.proof.Offset = f.Offset() - len(a.proof.Bytes)
	return f.End("action")
}

// decodeHeader reads version and kind.
func decodeHeader(f *wire.Fields, kind token.Kind) {
	header := f.Bytes("header", 2)
	switch {
	case !f.OK():
	case header[0] != token.Version:
		f.Fail("version", 0, fmt.Sprintf("version %d, only %d is known", header[0], token.Version))
	case token.Kind(header[1]) != kind:
		f.Fail("kind", 1, fmt.Sprintf("kind %d, want %d (%s)", header[1], kind, kind))
	}
}

// decodeID reads a token id. It refuses an id in seen, because a token is spent once in an action, and adds the
// id to seen.
func decodeID(f *wire.Fields, seen map[string]bool) token.ID {
	at := f.Offset()
	id := token.ID(f.Block(".id", 2, 1, token.MaxID))
	if seen[string(id)] {
		f.Fail(".id", at, "names the same token as an earlier input")
	}
	seen[string(id)] = true
	return id
}

// decodeToken reads a token. It returns the commitment as a field too.
func decodeToken(f *wire.Fields, pointLen int) (token.Token, statement.Field) {
	t := token.Token{Owner: f.Block(".owner", 2, 0, token.MaxOwner)}
	at := f.Offset()
	t.Commitment = f.Bytes(".commitment", pointLen)
	return t, statement.Field{Bytes: t.Commitment, Offset: at}
}
