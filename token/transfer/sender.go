package transfer

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/token"
)

// Owned is a token with its opening: what a sender spends.
type Owned struct {
	Input
	Opening token.Opening
}

// Output is a token to be made.
type Output = token.Output

// Sender transfers a set of tokens.
type Sender struct {
	pp       token.CryptoParams
	ex       executor.Executor
	inputs   []Input
	openings []token.Opening
}

// NewSender checks that every opening opens its token, that all have one type
// and that no id repeats; otherwise the error is an ErrParams that names the
// input.
func NewSender(ctx context.Context, ex executor.Executor, pp token.CryptoParams, owned []Owned) (*Sender, error) {
	s := &Sender{pp: pp, ex: ex, inputs: make([]Input, len(owned)), openings: make([]token.Opening, len(owned))}
	ids := make(map[string]bool, len(owned))
	for i := range owned {
		s.inputs[i], s.openings[i] = owned[i].Input, owned[i].Opening
		if ids[string(owned[i].ID)] {
			return nil, fmt.Errorf("%w: input %d: names a token that an input before names", zkbench.ErrParams, i)
		}
		ids[string(owned[i].ID)] = true
		if s.openings[i].Type != s.openings[0].Type {
			return nil, fmt.Errorf("%w: input %d: type differs from that of input 0", zkbench.ErrParams, i)
		}
	}
	commitments, err := pp.Commit(ctx, ex, s.openings)
	if err != nil {
		return nil, err
	}
	for i := range commitments {
		if !bytes.Equal(commitments[i], s.inputs[i].Token.Commitment) {
			return nil, fmt.Errorf("%w: input %d: opening does not open the token", zkbench.ErrParams, i)
		}
	}
	return s, nil
}

// Draft is a transfer that lacks its proof.
type Draft struct {
	Action    Action
	Statement token.Statement
	Witness   token.Witness
}

// Draft makes the outputs: it draws 32 bytes from rand (nil: the parameters'
// source), derives their blindings and commits to them. Context is what the
// proof will be bound to, metadata the application's.
func (s *Sender) Draft(ctx context.Context, outputs []Output, metadata, context []byte, rand io.Reader) (*Draft, error) {
	d := &Draft{Action: Action{Inputs: s.inputs, Metadata: metadata}}
	if len(s.openings) == 0 {
		return nil, fmt.Errorf("%w: no inputs", zkbench.ErrParams)
	}
	w, tokens, err := token.MakeOutputs(ctx, s.ex, s.pp, token.Transfer, s.openings, s.openings[0].Type, outputs, context, rand)
	if err != nil {
		return nil, err
	}
	d.Witness, d.Action.Outputs = *w, tokens
	body, err := d.Action.body()
	if err != nil {
		return nil, err
	}
	d.Statement = token.Statement{Kind: token.Transfer, Context: context, Action: body, Outputs: token.Commitments(tokens)}
	for i := range s.inputs {
		d.Statement.Inputs = append(d.Statement.Inputs, token.Field{Bytes: s.inputs[i].Token.Commitment})
	}
	return d, nil
}

// Transfer makes the outputs and proves the transfer. It returns the action and
// the openings of its outputs, for their receivers. The action has not been
// decoded, so it cannot be verified itself: verify its encoding.
func (s *Sender) Transfer(ctx context.Context, outputs []Output, metadata, context []byte, rand io.Reader) (*Action, []token.Opening, error) {
	d, err := s.Draft(ctx, outputs, metadata, context, rand)
	if err != nil {
		return nil, nil, err
	}
	if d.Action.Proof, err = s.pp.Prove(ctx, s.ex, &d.Statement, &d.Witness); err != nil {
		return nil, nil, err
	}
	return &d.Action, d.Witness.Outputs, nil
}
