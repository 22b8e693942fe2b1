package action

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
)

// View looks up tokens of the ledger, so that a verifier can compare an action's inputs with them. LookUp and
// NothingLookedUp return views. Verifiers refuse the zero View.
type View struct {
	find    func(ctx context.Context, id token.ID) (token.Token, error)
	nothing bool
}

// LookUp returns a view that calls find. The function find must return the unspent token that the ledger has
// under the given id. If there is none, it must return ErrSpent or ErrPolicy, so that the action is refused.
// Any other error means that the ledger could not answer.
func LookUp(find func(ctx context.Context, id token.ID) (token.Token, error)) View {
	return View{find: find}
}

// NothingLookedUp returns a view that does not look inputs up. Verification then shows only that the action's
// own proof is good. With such a view anybody can invent a token of any value and spend it, or spend one
// token under two ids. Use it only for measurements, or if you compare the inputs with the ledger yourself,
// as package validator does.
func NothingLookedUp() View { return View{nothing: true} }

// compare compares the inputs of actions with the ledger's tokens. It returns a *zkbench.CheckError for each
// input that the ledger does not have.
func (v View) compare(ctx context.Context, items []Item) (refused []error, err error) {
	switch {
	case v.nothing:
		return nil, nil
	case v.find == nil:
		return nil, fmt.Errorf("%w: no view of the ledger, accepted are those of LookUp and NothingLookedUp", zkbench.ErrParams)
	}
	seen := make(map[string]bool)
	for i, item := range items {
		for j, in := range item.Action.inputs {
			err := v.input(ctx, &in, seen)
			switch {
			case err == nil:
				continue
			case !errors.Is(err, zkbench.ErrSpent) && !errors.Is(err, zkbench.ErrPolicy): // the error says nothing about the action
				return nil, fmt.Errorf("ledger: %w", err)
			}
			refused = append(refused, &zkbench.CheckError{Check: "inputs", Action: i, Index: j, Err: err})
		}
	}
	return refused, nil
}

// input looks up an input, unless its id is in seen, and adds the id to seen.
func (v View) input(ctx context.Context, in *Input, seen map[string]bool) error {
	if seen[string(in.ID)] {
		return fmt.Errorf("%w: by an earlier action in the batch", zkbench.ErrSpent)
	}
	seen[string(in.ID)] = true
	stored, err := v.find(ctx, in.ID)
	if err != nil {
		return err
	}
	if len(stored.Owner) == 0 {
		return fmt.Errorf("%w: the token is redeemed", zkbench.ErrSpent)
	}
	if !bytes.Equal(stored.Commitment, in.Token.Commitment) || !bytes.Equal(stored.Owner, in.Token.Owner) {
		return fmt.Errorf("%w: the ledger has another token under this id", zkbench.ErrPolicy)
	}
	return nil
}
