package policy

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/transcript"
)

// Current holds the current policy of a ledger: the newest one that Follow has found so far. It is safe for
// concurrent use. A caller of Load may keep using that policy while newer ones are adopted.
type Current struct {
	genesis ledger.Genesis
	adopt   func(p *token.Policy) error
	mu      sync.Mutex // held by Follow
	at      atomic.Pointer[adopted]
}

// adopted is a policy that was adopted, with its digest.
type adopted struct {
	*token.Policy
	digest [transcript.StateLen]byte
}

// NewCurrent returns a Current that starts with the given first policy, which must be the policy in the public
// parameters of the ledger. It returns ErrParams if that is not the policy of the genesis. If the function adopt is not nil, NewCurrent and Follow call it with every policy
// before that policy becomes current. This includes the first one. If adopt returns an error, the policy does
// not become current, and the caller gets the error.
func NewCurrent(genesis ledger.Genesis, first *token.Policy, adopt func(p *token.Policy) error) (*Current, error) {
	if err := Check(first); err != nil {
		return nil, err
	}
	c := &Current{genesis: genesis, adopt: adopt}
	if err := c.set(first.Clone()); err != nil {
		return nil, err
	}
	if _, digest := c.LoadDigest(); digest != genesis.Policy {
		return nil, fmt.Errorf("%w: ledger %x begins with another policy", zkbench.ErrParams, genesis.ID())
	}
	return c, nil
}

// set makes p current, unless adopt refuses it.
func (c *Current) set(p *token.Policy) error {
	if c.adopt != nil {
		if err := c.adopt(p); err != nil {
			return err
		}
	}
	digest, err := p.Digest()
	if err != nil {
		return err
	}
	c.at.Store(&adopted{p, digest})
	return nil
}

// Load returns the current policy. The caller must not modify it.
func (c *Current) Load() *token.Policy { return c.at.Load().Policy }

// LoadDigest returns the current policy and its digest. The caller must not modify the policy.
func (c *Current) LoadDigest() (*token.Policy, [transcript.StateLen]byte) {
	at := c.at.Load()
	return at.Policy, at.digest
}

// Follow adopts the updates in source that come after the current policy, one by one. It stops at the first
// update that is not valid and returns the error of the function Next.
func (c *Current) Follow(ctx context.Context, source Source) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		next, err := Next(ctx, source, c.genesis, c.Load())
		if err != nil || next == nil {
			return err
		}
		if err := c.set(next); err != nil {
			return err
		}
	}
}
