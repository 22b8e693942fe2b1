package wallet

import (
	"context"
	"fmt"
	"iter"
	"sync/atomic"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/cli/keyfile"
	"github.com/zkbench/zkbench/token/ledger"
)

// Through makes a payer submit through another submitter.
func (r *Payer) Through(wrap func(ledger.Submitter) ledger.Submitter) { r.submit = wrap(r.submit) }

// Cut makes reading the log fail for a payer while cut is true.
func (r *Payer) Cut(cut *atomic.Bool) { r.ledger = cutLedger{r.ledger, cut} }

type cutLedger struct {
	Ledger
	cut *atomic.Bool
}

// Log implements ledger.Reader.
func (l cutLedger) Log(ctx context.Context, from uint64) iter.Seq2[ledger.Record, error] {
	if !l.cut.Load() {
		return l.Ledger.Log(ctx, from)
	}
	return func(yield func(ledger.Record, error) bool) {
		yield(ledger.Record{}, fmt.Errorf("%w: cut", zkbench.ErrEnv))
	}
}

// Age makes what the ledger has told of a payment older.
func (s *Account) Age(anchor []byte, by time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t := s.told[string(anchor)]
	t.at = t.at.Add(-by)
	s.told[string(anchor)] = t
}

// Dir returns the directory of a purse.
func (p *Purse) Dir() string { return p.dir }

// Keys returns the keys of a purse.
func (p *Purse) Keys() *keyfile.Keys { return p.keys }
