package keccak_test

import (
	"fmt"
	"runtime/debug"
	"testing"
	"time"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/runner/resources"
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

// BenchmarkMemory reports the largest resident set of the process while it proves 170 permutations, in the default way
// and with Options.Lean. The memory of the set-up is returned to the system before.
func BenchmarkMemory(b *testing.B) {
	for _, field := range []stark.Field{stark.KoalaBear, stark.Goldilocks} {
		for _, set := range []string{"compare100", "secure100"} {
			for _, lean := range []bool{false, true} {
				b.Run(fmt.Sprintf("field=%s/set=%s/lean=%t", field, set, lean), func(b *testing.B) {
					params := stark.Compare100(field)
					if set == "secure100" {
						params = must.Get(stark.Secure100(field, 3))(b)
					}
					s := must.Get(keccak.New(stark.Config{Field: field, Hash: stark.Keccak, Params: params}, stark.Exposed))(b)
					messages := [][]byte{make([]byte, 169*136)}
					debug.FreeOSMemory()
					peak := resources.OpenPeak()
					for b.Loop() {
						must.Get(s.Prove(b.Context(), executor.Serial(), messages, nil, stark.Options{Lean: lean}))(b)
					}
					rss, _ := peak.Close()
					b.ReportMetric(float64(rss)/(1<<20), "MiB-peak")
				})
			}
		}
	}
}
