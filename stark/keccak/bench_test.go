package keccak_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/keccak"
)

func BenchmarkProve(b *testing.B) {
	compare := func(degree int) stark.Set {
		return stark.Set{Name: "compare100", Degree: degree, LogBlowup: 1, Queries: 84, Grinding: 16, Stack: 4, LogFold: 3, LogFinal: 5, LogCap: 4}
	}
	for _, c := range []stark.Config{
		{Field: stark.KoalaBear, Hash: stark.Keccak, Set: compare(4)},
		{Field: stark.Goldilocks, Hash: stark.Keccak, Set: compare(2)},
		{Field: stark.Goldilocks, Hash: stark.Poseidon, Set: compare(2)},
	} {
		b.Run(fmt.Sprintf("field=%s/hash=%s", c.Field, c.Hash), func(b *testing.B) {
			s, err := keccak.New(c, false)
			if err != nil {
				b.Fatal(err)
			}
			messages := [][]byte{make([]byte, 169*136)}
			spent := make(map[string]time.Duration)
			var proof []byte
			for b.Loop() {
				proof, err = s.Prove(b.Context(), executor.Serial(), messages, nil, stark.Options{Span: func(name string) func() {
					start := time.Now()
					return func() { spent[name] += time.Since(start) }
				}})
				if err != nil {
					b.Fatal(err)
				}
			}
			for name, d := range spent {
				b.ReportMetric(float64(d.Milliseconds())/float64(b.N), "ms-"+name+"/op")
			}
			b.ReportMetric(float64(len(proof)), "B/proof")
			start := time.Now()
			if err := s.Verify(proof, keccak.Claims(messages, false), nil); err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(time.Since(start).Microseconds())/1000, "ms-verify")
		})
	}
}
