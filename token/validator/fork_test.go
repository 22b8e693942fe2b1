package validator_test

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	ledgers "github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/ledger/replay"
	"github.com/zkbench/zkbench/token/validator"
)

// TestFork: what is signed for a ledger does not land on its fork, nor the other way round. Both have spent nothing of the
// other's, their requests up to the fork are answered and verified as the parent's, and policies go on.
func TestFork(t *testing.T) {
	t.Parallel()
	g := newGoverned(t)
	silent := func(uint64, uint64) {}
	raw, openings := g.issue("a", 100)
	landed := g.land(raw, openings...)
	first, fresh := g.v.Policy(), signerNamed(t, "another issuer")
	update := g.update(first, newIssuer(fresh), "anna", "ben")
	g.land(update)
	g.issuer = fresh
	mid, _ := g.issue("mid", 7)
	must.Do(t, g.landed(g.v, mid).Err)
	pay := g.pays("pay", landed.Creates[0].ID, 100)
	next := g.update(g.v.Policy(), func(p *token.Policy) { p.Limits.Metadata = 5 }, "anna", "ben")

	path := filepath.Join(t.TempDir(), replay.FileName)
	genesis := must.Get(replay.Fork(t.Context(), g.l, path, 3, silent))(t)
	f := *g
	system := *g.system
	f.system = &system
	f.id = genesis.ID()
	f.l = must.Get(bolt.Open(path))(t)
	defer f.l.Close()
	golden.Equal(t, "genesis", genesis, f.l.Genesis())
	of, _ := genesis.Parent()
	golden.Equal(t, "parent", g.l.Genesis(), of)
	f.v = must.Get(validator.New(g.params, genesis, executor.Serial(), smallTables, 100))(t)
	must.Do(t, f.v.Follow(t.Context(), f.l))
	golden.Equal(t, "policy", 1, f.v.Policy().Version)

	want(t, "the parent's payment, on the fork", f.landed(f.v, pay).Err, validator.Owners, 0, 0, zkbench.ErrSignature)
	if err := f.landed(f.v, next).Err; !errors.Is(err, zkbench.ErrPolicy) {
		t.Errorf("the parent's update, on the fork: %v", err)
	}
	for i, raw := range [][]byte{raw, update, mid} {
		v := f.landed(f.v, raw)
		must.Do(t, v.Err)
		golden.Equal(t, fmt.Sprint("record of request ", i+1), uint64(i+1), v.Record.Seq)
	}
	own := f.pays("pay", landed.Creates[0].ID, 100)
	want(t, "the fork's payment, on the parent", g.landed(g.v, own).Err, validator.Owners, 0, 0, zkbench.ErrSignature)
	must.Do(t, f.landed(f.v, own).Err)
	must.Do(t, g.landed(g.v, pay).Err)
	must.Do(t, f.landed(f.v, f.update(f.v.Policy(), func(p *token.Policy) { p.Limits.Metadata = 6 }, "anna", "carl")).Err)
	more, _ := f.issue("more", 3)
	must.Do(t, f.landed(f.v, more).Err)
	report := must.Get(replay.Verify(t.Context(), f.l, g.params, silent))(t)
	golden.Equal(t, "requests", 6, report.Edge.Last())
	version, _ := report.Edge.Policy()
	golden.Equal(t, "policy", 2, version)
	parent := g.l.Genesis().ID()
	golden.Contains(t, report.String(), fmt.Sprintf("ledger %x, a fork of %x after request 3", genesis.ID(), parent))

	// A payment that is signed for the parent, in the fork's log.
	again := filepath.Join(t.TempDir(), replay.FileName)
	must.Get(replay.Fork(t.Context(), g.l, again, 3, silent))(t)
	l := must.Get(bolt.Open(again))(t)
	defer l.Close()
	records := ledgertest.Records(t, g.l, 4)
	must.Do(t, l.Apply(t.Context(), []ledgers.Entry{records[0].Entry}))
	ledgertest.Verify(t, l)
	_, err := replay.Verify(t.Context(), l, g.params, silent)
	ledgertest.Corrupt(t, err, "request 4", "the parent's payment, in the fork's log")
}
