package action

import (
	"bytes"
	"context"
	"fmt"
	"io"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/internal/statement"
	"github.com/zkbench/zkbench/transcript"
)

// Owned is a token that a sender can spend, with the token's opening.
type Owned struct {
	Input
	Opening token.Opening
}

// Output describes a token that an action makes.
type Output struct {
	Owner []byte // if it is empty, the output is redeemed
	Value uint64
	// Note encrypts the opening for the owner. If it is nil, the action has no ciphertext for this output.
	// Note is called once. The Note functions of several outputs are called concurrently.
	Note func(token.Opening) ([]byte, error)
}

// Spec describes an action: its outputs, and what else it contains.
type Spec struct {
	Outputs  []Output
	Metadata []byte       // opaque, public data of the application; the proof is bound to it
	Anchor   token.Anchor // what the proof is bound to, 1 byte or more
	// Rand is the source of the 32 bytes from which blindings and nonces are derived. If it is nil, NewIssue
	// and Transfer use the source of the parameters (CryptoParams.Rand).
	Rand io.Reader
	// Key is a long-term secret of the action's maker, or empty. It enters the derivation too, so that
	// blindings and nonces stay unknown to anyone who can predict Rand.
	Key []byte
}

// Draft is an action without its proof.
type Draft struct {
	Outputs  []token.Token   // the tokens that the action will make
	Openings []token.Opening // the outputs' openings, for their receivers: secret

	pp        token.CryptoParams
	ex        executor.Executor
	statement statement.Statement
	witness   statement.Witness[token.Opening]
}

// NewIssue drafts an issue: it creates outputs of type typ without spending anything. It draws a random seed
// for the action, derives the outputs' blindings from the seed, and commits to the outputs. It returns
// ErrParams if typ or the anchor is empty, if there are no outputs, or if a value is 2^bits or more, where
// bits is the bit length of the parameters. It returns ErrLimit if a part is too long.
func NewIssue(ctx context.Context, ex executor.Executor, pp token.CryptoParams, typ string, spec Spec) (*Draft, error) {
	return newDraft(ctx, &Sender{pp: pp, ex: ex, typ: typ}, &spec)
}

// Sender drafts transfers that spend a given set of tokens.
type Sender struct {
	pp       token.CryptoParams
	ex       executor.Executor
	typ      string
	inputs   []Input
	openings []token.Opening
}

// NewSender returns a Sender of 1 to token.MaxTokens tokens. It returns ErrParams if there are fewer or more.
// If an opening does not open its token, if types differ, or if an id repeats, it returns an ErrParams that
// names the input.
func NewSender(ctx context.Context, ex executor.Executor, pp token.CryptoParams, owned []Owned) (*Sender, error) {
	if n := len(owned); n < 1 || n > token.MaxTokens {
		return nil, fmt.Errorf("%w: %d inputs, accepted are 1 to %d", zkbench.ErrParams, n, token.MaxTokens)
	}
	s := &Sender{pp: pp, ex: ex, typ: owned[0].Opening.Type, inputs: make([]Input, len(owned)), openings: make([]token.Opening, len(owned))}
	ids := make(map[string]bool, len(owned))
	for i := range owned {
		s.inputs[i], s.openings[i] = owned[i].Input, owned[i].Opening
		if ids[string(owned[i].ID)] {
			return nil, fmt.Errorf("%w: input %d: names the same token as an earlier input", zkbench.ErrParams, i)
		}
		ids[string(owned[i].ID)] = true
		if s.openings[i].Type != s.typ {
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

// Transfer drafts a transfer that spends all tokens of the sender and makes the outputs in spec. Like
// NewIssue, it derives the blindings from a random seed. It returns the errors of NewIssue, and ErrParams
// if the values of the outputs do not add up to those of the tokens.
func (s *Sender) Transfer(ctx context.Context, spec Spec) (*Draft, error) {
	return newDraft(ctx, s, &spec)
}

// newDraft implements NewIssue if the sender has no inputs, else Sender.Transfer.
func newDraft(ctx context.Context, s *Sender, spec *Spec) (*Draft, error) {
	d := &Draft{
		Outputs: make([]token.Token, len(spec.Outputs)), Openings: make([]token.Opening, len(spec.Outputs)), pp: s.pp, ex: s.ex,
		statement: statement.Statement{Anchor: []byte(spec.Anchor)},
	}
	for j, o := range spec.Outputs {
		d.Openings[j] = token.Opening{Type: s.typ, Value: o.Value}
	}
	d.witness = statement.Witness[token.Opening]{Inputs: s.openings, Outputs: d.Openings}
	var err error
	if d.witness.Seed, err = spec.seed(s.pp); err != nil {
		return nil, err
	}
	if err := proofs(s.pp).Blind(&d.witness, d.statement.Anchor); err != nil {
		return nil, err
	}
	commitments, err := s.pp.Commit(ctx, s.ex, d.Openings)
	if err != nil {
		return nil, err
	}
	for j := range commitments {
		d.Outputs[j] = token.Token{Owner: spec.Outputs[j].Owner, Commitment: commitments[j]}
		d.statement.Outputs = append(d.statement.Outputs, statement.Field{Bytes: commitments[j]})
	}
	for i := range s.inputs {
		d.statement.Inputs = append(d.statement.Inputs, statement.Field{Bytes: s.inputs[i].Token.Commitment})
	}
	a := Action{Inputs: s.inputs, Outputs: d.Outputs, Notes: make([][]byte, len(d.Outputs)), Metadata: spec.Metadata}
	var sealed []int // outputs with a note
	for j := range spec.Outputs {
		if spec.Outputs[j].Note != nil {
			sealed = append(sealed, j)
		}
	}
	if err := s.ex.Do(ctx, len(sealed), func(_ context.Context, i int) (err error) {
		j := sealed[i]
		a.Notes[j], err = spec.Outputs[j].Note(d.Openings[j])
		return err
	}); err != nil {
		return nil, err
	}
	d.statement.Action, err = a.body()
	return d, err
}

// seed draws the seed of an action.
func (s *Spec) seed(pp token.CryptoParams) (seed [transcript.SeedLen]byte, err error) {
	rand := s.Rand
	if rand == nil {
		rand = pp.Rand()
	}
	if _, err := io.ReadFull(rand, seed[:]); err != nil {
		return seed, fmt.Errorf("drawing the action's seed: %w", err)
	}
	if len(s.Key) > 0 {
		_, _ = transcript.XOF("zkbench/v1/seed", s.Key, seed[:]).Read(seed[:]) // never fails
	}
	return seed, nil
}

// Prove proves the action and returns its canonical encoding, which can be sent.
func (d *Draft) Prove(ctx context.Context) ([]byte, error) {
	proof, err := proofs(d.pp).Prove(ctx, d.ex, &d.statement, &d.witness)
	if err != nil {
		return nil, err
	}
	return seal(d.statement.Action, proof)
}
