// Package transfer is the transfer of confidential tokens: an action with n
// inputs and m outputs, and the proof that all have one type, that the outputs
// are worth the inputs, and that every output's value is in range.
//
// An Action is self-contained: it carries its input tokens beside their ids.
// Whoever applies it to a ledger must compare them with what the ledger stores
// under these ids; Verify does not know a ledger.
package transfer

import (
	"context"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/token"
	"golang.org/x/crypto/cryptobyte"
)

// Input is a token that a transfer spends.
type Input struct {
	ID    token.ID
	Token token.Token
}

// Action is a transfer.
type Action struct {
	Inputs   []Input
	Outputs  []token.Token // an empty owner redeems
	Metadata []byte        // the application's, opaque, bound by the proof
	Proof    []byte

	claim token.Claim
}

// body encodes all but the proof: version, kind, inputs, outputs, metadata.
func (a *Action) body() ([]byte, error) {
	for _, l := range []struct {
		what     string
		got, max int
	}{{"inputs", len(a.Inputs), token.MaxTokens}, {"outputs", len(a.Outputs), token.MaxTokens}, {"bytes of metadata", len(a.Metadata), token.MaxMetadata}} {
		if l.got > l.max {
			return nil, &zkbench.LimitError{What: l.what, Estimate: int64(l.got), Max: int64(l.max)}
		}
	}
	var b cryptobyte.Builder
	b.AddUint8(token.Version)
	b.AddUint8(uint8(token.Transfer))
	b.AddUint16(uint16(len(a.Inputs)))
	for i := range a.Inputs {
		in := &a.Inputs[i]
		if n := len(in.ID); n < 1 || n > token.MaxID {
			return nil, &zkbench.LimitError{What: "bytes of token id", Estimate: int64(n), Max: token.MaxID}
		}
		b.AddUint16LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(in.ID) })
		if err := token.AppendToken(&b, &in.Token); err != nil {
			return nil, err
		}
	}
	b.AddUint16(uint16(len(a.Outputs)))
	for i := range a.Outputs {
		if err := token.AppendToken(&b, &a.Outputs[i]); err != nil {
			return nil, err
		}
	}
	b.AddUint24LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(a.Metadata) })
	return b.Bytes()
}

// Encode returns the canonical encoding. The error is an ErrLimit where a field
// is longer than the wire format allows.
func (a *Action) Encode() ([]byte, error) {
	body, err := a.body()
	if err != nil {
		return nil, err
	}
	b := cryptobyte.NewBuilder(body)
	b.AddUint24LengthPrefixed(func(b *cryptobyte.Builder) { b.AddBytes(a.Proof) })
	return b.Bytes()
}

// Decode decodes an action: structure, every point and every scalar. The error
// is a *zkbench.DecodeError. The action keeps references into data.
func Decode(pp token.CryptoParams, data []byte) (*Action, error) {
	a := new(Action)
	r := token.NewReader(data)
	r.Header(token.Transfer)
	st := token.Statement{Kind: token.Transfer}
	n := r.Count("inputs", 1)
	a.Inputs, st.Inputs = make([]Input, n), make([]token.Field, n)
	for i := range a.Inputs {
		in := &a.Inputs[i]
		path := token.Path{Field: "inputs", Index: i}
		in.ID = r.ID(path)
		in.Token, st.Inputs[i] = r.Token(path, pp.PointLen())
	}
	m := r.Count("outputs", 1)
	a.Outputs, st.Outputs = make([]token.Token, m), make([]token.Field, m)
	for j := range a.Outputs {
		a.Outputs[j], st.Outputs[j] = r.Token(token.Path{Field: "outputs", Index: j}, pp.PointLen())
	}
	a.Metadata = r.Long("metadata", token.MaxMetadata)
	st.Action = data[:r.Offset()]
	proof := r.Proof()
	if err := r.End(); err != nil {
		return nil, err
	}
	a.Proof = proof.Bytes
	var err error
	a.claim, err = pp.Decode(&st, proof)
	return a, err
}

// Verify verifies a decoded action in its context, for example the
// transaction's anchor. The error is an ErrProof.
func (a *Action) Verify(ctx context.Context, ex executor.Executor, pp token.CryptoParams, context []byte) error {
	return VerifyBatch(ctx, ex, pp, []Item{{a, context}})
}

// Item is an action with the context to verify it in.
type Item struct {
	Action  *Action // decoded
	Context []byte
}

// VerifyBatch verifies decoded actions in one multi-scalar multiplication. Every
// action that does not hold is named by a *zkbench.CheckError with its index.
func VerifyBatch(ctx context.Context, ex executor.Executor, pp token.CryptoParams, items []Item) error {
	claims := make([]token.Claim, len(items))
	for i, item := range items {
		if item.Action.claim == nil {
			return token.ErrNotDecoded
		}
		claims[i] = item.Action.claim.WithContext(item.Context)
	}
	return pp.Verify(ctx, ex, claims...)
}
