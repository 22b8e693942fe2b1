package rangeproof_test

import (
	"fmt"
	"testing"

	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/rangeproof"
)

// rotation is the number of proofs that a benchmark cycles through. With one, the branch predictor
// learns its digits, and the time is a third too short.
const rotation = 16

// BenchmarkStop is what the default stops are chosen by: one proof on BN254, serial, at every
// stop. "verify" includes decoding.
func BenchmarkStop(b *testing.B) {
	g := group.BN254()
	for _, c := range constructions {
		for _, bits := range []int{32, 64} {
			for _, stop := range c.stops(bits) {
				basis := must.Get(group.NewBasis(g, c.families(bits, stop), group.TableOptions{}))(b)
				p := must.Get(c.build(basis, parameters{bits, 1, stop}))(b)
				st := newStatement(1, maxValue(bits)/3)
				start := bound(p, "ctx")
				var encoded [rotation][]byte
				renew := func(i int) {
					tr := start
					st.nonces.Seed[1] = byte(i)
					pf := must.Get(p.Prove(b.Context(), serial, &tr, st.V, st.w, st.nonces))(b)
					encoded[i] = rangeproof.AppendProof(g, encoded[i][:0], pf)
				}
				for i := range encoded {
					renew(i)
				}
				name := fmt.Sprintf("proof=%s/bits=%d/stop=%d", c.name, bits, stop)
				b.Run("op=prove/"+name, func(b *testing.B) {
					b.ReportAllocs()
					for i := 0; b.Loop(); i++ {
						renew(i % rotation)
					}
				})
				b.Run("op=verify/"+name, func(b *testing.B) {
					b.ReportMetric(float64(len(encoded[0])), "proof-bytes")
					b.ReportAllocs()
					for i := 0; b.Loop(); i++ {
						tr := start
						pf := must.Get(rangeproof.DecodeProof(g, p.Shape(1), encoded[i%rotation]))(b)
						eq := must.Get(p.Replay(&tr, st.V, pf))(b)
						must.Do(b, hold(basis, nil, eq))
					}
				})
			}
		}
	}
}
