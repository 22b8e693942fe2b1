package bolt

import (
	"os"
	"runtime"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/token/ledger/ledgertest"
)

// heap returns the number of live bytes. It collects twice, because what bbolt keeps in a sync.Pool is
// freed by the second collection.
func heap() uint64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}

// BenchmarkApply: heap-B is what the open ledger holds between batches.
func BenchmarkApply(b *testing.B) {
	ledgertest.BenchmarkApply(b, files, func(b *testing.B, l ledgertest.Verifier) {
		open := heap()
		must.Do(b, l.Close())
		b.ReportMetric(float64(open)-float64(heap()), "heap-B")
	})
}

// BenchmarkVerify and BenchmarkOpen: per request, and per page of the file, on
// a ledger of 10^6 tokens.
func BenchmarkVerify(b *testing.B) {
	l, path := newLedger(b)
	p := ledgertest.NewPayments(1)
	p.Fill(b, l, 1<<20)
	for range 40 {
		ledgertest.Apply(b, l, p.Batch(256, 2, 2)...)
	}
	b.Run("verify", func(b *testing.B) {
		for b.Loop() {
			ledgertest.Verify(b, l)
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

func BenchmarkCallers(b *testing.B) { ledgertest.BenchmarkCallers(b, files) }

func BenchmarkHashes(b *testing.B) { ledgertest.BenchmarkHashes(b, files) }
