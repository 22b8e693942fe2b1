package service_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"iter"
	"path/filepath"
	"testing"

	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/internal/pgtest"
	"github.com/zkbench/zkbench/token"
	ledgers "github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/ledger/postgres"
	"github.com/zkbench/zkbench/token/request"
	"github.com/zkbench/zkbench/token/service"
)

// long is a ledger of copies of one record, each under an anchor of its own.
type long struct {
	genesis  ledgers.Genesis
	template ledgers.Record
	records  uint64
}

func (l *long) Genesis() ledgers.Genesis { return l.genesis }

func (l *long) Record(context.Context, []byte) (ledgers.Record, bool, error) {
	return ledgers.Record{}, false, nil
}

// entry is record number seq.
func (l *long) entry(seq uint64) ledgers.Entry {
	e := l.template.Entry
	e.Anchor, e.Request = bytes.Clone(e.Anchor), bytes.Clone(e.Request)
	for _, at := range [][]byte{e.Anchor, e.Request[2:]} { // behind version and length
		binary.BigEndian.PutUint64(at, seq)
	}
	e.Spends, e.Creates = nil, nil
	for i, c := range l.template.Creates {
		id := request.OutputID(e.Anchor, 0, i)
		e.Creates = append(e.Creates, ledgers.Created{ID: id, Token: c.Token})
	}
	return e
}

func (l *long) Log(_ context.Context, from uint64) iter.Seq2[ledgers.Record, error] {
	return func(yield func(ledgers.Record, error) bool) {
		for seq := from; seq <= l.records; seq++ {
			if !yield(ledgers.Record{Seq: seq, Entry: l.entry(seq)}, nil) {
				return
			}
		}
	}
}

// BenchmarkFollow is what a wallet pays for outputs of others: a log of transfers of two tokens to two, in memory, in
// an embedded ledger and in PostgreSQL.
func BenchmarkFollow(b *testing.B) {
	w := newWorld(b, func(p *token.PublicParams) {
		q := must.Get(token.NewPublicParams("BN254", 32, token.Bulletproof))(b)
		p.Bits, p.Systems = q.Bits, q.Systems
	})
	alice := w.party(b, w.pseudonyms(b, "Alice"))
	w.fund(b, alice, 50, 50)
	w.land(b, must.Get(alice.pay.Transfer(b.Context(), paying(alice.address(b), 70)))(b))
	l := &long{genesis: w.genesis, template: w.ledger.log[len(w.ledger.log)-1]}
	const outputs, stored = 2, 10_000
	fill := func(b *testing.B, book ledgers.Store) {
		b.Cleanup(func() { must.Do(b, book.Close()) })
		var batch []ledgers.Entry
		for seq := range uint64(stored) {
			batch = append(batch, l.entry(seq+1))
			if len(batch) == 1000 {
				must.Do(b, book.Apply(b.Context(), batch))
				batch = nil
			}
		}
	}
	b.Logf("a record of %d bytes", len(l.template.Request))
	rate := func(b *testing.B, n int) { b.ReportMetric(float64(n*outputs)/b.Elapsed().Seconds(), "outputs/s") }
	b.Run("memory", func(b *testing.B) {
		l.records = uint64(b.N)
		bob := w.party(b, w.key(b, "bob"))
		b.ResetTimer()
		must.Do(b, bob.Sync(b.Context(), l))
		rate(b, b.N)
	})
	follow := func(b *testing.B, book ledgers.Store) {
		for b.Loop() {
			b.StopTimer()
			bob := w.party(b, w.key(b, "bob"))
			b.StartTimer()
			must.Do(b, bob.Sync(b.Context(), book))
		}
		rate(b, b.N*stored)
	}
	b.Run("bolt", func(b *testing.B) {
		book := must.Get(bolt.Create(filepath.Join(b.TempDir(), "ledger"), w.genesis))(b)
		fill(b, book)
		follow(b, book)
	})
	b.Run("postgres", func(b *testing.B) {
		var server pgtest.Server
		url := server.URL(b)
		b.Cleanup(server.Stop)
		book := must.Get(postgres.Create(b.Context(), url, w.genesis))(b)
		fill(b, book)
		follow(b, book)
	})
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
