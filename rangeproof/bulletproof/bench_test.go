package bulletproof

import (
	"fmt"
	"testing"

	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/transcript"
)

// BenchmarkAccumulate is verification without decoding and without its multi-scalar
// multiplication: what rangeproof's BenchmarkStop does beside.
func BenchmarkAccumulate(b *testing.B) {
	for _, bits := range []int{32, 64} {
		for _, stop := range []int{1, 2, 4, 8} {
			b.Run(fmt.Sprintf("curve=BN254/bits=%d/stop=%d", bits, stop), func(b *testing.B) {
				p := newProtocol(b, Config{Bits: bits, MaxCommitments: 1, Stop: stop})
				st := newStatement(b, p, 1, maxValue(bits)/3)
				pf := prove(b, p, st)
				start := bound(p, "ctx")
				acc := group.NewAccumulator(p.basis, 32)
				weights := group.NewWeights(p.g, transcript.XOF("weights"))
				b.ReportAllocs()
				for b.Loop() {
					tr := start
					acc.Points, acc.Scalars = acc.Points[:0], acc.Scalars[:0]
					eq := must.Get(p.Replay(&tr, st.V, pf))(b)
					eq.Accumulate(acc, weights)
				}
			})
		}
	}
}
