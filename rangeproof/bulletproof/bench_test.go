package bulletproof

import (
	"fmt"
	"testing"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/rangeproof"
	"github.com/zkbench/zkbench/transcript"
)

// rotation is the number of proofs that a benchmark goes through: with one, the
// branch predictor learns its digits and the time is a third too short.
const rotation = 16

// The stop's cost model is checked by these: one proof on one goroutine.
func benchmarkCases(b *testing.B, run func(b *testing.B, p *bp, st statement)) {
	for _, bits := range []int{32, 64} {
		for _, stop := range []int{1, 2, 4, 8} {
			b.Run(fmt.Sprintf("curve=BN254/bits=%d/stop=%d", bits, stop), func(b *testing.B) {
				p := newProtocol(b, Config{Bits: bits, MaxCommitments: 1, Stop: stop})
				run(b, p, newStatement(b, p, 1, maxValue(bits)/3))
			})
		}
	}
}

func BenchmarkProve(b *testing.B) {
	benchmarkCases(b, func(b *testing.B, p *bp, st statement) {
		start := bound(p, "ctx")
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			tr := start
			st.nonces.Seed[1] = byte(i % rotation)
			must.Get(p.Prove(b.Context(), executor.Serial(), &tr, st.V, st.w, st.nonces))(b)
		}
	})
}

// BenchmarkVerify decodes nothing: a proof in memory to accepted.
func BenchmarkVerify(b *testing.B) {
	benchmarkCases(b, func(b *testing.B, p *bp, st statement) {
		var proofs [rotation]*rangeproof.Proof[scalar, point]
		for i := range proofs {
			st.nonces.Seed[1] = byte(i)
			proofs[i] = prove(b, p, st)
		}
		start := bound(p, "ctx")
		b.ReportAllocs()
		for i := 0; b.Loop(); i++ {
			if ok, err := verify(b, p, start, st.V, proofs[i%rotation]); err != nil || !ok {
				b.Fatalf("rejected: %v", err)
			}
		}
	})
}

// BenchmarkAccumulate is verification without its multi-scalar multiplication.
func BenchmarkAccumulate(b *testing.B) {
	benchmarkCases(b, func(b *testing.B, p *bp, st statement) {
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
