package action

import (
	"bytes"
	"context"
	"errors"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
)

// View is what a verifier sees of the ledger: LookUp makes one, and NothingLookedUp. The zero value is none, and is
// refused.
type View struct {
	find    func(ctx context.Context, id token.ID) (token.Token, error)
	nothing bool
}

// LookUp returns a view that asks find for the unspent token that the ledger has under an id. If there is none, find returns
// a zkbench.ErrSpent or zkbench.ErrPolicy. Another error says nothing about the action.
func LookUp(find func(ctx context.Context, id token.ID) (token.Token, error)) View {
	return View{find: find}
}

// NothingLookedUp returns the view of a verifier that looks no input up. An action then says only what its own proof
// says: anybody makes a token up, of any value, and spends it; or spends one token under two ids. It is for callers that
// compare the inputs with the ledger themselves, as package validator does, and for measurements.
func NothingLookedUp() View { return View{nothing: true} }

// compare compares the inputs of actions with the ledger's tokens. It returns a *zkbench.CheckError for each input that the
// ledger does not have.
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
			case !errors.Is(err, zkbench.ErrSpent) && !errors.Is(err, zkbench.ErrPolicy): // which says nothing about the action
				return nil, fmt.Errorf("ledger: %w", err)
			}
			refused = append(refused, &zkbench.CheckError{Check: "inputs", Action: i, Index: j, Err: err})
		}
	}
	return refused, nil
}

// input looks an input up whose id is none of those seen.
func (v View) input(ctx context.Context, in *Input, seen map[string]bool) error {
	if seen[string(in.ID)] {
		return fmt.Errorf("%w: by an action before in the batch", zkbench.ErrSpent)
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
