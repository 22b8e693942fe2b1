package identity

import (
	"context"
	"fmt"
	"testing"

	"github.com/zkbench/zkbench/executor"
)

// benchSchemes runs f for every kind of signer.
func benchSchemes(b *testing.B, f func(b *testing.B, set *Set, signer func(i int) Signer)) {
	run := func(name string, s Scheme, signer func(i int) Signer) {
		b.Run("scheme="+name, func(b *testing.B) {
			f(b, must[*Set](b)(NewSet(128, s)), signer)
		})
	}
	one := x509Signer(b)
	run("x509", nil, func(int) Signer { return one })
	run("ed25519", nil, func(i int) Signer { return ed25519TestSigner(b, fmt.Sprint(i)) })
	for _, curve := range []string{"BN254", "BLS12_381_BBS_GURVY"} {
		s := must[Scheme](b)(NewScheme(curve))
		run("pseudonym-"+curve, s, func(i int) Signer { return newPseudonym(b, s, fmt.Sprint(i)) })
	}
}

func BenchmarkSign(b *testing.B) {
	benchSchemes(b, func(b *testing.B, _ *Set, signer func(int) Signer) {
		s := signer(0)
		message := make([]byte, 64)
		b.ReportAllocs()
		for b.Loop() {
			if _, err := s.Sign(message, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
}

// BenchmarkVerify: one signature, its identity parsed by a set (certificates and
// keys from its cache, pseudonyms each time).
func BenchmarkVerify(b *testing.B) {
	benchSchemes(b, func(b *testing.B, set *Set, signer func(int) Signer) {
		s := signer(0)
		message := make([]byte, 64)
		id, signature := s.Identity(), must[[]byte](b)(s.Sign(message, nil))
		b.ReportAllocs()
		for b.Loop() {
			if err := verifyOne(set, id, message, signature); err != nil {
				b.Fatal(err)
			}
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
			batch.Add(Signed{s.Identity(), message, must[[]byte](b)(s.Sign(message, nil))})
		}
		b.ReportAllocs()
		for b.Loop() {
			if err := batch.Verify(context.Background(), executor.Serial()); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/signature")
	})
}

// BenchmarkAudit: proving and checking that a pseudonym is a certificate's.
func BenchmarkAudit(b *testing.B) {
	s := testBN()
	e := enrol(b, s, "bench")
	proof := must[[]byte](b)(e.pseudonym.AuditProof(e.certificate, nil, nil))
	b.Run("prove", func(b *testing.B) {
		for b.Loop() {
			if _, err := e.pseudonym.AuditProof(e.certificate, nil, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("check", func(b *testing.B) {
		for b.Loop() {
			if err := s.CheckAudit(e.pseudonym.Identity(), e.certificate, nil, proof); err != nil {
				b.Fatal(err)
			}
		}
	})
}
