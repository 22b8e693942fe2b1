package postgres

import (
	"testing"

	"github.com/zkbench/zkbench/token/ledger/ledgertest"
)

func BenchmarkApply(b *testing.B) {
	ledgertest.BenchmarkApply(b, schemas, func(*testing.B, ledgertest.Verifier) {})
}

func BenchmarkCallers(b *testing.B) { ledgertest.BenchmarkCallers(b, schemas) }

// BenchmarkVerify: a ledger of 8,192 requests.
func BenchmarkVerify(b *testing.B) {
	l, _ := newLedger(b)
	p := ledgertest.NewPayments(1)
	ledgertest.Apply(b, l, p.Batch(32, 0, 64)...)
	for range 32 {
		ledgertest.Apply(b, l, p.Batch(256, 2, 2)...)
	}
	for b.Loop() {
		ledgertest.Verify(b, l)
	}
}

func BenchmarkHashes(b *testing.B) { ledgertest.BenchmarkHashes(b, schemas) }
