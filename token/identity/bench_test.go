package identity

import (
	"context"
	"fmt"
	"testing"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// benchSchemes runs f for every kind of signer.
func benchSchemes(b *testing.B, f func(b *testing.B, set *Set, signer func(i int) Signer)) {
	run := func(name string, s Scheme, signer func(i int) Signer) {
		b.Run("scheme="+name, func(b *testing.B) {
			f(b, must.Get(NewSet(128, s))(b), signer)
		})
	}
	one := x509Signer(b)
	run("x509", nil, func(int) Signer { return one })
	run("ed25519", nil, func(i int) Signer { return ed25519TestSigner(b, fmt.Sprint(i)) })
	for _, curve := range []string{"BN254", "BLS12_381_BBS_GURVY"} {
		s := must.Get(NewScheme(curve))(b)
		run("pseudonym-"+curve, s, func(i int) Signer { return newPseudonym(b, s, fmt.Sprint(i)) })
	}
}

func BenchmarkSign(b *testing.B) {
	benchSchemes(b, func(b *testing.B, _ *Set, signer func(int) Signer) {
		s := signer(0)
		message := make([]byte, 64)
		b.ReportAllocs()
		for b.Loop() {
			must.Get(s.Sign(message, nil))(b)
		}
	})
}

// BenchmarkVerify: one signature, its identity parsed by a set (certificates and
// keys from its cache, pseudonyms each time).
func BenchmarkVerify(b *testing.B) {
	benchSchemes(b, func(b *testing.B, set *Set, signer func(int) Signer) {
		s := signer(0)
		message := make([]byte, 64)
		id, signature := s.Identity(), must.Get(s.Sign(message, nil))(b)
		b.ReportAllocs()
		for b.Loop() {
			must.Do(b, verifyOne(set, id, message, signature))
		}
	})
}

// BenchmarkBatch: 64 signatures by 64 signers (X.509: by one), ns/signature.
func BenchmarkBatch(b *testing.B) {
	const n = 64
	benchSchemes(b, func(b *testing.B, set *Set, signer func(int) Signer) {
		batch := NewBatch(set)
		message := make([]byte, 64)
		for i := range n {
			s := signer(i)
			batch.Add(Signed{s.Identity(), message, must.Get(s.Sign(message, nil))(b)})
		}
		b.ReportAllocs()
		for b.Loop() {
			must.Do(b, batch.Verify(context.Background(), executor.Serial()))
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/signature")
	})
}

// BenchmarkAudit: proving and checking that a pseudonym is a certificate's.
func BenchmarkAudit(b *testing.B) {
	s := testBN()
	e := enrol(b, s, "bench")
	proof := must.Get(e.pseudonym.AuditProof(e.certificate, nil, nil))(b)
	b.Run("prove", func(b *testing.B) {
		for b.Loop() {
			must.Get(e.pseudonym.AuditProof(e.certificate, nil, nil))(b)
		}
	})
	b.Run("check", func(b *testing.B) {
		for b.Loop() {
			must.Do(b, s.CheckAudit(e.pseudonym.Identity(), e.certificate, nil, proof))
		}
	})
}
