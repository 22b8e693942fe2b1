package bolt

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"testing"

	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/token/ledger"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
)

// issue fills a ledger with unspent tokens, in batches that change no more pages
// than the measured ones: bbolt keeps the free pages that a batch leaves in mind.
func issue(b *testing.B, l *Ledger, p *ledgertest.Payments, tokens int) {
	for n := 0; n < tokens; n += 32 * 64 {
		apply(b, l, p.Batch(32, 0, 64)...)
	}
}

// heap is the bytes alive; what bbolt has in a sync.Pool goes in the second
// collection.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkApply: batches of two-in/two-out requests, each durable before the
// next, on ledgers of different lengths. ns/request and requests/s are what to
// look at; heap-B is what the open ledger holds between batches.
func BenchmarkApply(b *testing.B) {
	for _, c := range []struct{ batch, tokens int }{{1, 1 << 14}, {256, 1 << 14}, {256, 1 << 20}} {
		b.Run(fmt.Sprintf("batch=%d/tokens=%d", c.batch, c.tokens), func(b *testing.B) {
			if c.tokens > 1<<16 && testing.Short() {
				b.Skip("makes a ledger of a million tokens")
			}
			l, _ := newLedger(b)
			p := ledgertest.NewPayments(1)
			issue(b, l, p, c.tokens)
			for b.Loop() {
				b.StopTimer()
				batch := p.Batch(c.batch, 2, 2)
				b.StartTimer()
				apply(b, l, batch...)
			}
			requests := float64(b.N * c.batch)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/requests, "ns/request")
			b.ReportMetric(requests/b.Elapsed().Seconds(), "requests/s")
			open := heap()
			must.Do(b, l.Close())
			b.ReportMetric(float64(open)-float64(heap()), "heap-B")
		})
	}
}

// BenchmarkVerify and BenchmarkOpen: per request, and per page of the file, on
// a ledger of 10^6 tokens.
func BenchmarkVerify(b *testing.B) {
	l, path := newLedger(b)
	p := ledgertest.NewPayments(1)
	issue(b, l, p, 1<<20)
	for range 40 {
		apply(b, l, p.Batch(256, 2, 2)...)
	}
	b.Run("verify", func(b *testing.B) {
		for b.Loop() {
			verify(b, l)
		}
	})
	must.Do(b, l.Close())
	info := must.Get(os.Stat(path))(b)
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			l := must.Get(Open(path))(b)
			must.Do(b, l.Close())
		}
		b.ReportMetric(float64(info.Size()), "file-B")
	})
}

// BenchmarkCallers: many callers with one request each share their flushes.
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
