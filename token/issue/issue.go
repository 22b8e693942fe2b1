// Package issue is the issue of confidential tokens: an action that makes m
// outputs out of nothing, and the proof that all have one type and every value
// is in range. Who may issue is not its business: that is a signature's.
package issue

import (
	"context"
	"io"

	"golang.org/x/crypto/cryptobyte"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/internal/wire"
)

// Action is an issue. Decode makes it verifiable.
type Action struct {
	Outputs  []token.Token
	Metadata []byte // the application's, opaque, bound by the proof
	token.Proven
}

// Output is a token to be made.
type Output = token.Output

// body encodes all but the proof.
func (a *Action) body() ([]byte, error) {
	var b cryptobyte.Builder
	wire.Header(&b, token.Issue)
	return wire.Tail(&b, a.Outputs, a.Metadata)
}

// Encode returns the canonical encoding. The error is an ErrLimit where a field
// is longer than the wire format allows.
func (a *Action) Encode() ([]byte, error) {
	body, err := a.body()
	if err != nil {
		return nil, err
	}
	return wire.Seal(body, a.Proof)
}

// Decode decodes an action: structure, every point and every scalar. The error
// is a *zkbench.DecodeError. The action keeps references into data.
func Decode(pp token.CryptoParams, data []byte) (*Action, error) {
	a, err := Parse(pp.PointLen(), data)
	if err != nil {
		return nil, err
	}
	if err := a.Prepare(pp); err != nil {
		return nil, err
	}
	return a, nil
}

// Parse is Decode without the points and scalars, which Prepare decodes: it costs
// little, whatever data holds. pointLen is the length of a commitment.
func Parse(pointLen int, data []byte) (*Action, error) {
	a := new(Action)
	st := token.Statement{Kind: token.Issue}
	r := wire.NewReader(data)
	r.Header(token.Issue)
	a.Outputs, st.Outputs, a.Metadata = r.Tail(pointLen)
	st.Action = data[:r.Offset()]
	proof := r.Proof()
	if err := r.End(); err != nil {
		return nil, err
	}
	a.Parsed(st, proof)
	return a, nil
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
	w, tokens, err := token.MakeOutputs(ctx, ex, pp, token.Issue, nil, typ, outputs, context, rand)
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
