package csp

import (
	"context"
	"fmt"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
)

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
			var proof *prf
			b.Run(fmt.Sprintf("op=prove/bits=%d/stop=%d", bits, stop), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					t := tr
					var err error
					if proof, err = p.Prove(ctx, ex, &t, V, witnessOf(v, r), nonces("bench")); err != nil {
						b.Fatal(err)
					}
				}
			})
			b.Run(fmt.Sprintf("op=verify/bits=%d/stop=%d", bits, stop), func(b *testing.B) {
				if proof == nil {
					_, proof = prove(b, p, "bench", v)
				}
				points, scalars := g.AppendPoints(nil, proof.Points...), g.AppendScalars(nil, proof.Scalars...)
				b.ReportMetric(float64(len(points)+len(scalars)), "proof-bytes")
				b.ReportAllocs()
				for b.Loop() {
					t := tr
					q := &prf{Points: make([]point, len(proof.Points)), Scalars: make([]scalar, len(proof.Scalars))}
					if err := g.DecodePoints(q.Points, points, group.OnCurve); err != nil {
						b.Fatal(err)
					}
					if err := g.DecodeScalars(q.Scalars, scalars); err != nil {
						b.Fatal(err)
					}
					eq, err := p.Replay(&t, V, q)
					if err != nil {
						b.Fatal(err)
					}
					if err := check(p, nil, eq); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
