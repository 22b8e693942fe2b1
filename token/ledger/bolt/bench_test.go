package bolt

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"runtime"
	"testing"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
)

// payments makes two-in/two-out requests of the sizes of real ones: 32-byte
// ids, tokens of 100 bytes, requests of 2 KiB. Ids are as random as hashes.
type payments struct {
	rng  *rand.ChaCha8
	left []token.ID // unspent
	next uint64
}

const requestBytes = 2 << 10

func (p *payments) bytes(n int) []byte {
	b := make([]byte, n)
	_, _ = p.rng.Read(b) // never fails
	return b
}

func (p *payments) entry(spends, creates int) ledger.Entry {
	p.next++
	e := ledger.Entry{Anchor: p.bytes(32), Request: p.bytes(requestBytes)}
	binary.BigEndian.PutUint64(e.Digest[:], p.next)
	for range spends {
		i := int(p.rng.Uint64() % uint64(len(p.left)))
		last := len(p.left) - 1
		e.Spends = append(e.Spends, p.left[i])
		p.left[i], p.left = p.left[last], p.left[:last]
	}
	for range creates {
		c := ledger.Created{ID: p.bytes(32), Token: p.bytes(100)}
		e.Creates = append(e.Creates, c)
		p.left = append(p.left, c.ID)
	}
	return e
}

func (p *payments) batch(n, spends, creates int) []ledger.Entry {
	batch := make([]ledger.Entry, n)
	for i := range batch {
		batch[i] = p.entry(spends, creates)
	}
	return batch
}

// issue fills a ledger with unspent tokens, in batches that change no more pages
// than the measured ones: bbolt keeps the free pages that a batch leaves in mind.
func (p *payments) issue(b *testing.B, l *Ledger, tokens int) {
	for n := 0; n < tokens; n += 32 * 64 {
		apply(b, l, p.batch(32, 0, 64)...)
	}
}

func newPayments() *payments { return &payments{rng: rand.NewChaCha8([32]byte{1})} }

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
			p := newPayments()
			p.issue(b, l, c.tokens)
			for b.Loop() {
				b.StopTimer()
				batch := p.batch(c.batch, 2, 2)
				b.StartTimer()
				apply(b, l, batch...)
			}
			requests := float64(b.N * c.batch)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/requests, "ns/request")
			b.ReportMetric(requests/b.Elapsed().Seconds(), "requests/s")
			open := heap()
			if err := l.Close(); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(open)-float64(heap()), "heap-B")
		})
	}
}

// BenchmarkVerify and BenchmarkOpen: per request, and per page of the file, on
// a ledger of 10^6 tokens.
func BenchmarkVerify(b *testing.B) {
	l, path := newLedger(b)
	p := newPayments()
	p.issue(b, l, 1<<20)
	for range 40 {
		apply(b, l, p.batch(256, 2, 2)...)
	}
	b.Run("verify", func(b *testing.B) {
		for b.Loop() {
			verify(b, l)
		}
	})
	if err := l.Close(); err != nil {
		b.Fatal(err)
	}
	info, err := os.Stat(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Run("open", func(b *testing.B) {
		for b.Loop() {
			l, err := Open(path)
			if err != nil {
				b.Fatal(err)
			}
			if err := l.Close(); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(info.Size()), "file-B")
	})
}

// BenchmarkCallers: many callers with one request each share their flushes.
func BenchmarkCallers(b *testing.B) {
	l, _ := newLedger(b)
	b.SetParallelism(64)
	b.RunParallel(func(pb *testing.PB) {
		p := &payments{rng: rand.NewChaCha8([32]byte{byte(rand.Uint64()), byte(rand.Uint64()), byte(rand.Uint64())})}
		for pb.Next() {
			if err := l.Apply(context.Background(), []ledger.Entry{p.entry(0, 2)}); err != nil {
				b.Error(err)
			}
		}
	})
}
