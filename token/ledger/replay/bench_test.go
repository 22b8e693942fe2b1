package replay_test

import (
	"path/filepath"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/bolt"
	"github.com/zkbench/zkbench/token/ledger/head"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
	"github.com/zkbench/zkbench/token/ledger/replay"
)

// BenchmarkFollow makes a Follower's copy of 100,000 requests with two inputs and two outputs, of which a trusted head
// covers all.
func BenchmarkFollow(b *testing.B) {
	params := must.Get(token.NewPublicParams("BN254", 8, token.CSP))(b)
	genesis := ledgertest.Genesis(b, params)
	l := must.Get(bolt.Create(filepath.Join(b.TempDir(), "ledger.db"), genesis))(b)
	defer l.Close()
	payments := ledgertest.NewPayments(1)
	fill := func(spends, creates int) {
		batch := payments.Batch(ledger.MaxBatch, spends, creates)
		for i := range batch {
			batch[i].PolicyDigest = genesis.Policy
		}
		ledgertest.Apply(b, l, batch...)
	}
	fill(0, 2)
	for range 100_000 / ledger.MaxBatch {
		fill(2, 2)
	}
	s := must.Get(l.State(b.Context()))(b)
	trusted := head.Head{Ledger: genesis.ID(), Size: s.Last + 1, Root: s.Root}
	for b.Loop() {
		f := must.Get(replay.Follow(b.Context(), l, params, trusted, filepath.Join(b.TempDir(), "copy"), nil))(b)
		must.Do(b, f.Close())
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(s.Last), "ns/request")
}
