package keccak_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/keccak"
)

// BenchmarkProve proves 170 permutations and reports the time of each phase.
func BenchmarkProve(b *testing.B) {
	for _, c := range []stark.Config{
		{Field: stark.KoalaBear, Hash: stark.Keccak, Params: stark.Compare100(stark.KoalaBear)},
		{Field: stark.Goldilocks, Hash: stark.Keccak, Params: stark.Compare100(stark.Goldilocks)},
		{Field: stark.Goldilocks, Hash: stark.Poseidon, Params: stark.Compare100(stark.Goldilocks)},
	} {
		for _, name := range []string{"serial", "pool"} {
			b.Run(fmt.Sprintf("field=%s/hash=%s/exec=%s", c.Field, c.Hash, name), func(b *testing.B) {
				ex := must.Get(executor.ByName(name))(b)
				s := must.Get(keccak.New(c, stark.Exposed))(b)
				messages := [][]byte{make([]byte, 169*136)}
				spent := make(map[string]time.Duration)
				var proof []byte
				for b.Loop() {
					proof = must.Get(s.Prove(b.Context(), ex, messages, nil, stark.Options{Span: func(name string) func() {
						start := time.Now()
						return func() { spent[name] += time.Since(start) }
					}}))(b)
				}
				for name, d := range spent {
					b.ReportMetric(float64(d.Microseconds())/1e3/float64(b.N), "ms-"+name)
				}
				b.ReportMetric(float64(len(proof)), "B/proof")
				must.Do(b, s.Verify(proof, keccak.Claims(messages, stark.Exposed), nil))
			})
		}
	}
}
