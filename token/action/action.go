// Package action is the action on confidential tokens: it spends n tokens, makes m,
// and proves that all have one type, that the outputs are worth the inputs, and that
// every output's value is in range. An action of one input and one output has no range
// proof: the output's value is the input's, and in range if that is. With inputs an action
// is a transfer; without, an issue, which claims nothing about sums. Who may issue is a
// signature's business.
//
// There are three forms of it. A Draft can be proved, and gives bytes. Bytes can be
// sent, and are decoded. What is Received can be verified.
//
// An action carries its input tokens beside their ids. The proof is about these tokens,
// and not about the ledger's: Verify takes a View of the ledger, and compares them with what
// the ledger has under these ids.
package action

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/internal/statement"
)

// Input is a token that a transfer spends.
type Input struct {
	ID    token.ID
	Token token.Token
}

// Action is what an encoded action says. Whether it is true, a Received can tell.
type Action struct {
	Inputs   []Input       // none: an issue
	Outputs  []token.Token // an empty owner redeems
	Notes    [][]byte      // one for each output, for its owner (package note); opaque, may be empty, bound by the proof
	Metadata []byte        // the application's, opaque, bound by the proof

	statement statement.Statement
	proof     statement.Field
	inputs    []Input // as parsed
}

// Kind is the kind of the action.
func (a *Action) Kind() token.Kind {
	if len(a.Inputs) == 0 {
		return token.Issue
	}
	return token.Transfer
}

// Proof is the proof of an action that Parse has returned.
func (a *Action) Proof() []byte { return a.proof.Bytes }

// Encode returns the canonical encoding with a proof. The error is an ErrLimit.
func (a *Action) Encode(proof []byte) ([]byte, error) {
	body, err := a.body()
	if err != nil {
		return nil, err
	}
	return seal(body, proof)
}

// Received is an action whose points and scalars have been decoded, so that it can be
// verified. Verify speaks of what was decoded: other values of the fields, and of Action itself, do not reach it.
type Received struct {
	Action
	pp     token.CryptoParams
	claim  statement.Claim
	inputs []Input // as parsed: what the claim is about
}

// Receive decodes the points and scalars of an action: square roots, the expensive
// part of decoding. It keeps the action's slices. The error is a *zkbench.DecodeError, or an ErrParams for an
// action that Parse has not returned.
func Receive(pp token.CryptoParams, a *Action) (*Received, error) {
	if a == nil {
		return nil, fmt.Errorf("%w: no action, accepted are those that Parse returns", zkbench.ErrParams)
	}
	claim, err := pp.Decode(&a.statement, a.proof)
	if err != nil {
		return nil, err
	}
	return &Received{*a, pp, claim, a.inputs}, nil
}

// Decode decodes an action of the given kind: structure, every point and every scalar.
// Two inputs with one id are refused: the proof is about a list of inputs, and would
// count the token twice. The error is a *zkbench.DecodeError. The action keeps nothing of
// data.
func Decode(pp token.CryptoParams, kind token.Kind, data []byte) (*Received, error) {
	a, err := Parse(pp.PointLen(), kind, bytes.Clone(data))
	if err != nil {
		return nil, err
	}
	return Receive(pp, a)
}

// Verify verifies the action at an anchor, and that its inputs are tokens of the ledger. The error is VerifyBatch's.
//
// Who may do what the action does is not looked at: that the owners of its inputs have signed, or the issuer of an
// issue; and that the anchor is a new one: the same action verifies again. Package validator checks all of it.
func (r *Received) Verify(ctx context.Context, ex executor.Executor, view View, anchor token.Anchor) error {
	if r == nil {
		return fmt.Errorf("%w: no action, accepted are those that Decode returns", zkbench.ErrParams)
	}
	return VerifyBatch(ctx, ex, r.pp, view, []Item{{r, anchor}})
}

// Item is an action with the anchor to verify it at.
type Item struct {
	Action *Received
	Anchor token.Anchor
}

// VerifyBatch verifies actions, of any kinds: their inputs by the view, their proofs in one
// multi-scalar multiplication. Every action that does not hold is named by a
// *zkbench.CheckError with its index, which wraps an ErrProof, or of an input an ErrSpent or
// ErrPolicy; the errors are joined. Where two actions spend one token the second is refused,
// whether the first holds or not.
//
// A view that fails gives its error, without a *zkbench.CheckError. An empty batch, an item without
// an anchor, without an action or with one that Decode has not returned, and the zero View are an ErrParams.
func VerifyBatch(ctx context.Context, ex executor.Executor, pp token.CryptoParams, view View, items []Item) error {
	if len(items) == 0 {
		return fmt.Errorf("%w: no actions to verify, accepted are 1 or more", zkbench.ErrParams)
	}
	claims := make([]statement.Claim, len(items))
	for i, item := range items {
		if item.Action == nil || item.Action.claim == nil {
			return fmt.Errorf("%w: item %d: no action, accepted are those that Decode returns", zkbench.ErrParams, i)
		}
		if item.Anchor == "" {
			return fmt.Errorf("%w: item %d: no anchor, accepted are 1 to %d bytes", zkbench.ErrParams, i, token.MaxBound)
		}
		claims[i] = item.Action.claim.WithAnchor([]byte(item.Anchor))
	}
	refused, err := view.compare(ctx, items)
	if err != nil {
		return err
	}
	if err := pp.Verify(ctx, ex, claims...); err != nil {
		bad, named := zkbench.CheckErrors(err)
		if !named {
			return err
		}
		for _, e := range bad {
			refused = append(refused, e)
		}
	}
	return errors.Join(refused...)
}
