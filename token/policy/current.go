package policy

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
)

// Current is the policy of a ledger, as far as its holder has followed it. It is safe for concurrent use: whoever has
// loaded a policy judges under it to the end, whatever is adopted meanwhile.
type Current struct {
	genesis ledger.Genesis
	adopt   func(p *token.Policy) error
	mu      sync.Mutex // of who follows
	at      atomic.Pointer[token.Policy]
}

// NewCurrent begins with the policy of the parameters. adopt (nil: nothing) is called with every policy before it is current,
// that one too, and keeps it from being so with an error.
func NewCurrent(genesis ledger.Genesis, first *token.Policy, adopt func(p *token.Policy) error) (*Current, error) {
	if err := Check(first); err != nil {
		return nil, err
	}
	c := &Current{genesis: genesis, adopt: adopt}
	return c, c.set(first.Clone())
}

func (c *Current) set(p *token.Policy) error {
	if c.adopt != nil {
		if err := c.adopt(p); err != nil {
			return err
		}
	}
	c.at.Store(p)
	return nil
}

// Load returns the policy, which the caller must not change.
func (c *Current) Load() *token.Policy { return c.at.Load() }

// Follow adopts every update that the source has beyond the current policy, as far as they hold. The error is Next's.
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
