package policy

import (
	"bytes"
	"context"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
)

// Source finds the records of a ledger by their anchors. A ledger.Reader does.
type Source interface {
	Record(ctx context.Context, anchor []byte) (ledger.Record, bool, error)
}

// Next returns the policy that follows the current one on a ledger, nil if none does yet. It does not trust the source: the error is a
// *zkbench.CheckError or a *zkbench.DecodeError if the record is of another anchor, is no update of the current policy, or holds one
// that does not verify. An update among the records that a fork has of its parent was made for the parent; which these are, the source is
// believed by the number of the record.
func Next(ctx context.Context, source Source, genesis ledger.Genesis, current *token.Policy) (*token.Policy, error) {
	anchor := Anchor(current.Version + 1)
	record, found, err := source.Record(ctx, anchor)
	if err != nil || !found {
		return nil, err
	}
	if !bytes.Equal(record.Anchor, anchor) || !record.Update || record.Policy != current.Version {
		return nil, failed(Versions, -1, fmt.Errorf("%w: not recorded as the update of policy %d", zkbench.ErrPolicy, current.Version))
	}
	u, err := Decode(record.Request)
	if err != nil {
		return nil, err
	}
	if err := u.Verify(genesis.ForRecord(record.Seq).ID(), current); err != nil {
		return nil, err
	}
	return &u.Policy, nil
}

// Follow returns the newest policy of a ledger that is at the end of verified updates from the current one: current itself,
// where there is none. The error is Next's, and comes with the policy so far.
func Follow(ctx context.Context, source Source, genesis ledger.Genesis, current *token.Policy) (*token.Policy, error) {
	for {
		next, err := Next(ctx, source, genesis, current)
		if err != nil || next == nil {
			return current, err
		}
		current = next
	}
}
