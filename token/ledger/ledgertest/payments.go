package ledgertest

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"golang.org/x/mod/sumdb/tlog"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/ledger"
)

// Payments creates entries for benchmarks, with the sizes of real ones: random 32-byte ids, tokens
// of 100 bytes, and requests of 2 KiB.
type Payments struct {
	rng  *rand.ChaCha8
	left []token.ID // unspent
	next uint64
}

const requestBytes = 2 << 10

// NewPayments returns Payments that depend only on the given seed. If seed is 0, it draws a random
// one.
func NewPayments(seed uint64) *Payments {
	if seed == 0 {
		seed = rand.Uint64()
	}
	var key [32]byte
	binary.BigEndian.PutUint64(key[:], seed)
	return &Payments{rng: rand.NewChaCha8(key)}
}

func (p *Payments) bytes(n int) []byte {
	b := make([]byte, n)
	_, _ = p.rng.Read(b) // never fails
	return b
}

// Entry returns an entry that spends and creates the given numbers of tokens. It spends tokens that
// earlier entries created.
func (p *Payments) Entry(spends, creates int) ledger.Entry {
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

// Batch returns n entries that each spend and create the given numbers of tokens.
func (p *Payments) Batch(n, spends, creates int) []ledger.Entry {
	batch := make([]ledger.Entry, n)
	for i := range batch {
		batch[i] = p.Entry(spends, creates)
	}
	return batch
}

// Fill fills a ledger with unspent tokens: the given number, rounded up to a multiple of 2048. It
// creates the tokens in small batches: each changes no more pages of a file than a batch that a
// benchmark measures. The database bbolt remembers the pages that a batch frees, so larger batches
// would leave it more pages to remember.
func (p *Payments) Fill(b *testing.B, l ledger.Store, tokens int) {
	for n := 0; n < tokens; n += 32 * 64 {
		Apply(b, l, p.Batch(32, 0, 64)...)
	}
}

// BenchmarkApply applies batches of requests with two inputs and two outputs to ledgers of
// different lengths. Each batch is durable before the next begins. BenchmarkApply reports
// ns/request and requests/s, and then calls done, which may measure the resulting ledger.
func BenchmarkApply(b *testing.B, s Stores, done func(b *testing.B, l Verifier)) {
	for _, c := range []struct{ batch, tokens int }{{1, 1 << 14}, {256, 1 << 14}, {256, 1 << 20}} {
		b.Run(fmt.Sprintf("batch=%d/tokens=%d", c.batch, c.tokens), func(b *testing.B) {
			if c.tokens > 1<<16 && testing.Short() {
				b.Skip("makes a ledger of a million tokens")
			}
			l, _ := s.New(b)
			p := NewPayments(1)
			p.Fill(b, l, c.tokens)
			for b.Loop() {
				b.StopTimer()
				batch := p.Batch(c.batch, 2, 2)
				b.StartTimer()
				Apply(b, l, batch...)
			}
			requests := float64(b.N * c.batch)
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/requests, "ns/request")
			b.ReportMetric(requests/b.Elapsed().Seconds(), "requests/s")
			done(b, l)
		})
	}
}

// BenchmarkCallers applies batches of one request from many concurrent callers, which share the
// store's flushes.
func BenchmarkCallers(b *testing.B, s Stores) {
	l, _ := s.New(b)
	b.SetParallelism(64)
	b.RunParallel(func(pb *testing.PB) {
		p := NewPayments(0)
		for pb.Next() {
			if err := l.Apply(context.Background(), []ledger.Entry{p.Entry(0, 2)}); err != nil {
				b.Error(err)
			}
		}
	})
}

// BenchmarkHashes reads 64 nodes of the tree, more than a proof about 10^6 records needs, from logs with requests of 2
// and of 16 KiB. The nodes' records are spread over the log.
func BenchmarkHashes(b *testing.B, s Stores) {
	const records, nodes = 4096, 64
	for _, bytes := range []int{requestBytes, 16 << 10} {
		b.Run(fmt.Sprintf("request=%d", bytes), func(b *testing.B) {
			l, _ := s.New(b)
			p := NewPayments(1)
			for range records / 256 {
				batch := p.Batch(256, 0, 2)
				for i := range batch {
					batch[i].Request = p.bytes(bytes)
				}
				Apply(b, l, batch...)
			}
			var indexes []int64
			for i := range int64(nodes) {
				indexes = append(indexes, tlog.StoredHashIndex(0, (i+1)*records/nodes))
			}
			for b.Loop() {
				if _, err := l.Hashes(b.Context(), indexes); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
