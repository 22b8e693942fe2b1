package postgres

import (
	"context"
	"fmt"
	"testing"

	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
)

// BenchmarkApply: batches of two-in/two-out requests, each durable before the
// next, on ledgers of different lengths, as bolt's.
func BenchmarkApply(b *testing.B) {
	for _, c := range []struct{ batch, tokens int }{{1, 1 << 14}, {256, 1 << 14}, {256, 1 << 20}} {
		b.Run(fmt.Sprintf("batch=%d/tokens=%d", c.batch, c.tokens), func(b *testing.B) {
			if c.tokens > 1<<16 && testing.Short() {
				b.Skip("makes a ledger of a million tokens")
			}
			l, _ := newLedger(b)
			p := ledgertest.NewPayments(1)
			for n := 0; n < c.tokens; n += 32 * 64 {
				apply(b, l, p.Batch(32, 0, 64)...)
			}
			for b.Loop() {
				b.StopTimer()
				batch := p.Batch(c.batch, 2, 2)
				b.StartTimer()
				apply(b, l, batch...)
			}
			requests := float64(b.N * c.batch)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/requests, "ns/request")
			b.ReportMetric(requests/b.Elapsed().Seconds(), "requests/s")
		})
	}
}

// BenchmarkCallers: many callers with one request each share their transactions.
func BenchmarkCallers(b *testing.B) {
	l, _ := newLedger(b)
	b.SetParallelism(64)
	b.RunParallel(func(pb *testing.PB) {
		p := ledgertest.NewPayments(0)
		for pb.Next() {
			if err := l.Apply(context.Background(), []ledger.Entry{p.Entry(0, 2)}); err != nil {
				b.Error(err)
			}
		}
	})
}

// BenchmarkVerify: a ledger of 8,192 requests.
func BenchmarkVerify(b *testing.B) {
	l, _ := newLedger(b)
	p := ledgertest.NewPayments(1)
	apply(b, l, p.Batch(32, 0, 64)...)
	for range 32 {
		apply(b, l, p.Batch(256, 2, 2)...)
	}
	for b.Loop() {
		verify(b, l)
	}
}
