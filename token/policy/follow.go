package policy

import (
	"bytes"
	"context"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
)

// Source finds the records of a ledger by their anchors. Every ledger.Reader is a Source.
type Source interface {
	Record(ctx context.Context, anchor []byte) (ledger.Record, bool, error)
}

// Next returns the policy that comes next after the given current policy of a ledger, or nil if there is none
// so far. It does not trust the source. If the record that the source returns has another anchor, is not an
// update of current, or does not verify, Next refuses it. The error is then a *zkbench.CheckError or a
// *zkbench.DecodeError.
//
// If the ledger is a fork, the updates among the records that it shares with its parent were made for the
// parent. The genesis says which they are.
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
	if err := u.Verify(genesis.ForPolicy(current.Version+1).ID(), current); err != nil {
		return nil, err
	}
	return &u.Policy, nil
}

// Follow verifies all updates of a ledger's policy that come after the given current policy, and returns the
// newest policy. If there are no updates, it returns current. If an update fails, Follow returns the newest
// policy before it and the error of Next.
func Follow(ctx context.Context, source Source, genesis ledger.Genesis, current *token.Policy) (*token.Policy, error) {
	for {
		next, err := Next(ctx, source, genesis, current)
		if err != nil || next == nil {
			return current, err
		}
		current = next
	}
}
