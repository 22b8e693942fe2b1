// Package transfer is the transfer of confidential tokens: an action with n
// inputs and m outputs, and the proof that all have one type, that the outputs
// are worth the inputs, and that every output's value is in range.
//
// An Action is self-contained: it carries its input tokens beside their ids.
// Whoever applies it to a ledger must compare them with what the ledger stores
// under these ids; Verify does not know a ledger.
package transfer

import (
	"golang.org/x/crypto/cryptobyte"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/internal/wire"
)

// Input is a token that a transfer spends.
type Input struct {
	ID    token.ID
	Token token.Token
}

// Action is a transfer. Decode makes it verifiable.
type Action struct {
	Inputs   []Input
	Outputs  []token.Token // an empty owner redeems
	Metadata []byte        // the application's, opaque, bound by the proof
	token.Proven
}

// body encodes all but the proof.
func (a *Action) body() ([]byte, error) {
	var b cryptobyte.Builder
	wire.Header(&b, token.Transfer)
	if err := wire.Count(&b, "inputs", len(a.Inputs)); err != nil {
		return nil, err
	}
	for i := range a.Inputs {
		if err := wire.ID(&b, a.Inputs[i].ID); err != nil {
			return nil, err
		}
		if err := wire.Token(&b, &a.Inputs[i].Token); err != nil {
			return nil, err
		}
	}
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

// Decode decodes an action: structure, every point and every scalar. Two inputs
// with one id are refused: the proof is about a list of inputs, and would count
// the token twice. The error is a *zkbench.DecodeError. The action keeps
// references into data, and Verify speaks of what was decoded: changes to the
// fields after Decode do not reach it.
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
	st := token.Statement{Kind: token.Transfer}
	r := wire.NewReader(data)
	r.Header(token.Transfer)
	n := r.Count("inputs", 1)
	a.Inputs, st.Inputs = make([]Input, n), make([]token.Field, n)
	seen := make(wire.IDs, n)
	for i := range a.Inputs {
		path := wire.Path{Field: "inputs", Index: i}
		a.Inputs[i].ID = r.ID(path, seen)
		a.Inputs[i].Token, st.Inputs[i] = r.Token(path, pointLen)
	}
	a.Outputs, st.Outputs, a.Metadata = r.Tail(pointLen)
	st.Action = data[:r.Offset()]
	proof := r.Proof()
	if err := r.End(); err != nil {
		return nil, err
	}
	a.Parsed(st, proof)
	return a, nil
}
