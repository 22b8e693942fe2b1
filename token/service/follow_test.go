package service_test

import (
	"context"
	"fmt"
	"iter"
	"math"
	"path/filepath"
	"slices"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/pgtest"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/action"
	"github.com/zkbench/zkbench/token/entry"
	ledgers "github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/ledger/head"
	"github.com/zkbench/zkbench/token/ledger/postgres"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/service"
)

// copies returns entries of a transfer of two tokens to two, each under an anchor of its own, behind those that issue what they spend. No validator would
// take them.
func (w *world) copies(t testing.TB, template ledgers.Record, n int) (issues, transfers []ledgers.Entry) {
	t.Helper()
	made := func(r *request.Request) ledgers.Entry {
		e := must.Get(entry.Parse(w.genesis.ID(), 32, must.Get(r.Encode())(t)))(t).Entry
		e.PolicyDigest = w.genesis.Policy
		return e
	}
	r := must.Get(request.Decode(template.Request))(t)
	moved := must.Get(action.Parse(32, token.Transfer, r.Actions[0].Raw))(t)
	var ids []token.ID
	for len(ids) < 2*n {
		issue := &action.Action{Outputs: slices.Repeat([]token.Token{moved.Inputs[0].Token}, token.MaxTokens), Notes: make([][]byte, token.MaxTokens)}
		one := request.Action{Kind: token.Issue, ProofType: token.Bulletproof, Raw: must.Get(issue.Encode(nil))(t)}
		e := made(&request.Request{Anchor: fmt.Appendf(nil, "issue %26d", len(ids)), Actions: slices.Repeat([]request.Action{one}, 16)})
		for _, c := range e.Creates {
			ids = append(ids, c.ID)
		}
		issues = append(issues, e)
	}
	for i := range n {
		r.Anchor = fmt.Appendf(nil, "transfer %23d", i)
		moved.Inputs[0].ID, moved.Inputs[1].ID = ids[2*i], ids[2*i+1]
		r.Actions[0].Raw = must.Get(moved.Encode(moved.Proof()))(t)
		transfers = append(transfers, made(r))
	}
	return issues, transfers
}

// until is a ledger as it was after so many records, with the head of then.
type until struct {
	service.Ledger
	records uint64
	signed  []byte
}

func (u until) Head(context.Context) ([]byte, error) { return u.signed, nil }

func (u until) Log(ctx context.Context, from uint64) iter.Seq2[ledgers.Record, error] {
	return func(yield func(ledgers.Record, error) bool) {
		for r, err := range u.Ledger.Log(ctx, from) {
			if r.Seq > u.records || !yield(r, err) {
				return
			}
		}
	}
}

// BenchmarkFollow is what a wallet pays for outputs of others: a log of transfers of two tokens to two, in memory, in
// an embedded ledger and in PostgreSQL; and in an embedded ledger with heads, up to which records are proved.
func BenchmarkFollow(b *testing.B) {
	b.Run("heads=no", func(b *testing.B) { benchmarkFollow(b, validators(0), "memory", "bolt", "postgres") })
	b.Run("heads=yes", func(b *testing.B) { benchmarkFollow(b, validators(2, "v1", "v2", "v3"), "bolt") })
}

func benchmarkFollow(b *testing.B, edit func(*token.Policy), stores ...string) {
	w := newWorld(b, func(p *token.PublicParams) {
		q := must.Get(token.NewPublicParams("BN254", 32, token.Bulletproof))(b)
		p.Bits, p.RangeProofs = q.Bits, q.RangeProofs
		edit(&p.Policy)
	})
	w.ledger.signers = []string{"v1", "v2", "v3"}
	alice := w.party(b, w.pseudonyms(b, "Alice"))
	w.fund(b, alice, 50, 50)
	w.land(b, must.Get(alice.pay.Transfer(b.Context(), paying(alice.address(b), 70)))(b))
	const outputs, stored = 2, 10_000
	template := w.ledger.log[len(w.ledger.log)-1]
	issues, transfers := w.copies(b, template, stored)
	b.Logf("a record of %d bytes", len(template.Request))
	follow := func(b *testing.B, book service.Ledger, heads ...[]byte) {
		for b.Loop() {
			b.StopTimer()
			bob := w.party(b, w.key(b, "bob"))
			must.Do(b, bob.Sync(b.Context(), until{book, uint64(len(issues)), heads[0]}))
			b.StartTimer()
			must.Do(b, bob.Sync(b.Context(), until{book, math.MaxUint64, heads[1]}))
		}
		b.ReportMetric(float64(b.N*stored*outputs)/b.Elapsed().Seconds(), "outputs/s")
	}
	fill := func(b *testing.B, book ledgers.Store) {
		b.Cleanup(func() { must.Do(b, book.Close()) })
		var heads [][]byte
		for _, entries := range [][]ledgers.Entry{issues, transfers} {
			for batch := range slices.Chunk(entries, 1000) {
				must.Do(b, book.Apply(b.Context(), batch))
			}
			s := must.Get(book.State(b.Context()))(b)
			heads = append(heads, signedHead(head.Head{Ledger: w.genesis.ID(), Size: s.Last + 1, Root: s.Root}, blockTime, w.ledger.signers...))
		}
		follow(b, book, heads...)
	}
	all := map[string]func(b *testing.B){
		"memory": func(b *testing.B) {
			book := newMemory(w.genesis)
			for i, e := range slices.Concat(issues, transfers) {
				book.log = append(book.log, ledgers.Record{Seq: uint64(i + 1), Entry: e})
			}
			follow(b, book, nil, nil)
		},
		"bolt": func(b *testing.B) {
			fill(b, must.Get(bolt.Create(filepath.Join(b.TempDir(), "ledger"), w.genesis))(b))
		},
		"postgres": func(b *testing.B) {
			var server pgtest.Server
			url := server.URL(b)
			b.Cleanup(server.Stop)
			fill(b, must.Get(postgres.Create(b.Context(), url, w.genesis))(b))
		},
	}
	for _, name := range stores {
		b.Run(name, all[name])
	}
}

// BenchmarkRebuild is what a wallet pays for outputs of its own, when it is made again from the log: of which half were sealed by others and
// half by itself, as change is.
func BenchmarkRebuild(b *testing.B) {
	w := newWorld(b, func(p *token.PublicParams) {
		p.Policy.Limits = token.Limits{Inputs: 4, Outputs: 64, Ahead: token.MaxAhead}
	})
	alice := w.party(b, w.pseudonyms(b, "Alice"))
	const issues, outputs = 16, 64
	for range issues {
		o := service.Order{Type: usd}
		for range outputs {
			o.Payments = append(o.Payments, service.Payment{To: alice.address(b), Value: 2})
		}
		w.land(b, must.Get(w.issuer.Issue(b.Context(), o))(b))
	}
	must.Do(b, alice.Sync(b.Context(), w.ledger))
	for range issues * outputs {
		w.land(b, must.Get(alice.pay.Transfer(b.Context(), paying(service.Address{}, 1)))(b))
	}
	for b.Loop() {
		b.StopTimer()
		alice.lose(b, w)
		b.StartTimer()
		must.Do(b, alice.Sync(b.Context(), w.ledger))
	}
	b.ReportMetric(float64(2*b.N*issues*outputs)/b.Elapsed().Seconds(), "outputs/s")
}
