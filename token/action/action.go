// Package action makes and verifies actions on confidential tokens. An action spends n tokens and makes m. Its
// proof shows that all these tokens have one type, that the values of the outputs add up to those of the
// inputs, and that every output's value is in range. An action with one input and one output has no range
// proof: the output's value equals the input's, so it is in range if the input's is.
//
// An action with inputs is a transfer. An action without inputs is an issue, whose proof shows nothing about
// sums. Package request adds the signatures, which show whether the maker of the action may issue these
// tokens.
//
// An action has three forms. A Draft is an action without its proof; Prove proves it and returns bytes that can
// be sent. An Action is parsed from these bytes. A Received is an action whose points and scalars are decoded
// too, so that it can be verified.
//
// An action contains its input tokens and their ids. The proof is about the tokens in the action. It does not
// show that the ledger has these tokens under these ids. So Verify takes a View of the ledger, and compares the
// tokens in the action with those on the ledger.
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

// Input is a token that a transfer spends, with the token's id.
type Input struct {
	ID    token.ID
	Token token.Token
}

// Action is an action that Parse returned, or an action whose fields the caller has set in order to encode the
// action. Its proof is not checked; Received.Verify checks it.
type Action struct {
	Inputs   []Input       // none if the action is an issue
	Outputs  []token.Token // an output with an empty owner is redeemed
	Notes    [][]byte      // one for each output: its opening, encrypted for its owner (package note); opaque, may be empty; the proof is bound to it
	Metadata []byte        // opaque data of the application; the proof is bound to it

	statement statement.Statement
	proof     statement.Field
	inputs    []Input // as parsed
}

// Kind returns token.Issue if the action has no inputs, else token.Transfer.
func (a *Action) Kind() token.Kind {
	if len(a.Inputs) == 0 {
		return token.Issue
	}
	return token.Transfer
}

// Proof returns the proof of an action that Parse returned.
func (a *Action) Proof() []byte { return a.proof.Bytes }

// Encode returns the canonical encoding of the action and the given proof. It returns ErrLimit if a part is
// too long.
func (a *Action) Encode(proof []byte) ([]byte, error) {
	body, err := a.body()
	if err != nil {
		return nil, err
	}
	return seal(body, proof)
}

// Received is an action whose points and scalars have been decoded, so that it can be verified. Verify checks
// what was decoded, so later changes of the exported fields have no effect on Verify.
type Received struct {
	Action
	pp     token.CryptoParams
	claim  statement.Claim
	inputs []Input // as parsed: what the claim is about
}

// Receive decodes the points and scalars of an action. Decoding a point takes a square root, which is
// expensive. The result refers to the action's slices. Receive returns a *zkbench.DecodeError if a point or
// scalar is bad, or ErrParams if the action does not come from Parse.
func Receive(pp token.CryptoParams, a *Action) (*Received, error) {
	if a == nil {
		return nil, fmt.Errorf("%w: no action, accepted are those that Parse returns", zkbench.ErrParams)
	}
	claim, err := proofs(pp).Decode(&a.statement, a.proof)
	if err != nil {
		return nil, err
	}
	return &Received{*a, pp, claim, a.inputs}, nil
}

// proofs returns the methods with which parameters prove and verify.
func proofs(pp token.CryptoParams) statement.ProofSystem[token.Opening] {
	return pp.(statement.ProofSystem[token.Opening]) // package token says that all are
}

// Decode decodes an encoded action of the given kind, with every point and every scalar. It refuses an action
// in which two inputs have the same id, because the proof is about a list of inputs and would count that token
// twice. The result does not refer to data. Errors have type *zkbench.DecodeError.
func Decode(pp token.CryptoParams, kind token.Kind, data []byte) (*Received, error) {
	a, err := Parse(pp.PointLen(), kind, bytes.Clone(data))
	if err != nil {
		return nil, err
	}
	return Receive(pp, a)
}

// Verify verifies the action's proof, which must be bound to the given anchor, and checks that the action's
// inputs are tokens of the ledger. Errors are as for VerifyBatch.
//
// Verify does not check authorization: that the owners of a transfer's inputs, or the issuer of an issue, have
// signed. Verify does not check that the anchor is new either: the same action verifies a second time. Package
// validator checks both.
func (r *Received) Verify(ctx context.Context, ex executor.Executor, view View, anchor token.Anchor) error {
	if r == nil {
		return fmt.Errorf("%w: no action, accepted are those that Decode returns", zkbench.ErrParams)
	}
	return VerifyBatch(ctx, ex, r.pp, view, []Item{{r, anchor}})
}

// Item is an action and the anchor to which its proof must be bound.
type Item struct {
	Action *Received
	Anchor token.Anchor
}

// VerifyBatch verifies actions of any kinds. It checks their inputs with the view, and their proofs in one
// multi-scalar multiplication. If an action does not verify, the error contains a *zkbench.CheckError whose
// Action is the action's index in items. The CheckError wraps ErrProof, or ErrSpent or ErrPolicy if an input is
// bad. The errors of several actions are joined. If two actions spend the same token, the second is refused,
// whether or not the first verifies.
//
// If the view fails, VerifyBatch returns the view's error, without a *zkbench.CheckError. It returns
// ErrParams if there are no items, if view is the zero View, or if an item has no anchor. It also returns
// ErrParams if an item's action is missing or does not come from Decode or Receive.
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
	if err := proofs(pp).Verify(ctx, ex, claims...); err != nil {
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
