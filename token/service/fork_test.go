package service_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	ledgers "github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/service"
	"github.com/zkbench/zkbench/token/validator"
	"github.com/zkbench/zkbench/transcript"
)

// TestWalletOnAFork: on a fork of a ledger the same keys find with new vaults what they owned on the parent, and pay it there. What is
// paid on the fork is not paid on the parent. A fork of the fork does as much.
func TestWalletOnAFork(t *testing.T) {
	for name, keys := range map[string]func(*world, ledgers.Genesis, string) *service.Keys{
		"key": func(w *world, g ledgers.Genesis, name string) *service.Keys {
			return must.Get(service.NewKey(g, key(t, name)))(t)
		},
		"pseudonym": func(w *world, g ledgers.Genesis, name string) *service.Keys {
			scheme := must.Get(identity.NewScheme(w.params.Curve))(t)
			holder := must.Get(scheme.NewHolder(transcript.XOF("zkbench/v1/test", []byte(name))))(t)
			r := must.Get(holder.Request(name, nil))(t)
			certificate := must.Get(scheme.Enrol(name, r, w.authority))(t)
			return must.Get(service.NewPseudonyms(w.params, g, holder, certificate, w.authority.Identity()))(t)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, func(p *token.PublicParams) {
				p.Policy.Administrators = token.Administrators{Identities: [][]byte{key(t, "administrator").Identity()}, Threshold: 1}
			})
			ctx := t.Context()
			alice := w.party(t, keys(w, w.genesis, "Alice"))
			w.fund(t, alice, 100)
			w.update(t, func(p *token.Policy) { p.Limits.Metadata = 5 }) // an update of the parent, which its forks have
			must.Get(w.auditor.Reconcile(ctx, w.ledger, nil))(t)
			must.Do(t, alice.Sync(ctx, w.ledger))
			for generation := range uint64(2) {
				child := w.fork(t)
				bob, again := child.party(t, keys(child, child.genesis, "Bob")), child.party(t, keys(child, child.genesis, "Alice"))
				must.Do(t, again.CheckRecords(child.validator), "validated, the records of the parent as its own")
				must.Do(t, again.Sync(ctx, child.ledger))
				again.has(t, 100-10*generation, "what she had on the parent")
				must.Do(t, bob.Sync(ctx, child.ledger))
				bob.has(t, 10*generation, "what he had on the parent")
				sub := must.Get(again.pay.Transfer(ctx, paying(bob.address(t), 10)))(t)
				must.FailGet(w.submit(t, sent(t, sub)))(t, must.ErrAny, "a payment of the fork, on the parent")
				child.land(t, sub)
				must.Do(t, again.Sync(ctx, child.ledger))
				must.Do(t, bob.Sync(ctx, child.ledger))
				again.has(t, 90-10*generation, "on the fork")
				bob.has(t, 10+10*generation, "on the fork")
				golden.Equal(t, "landed, and no record of the parent a stray", 1, must.Get(child.auditor.Reconcile(ctx, child.ledger, nil))(t))
				findings := must.Get(again.Compare(ctx, child.ledger))(t)
				golden.Equal(t, "findings", 0, len(findings))
				alice.has(t, 100, "on the first ledger")
				must.Fail(t, alice.Sync(ctx, child.ledger), zkbench.ErrParams, "the vault of the parent")
				again.crash(t, child)
				must.Do(t, again.CheckRecords(child.validator))
				must.Do(t, again.Sync(ctx, child.ledger))
				w = child
			}
		})
	}
}

// fork returns a world on a fork of its ledger after the last record.
func (w *world) fork(t testing.TB) *world {
	t.Helper()
	child := *w
	edge := ledgers.NewEdge(w.genesis)
	for _, r := range w.ledger.sealed() {
		edge.Append(&r.Entry, r.Entry.Append(nil))
	}
	version, _ := edge.Policy()
	child.genesis = must.Get(w.genesis.Fork(edge.Last(), version, edge.Root()))(t)
	child.ledger = newMemory(child.genesis)
	child.ledger.log = slices.Clone(w.ledger.log)
	child.ledger.tokens, child.ledger.spent, child.ledger.anchors = maps.Clone(w.ledger.tokens), maps.Clone(w.ledger.spent), maps.Clone(w.ledger.anchors)
	child.dir = t.TempDir()
	child.audited = child.vault(t)
	child.auditor = must.Get(service.NewAuditorService(w.params, smallTables, serial, child.audited, child.audits(t, service.SignAll{})))(t)
	child.validator = must.Get(validator.New(w.params, child.genesis, serial, smallTables, 100))(t)
	must.Do(t, child.validator.Follow(t.Context(), child.ledger))
	must.Get(child.auditor.Reconcile(t.Context(), child.ledger, nil))(t)
	child.wallet = must.Get(service.NewWallet(w.params, child.vault(t), child.key(t, "nobody")))(t)
	child.transfer = must.Get(service.NewTransferService(w.params, "", smallTables, serial, child.wallet))(t)
	return &child
}
