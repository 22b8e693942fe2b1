// Package issue is the issue of confidential tokens: an action that makes m
// outputs out of nothing, and the proof that all have one type and every value
// is in range. Who may issue is not its business: that is a signature's.
package issue

import (
	"context"
	"io"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/token"
	"golang.org/x/crypto/cryptobyte"
)

// Action is an issue.
type Action struct {
	Outputs  []token.Token
	Metadata []byte // the application's, opaque, bound by the proof
	Proof    []byte

	claim token.Claim
}

// Output is a token to be made.
type Output struct {
	Owner []byte
	Value uint64
}

// body encodes all but the proof: version, kind, outputs, metadata.
func (a *Action) body() ([]byte, error) {
	if n := len(a.Outputs); n > token.MaxTokens {
		return nil, &zkbench.LimitError{What: "outputs", Estimate: int64(n), Max: token.MaxTokens}
	}
	if n := len(a.Metadata); n > token.MaxMetadata {
		return nil, &zkbench.LimitError{What: "bytes of metadata", Estimate: int64(n), Max: token.MaxMetadata}
	}
	var b cryptobyte.Builder
	b.AddUint8(token.Version)
	b.AddUint8(uint8(token.Issue))
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
	r.Header(token.Issue)
	st := token.Statement{Kind: token.Issue}
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

// Draft is an issue that lacks its proof.
type Draft struct {
	Action    Action
	Statement token.Statement
	Witness   token.Witness
}

// NewDraft makes the outputs, all of type typ: it draws 32 bytes from rand (nil:
// the parameters' source), derives their blindings and commits to them.
func NewDraft(ctx context.Context, ex executor.Executor, pp token.CryptoParams, typ string, outputs []Output, metadata, context []byte, rand io.Reader) (*Draft, error) {
	values, owners := make([]uint64, len(outputs)), make([][]byte, len(outputs))
	for j, o := range outputs {
		values[j], owners[j] = o.Value, o.Owner
	}
	w, tokens, err := token.MakeOutputs(ctx, ex, pp, token.Issue, nil, typ, values, owners, context, rand)
	if err != nil {
		return nil, err
	}
	d := &Draft{Action: Action{Outputs: tokens, Metadata: metadata}, Witness: *w}
	body, err := d.Action.body()
	if err != nil {
		return nil, err
	}
	d.Statement = token.Statement{Kind: token.Issue, Context: context, Action: body, Outputs: token.Commitments(tokens)}
	return d, nil
}

// Issue makes and proves an issue. It returns the action and the openings of its
// outputs, for their receivers. The action has not been decoded, so it cannot be
// verified itself: verify its encoding.
func Issue(ctx context.Context, ex executor.Executor, pp token.CryptoParams, typ string, outputs []Output, metadata, context []byte, rand io.Reader) (*Action, []token.Opening, error) {
	d, err := NewDraft(ctx, ex, pp, typ, outputs, metadata, context, rand)
	if err != nil {
		return nil, nil, err
	}
	if d.Action.Proof, err = pp.Prove(ctx, ex, &d.Statement, &d.Witness); err != nil {
		return nil, nil, err
	}
	return &d.Action, d.Witness.Outputs, nil
}

// Verify verifies a decoded action in its context. The error is an ErrProof.
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
