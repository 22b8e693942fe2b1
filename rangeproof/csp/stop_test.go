package csp

import (
	"context"
	"fmt"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/rangeproof"
)

// rotation is the number of proofs that the benchmark goes through: with one, the
// branch predictor learns its digits and the time is a third too short.
const rotation = 16

// BenchmarkStop is what DefaultStop is chosen by: one proof on BN254, serial,
// at every number of rounds. "verify" includes decoding.
func BenchmarkStop(b *testing.B) {
	ctx, ex, g := context.Background(), executor.Serial(), group.BN254()
	for _, bits := range []int{32, 64} {
		for _, stop := range foldedLengths(2*bits+3, 1) {
			p := newProtocol(b, bits, stop)
			r := randomScalar("bench")
			v := r.Bits()[0] >> (MaxBits - bits)
			V := []point{commitTo(p, fr.NewElement(v), r)}
			tr := start(p, "bench")
			var proofs [rotation]*prf
			renew := func(i int) error {
				t, n := tr, nonces("bench")
				n.Seed[1] = byte(i)
				var err error
				proofs[i], err = p.Prove(ctx, ex, &t, V, witnessOf(v, r), n)
				return err
			}
			for i := range proofs {
				must.Do(b, renew(i))
			}
			b.Run(fmt.Sprintf("op=prove/bits=%d/stop=%d", bits, stop), func(b *testing.B) {
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					must.Do(b, renew(i%rotation))
				}
			})
			b.Run(fmt.Sprintf("op=verify/bits=%d/stop=%d", bits, stop), func(b *testing.B) {
				var encoded [rotation][]byte
				for i, proof := range proofs {
					encoded[i] = rangeproof.AppendProof(g, nil, proof)
				}
				b.ReportMetric(float64(len(encoded[0])), "proof-bytes")
				b.ReportAllocs()
				for i := 0; b.Loop(); i++ {
					t := tr
					q := must.Get(rangeproof.DecodeProof(g, p.Shape(1), encoded[i%rotation]))(b)
					eq := must.Get(p.Replay(&t, V, q))(b)
					must.Do(b, check(p, nil, eq))
				}
			})
		}
	}
}
