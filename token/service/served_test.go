package service_test

import (
	"context"
	"iter"
	"net"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/client"
	ledgers "github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/server"
	"github.com/zkbench/zkbench/token/service"
)

// way is how a participant reaches a ledger.
type way func(w *world, t *testing.T, l service.Ledger) service.Ledger

// ways returns the ways by name.
func ways() map[string]way {
	return map[string]way{
		"here":    func(_ *world, _ *testing.T, l service.Ledger) service.Ledger { return l },
		"network": (*world).served,
	}
}

// stored is a ledger as far as its server needs it for those who follow it.
type stored struct {
	ledgers.Store
	shown service.Ledger
}

func (s stored) Genesis() ledgers.Genesis { return s.shown.Genesis() }

func (s stored) State(context.Context) (ledgers.State, error) { return ledgers.State{}, nil }

func (s stored) Log(ctx context.Context, from uint64) iter.Seq2[ledgers.Record, error] {
	return s.shown.Log(ctx, from)
}

func (s stored) Record(ctx context.Context, anchor []byte) (ledgers.Record, bool, error) {
	return s.shown.Record(ctx, anchor)
}

func (s stored) Hashes(ctx context.Context, indexes []int64) ([]tlog.Hash, error) {
	return s.shown.Hashes(ctx, indexes)
}

func (s stored) Head(ctx context.Context) ([]byte, error) { return s.shown.Head(ctx) }

// Submit implements ledger.Submitter.
func (stored) Submit(context.Context, [][]byte) ([]ledgers.Verdict, error) {
	return nil, zkbench.ErrEnv
}

// served returns a client of a server that shows a ledger.
func (w *world) served(t *testing.T, l service.Ledger) service.Ledger {
	s := stored{shown: l}
	ledger := must.Get(server.NewLedger(server.Ledger{Store: s, Submitter: s, Params: w.params, Policy: func() *token.Policy { return &w.params.Policy }}))(t)
	handler := must.Get(server.New(server.Options{}, ledger))(t)
	listener := must.Get(net.Listen("tcp", "127.0.0.1:0"))(t)
	h := handler.HTTP()
	go h.Serve(listener)
	t.Cleanup(func() {
		handler.Stop()
		must.Do(t, h.Close())
	})
	c := must.Get(client.Dial(t.Context(), "http://"+listener.Addr().String(), client.Options{Patience: -1}))(t)
	t.Cleanup(func() { must.Do(t, c.Close()) })
	return c
}
