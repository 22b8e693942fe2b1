// Package action is the action on confidential tokens: it spends n tokens, makes m,
// and proves that all have one type, that the outputs are worth the inputs, and that
// every output's value is in range. With inputs it is a transfer; without, an issue,
// which claims nothing about sums. Who may issue is a signature's business.
//
// There are three forms of it. A Draft can be proved, and gives bytes. Bytes can be
// sent, and are decoded. What is Received can be verified.
//
// An action carries its input tokens beside their ids. Whoever applies it to a ledger
// must compare them with what the ledger stores under these ids: Verify knows no ledger.
package action

import (
	"context"
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
// verified. Verify speaks of what was decoded: changes to the fields do not reach it.
type Received struct {
	Action
	pp    token.CryptoParams
	claim statement.Claim
}

// Receive decodes the points and scalars of an action: square roots, the expensive
// part of decoding. The error is a *zkbench.DecodeError, or an ErrParams for an
// action that Parse has not returned.
func Receive(pp token.CryptoParams, a *Action) (*Received, error) {
	claim, err := pp.Decode(&a.statement, a.proof)
	if err != nil {
		return nil, err
	}
	return &Received{*a, pp, claim}, nil
}

// Decode decodes an action of the given kind: structure, every point and every scalar.
// Two inputs with one id are refused: the proof is about a list of inputs, and would
// count the token twice. The error is a *zkbench.DecodeError. The action keeps
// references into data.
func Decode(pp token.CryptoParams, kind token.Kind, data []byte) (*Received, error) {
	r := &Received{pp: pp}
	err := r.parse(pp.PointLen(), kind, data)
	if err != nil {
		return nil, err
	}
	if r.claim, err = pp.Decode(&r.statement, r.proof); err != nil {
		return nil, err
	}
	return r, nil
}

// Verify verifies the action at an anchor. The error is an ErrProof.
func (r *Received) Verify(ctx context.Context, ex executor.Executor, anchor token.Anchor) error {
	return VerifyBatch(ctx, ex, r.pp, []Item{{r, anchor}})
}

// Item is an action with the anchor to verify it at.
type Item struct {
	Action *Received
	Anchor token.Anchor
}

// VerifyBatch verifies actions, of any kinds, in one multi-scalar multiplication.
// Every action that does not hold is named by a *zkbench.CheckError with its index;
// the errors are joined. An empty batch holds: there is nothing in it that does not.
// An item without an action, or with one that Decode has not returned, is an
// ErrParams.
func VerifyBatch(ctx context.Context, ex executor.Executor, pp token.CryptoParams, items []Item) error {
	claims := make([]statement.Claim, len(items))
	for i, item := range items {
		if item.Action == nil || item.Action.claim == nil {
			return fmt.Errorf("%w: item %d: no action, accepted are those that Decode returns", zkbench.ErrParams, i)
		}
		claims[i] = item.Action.claim.WithAnchor([]byte(item.Anchor))
	}
	if len(items) == 0 {
		return nil
	}
	return pp.Verify(ctx, ex, claims...)
}
