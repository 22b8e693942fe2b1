package validator_test

import (
	"fmt"
	"testing"

	"github.com/zkbench/zkbench/token"
	"github.com/zkbench/zkbench/token/identity"
	"github.com/zkbench/zkbench/token/request"
)

// BenchmarkValidate is the whole pipeline for requests of one transfer of two
// inputs and two outputs, 8 bits, with Ed25519 owners and auditor, one thread; the
// time is a request's.
func BenchmarkValidate(b *testing.B) {
	s, ids := funded(b, token.RedeemOwner)
	signers := []identity.Signer{s.owners[0], s.owners[1]}
	var raws [][]byte
	for i := range 64 {
		anchor := fmt.Sprintf("pay %2d", i)
		a, _ := s.moved(anchor, 0, "", ids[:2], to(s.owners[1].Identity(), 150), to(s.owners[0].Identity(), 50))
		raws = append(raws, s.sign(&request.Request{Anchor: []byte(anchor), Actions: []request.Action{a}}, signers))
	}
	for _, n := range []int{1, 16, 64} {
		b.Run(fmt.Sprintf("batch=%d", n), func(b *testing.B) {
			i := 0
			for b.Loop() {
				for _, r := range s.v.ValidateBatch(b.Context(), s.ledger, raws[i:i+n], s.at) {
					if r.Err != nil {
						b.Fatal(r.Err)
					}
				}
				i = (i + n) % 64
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*n), "ns/request")
		})
	}
}

// BenchmarkReject is what a request costs that a cheap check refuses: nothing of it
// is computed on the curve.
func BenchmarkReject(b *testing.B) {
	s, ids := funded(b, token.RedeemOwner)
	a, _ := s.moved("pay", 0, "", ids[:2], to(s.owners[1].Identity(), 150), to(s.owners[0].Identity(), 50))
	good := s.sign(&request.Request{Anchor: []byte("pay"), Actions: []request.Action{a}}, []identity.Signer{s.owners[0], s.owners[1]})
	for name, test := range map[string]struct {
		raw []byte
		on  ledger
	}{
		"why=truncated": {good[:len(good)-1], s.ledger},
		"why=spent":     {good, ledger{}},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.v.Validate(b.Context(), test.on, test.raw, s.at); err == nil {
					b.Fatal("accepted")
				}
			}
		})
	}
}
