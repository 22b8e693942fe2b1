package bolt

import (
	"context"
	"errors"

	"go.etcd.io/bbolt"

	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/store"
)

// Apply implements ledger.Ledger.
func (l *Ledger) Apply(ctx context.Context, batch []ledger.Entry) error {
	return l.queue.Apply(ctx, batch)
}

// ApplyEach implements ledger.Ledger.
func (l *Ledger) ApplyEach(ctx context.Context, batch []ledger.Entry) ([]error, error) {
	return l.queue.ApplyEach(ctx, batch)
}

// Tail returns the last batch that was applied, zero on an empty ledger.
func (l *Ledger) Tail(ctx context.Context) (tail store.Batch, err error) {
	err = l.view(func(tx *bbolt.Tx) (err error) {
		tail, err = tablesOf(tx).Tail(ctx)
		return err
	})
	return tail, err
}

// errNothing ends a transaction in which nothing is to be written.
var errNothing = errors.New("nothing to write")

// apply decides on the calls and commits them in one transaction. A flush cannot be
// called back, so it does not look at their contexts. Rejections are the calls'; an
// error is a reason to write nothing more. The caller is the writer.
func (l *Ledger) apply(calls []*store.Call) error {
	var g *store.Group
	err := l.file.Write(func(tx *bbolt.Tx) error {
		t := tablesOf(tx)
		g = store.NewGroup(t, l.tail)
		for _, c := range calls {
			if err := g.Decide(c); err != nil {
				return err
			}
		}
		if len(g.Batches) == 0 {
			return errNothing
		}
		return t.write(g)
	})
	switch {
	case err == nil:
		l.tail = g.Tail()
	case !errors.Is(err, errNothing):
		l.file.Stop(err)
		return withName(err)
	}
	return nil
}
