package policy

import (
	"context"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
)

// Source finds the records of a ledger by their anchors. A ledger.Ledger does.
type Source interface {
	Record(ctx context.Context, anchor []byte) (ledger.Record, bool, error)
}

// Next returns the policy that follows the current one on a ledger, nil where none does yet. Whoever keeps the source is
// not trusted with it: an update that does not hold is a *zkbench.CheckError, or a *zkbench.DecodeError.
func Next(ctx context.Context, source Source, id token.LedgerID, current *token.Policy) (*token.Policy, error) {
	record, found, err := source.Record(ctx, Anchor(current.Version+1))
	if err != nil || !found {
		return nil, err
	}
	u, err := Decode(record.Request)
	if err != nil {
		return nil, err
	}
	if err := u.Verify(id, current); err != nil {
		return nil, err
	}
	if !record.Update || record.Policy != current.Version {
		return nil, failed(Versions, -1, fmt.Errorf("%w: recorded as no update of policy %d", zkbench.ErrPolicy, current.Version))
	}
	return &u.Policy, nil
}

// Follow returns the newest policy of a ledger that is at the end of verified updates from the current one: current itself,
// where there is none. The error is Next's, and comes with the policy so far.
func Follow(ctx context.Context, source Source, id token.LedgerID, current *token.Policy) (*token.Policy, error) {
	for {
		next, err := Next(ctx, source, id, current)
		if err != nil || next == nil {
			return current, err
		}
		current = next
	}
}
