package group

import (
	"fmt"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	bnfp "github.com/consensys/gnark-crypto/ecc/bn254/fp"

	"github.com/zkbench/zkbench/internal/testing/must"
)

// BenchmarkTree is a tree over so many entries, in one segment, on every kernel of this machine:
// what an addition takes with gathering, levels and their inversions.
func BenchmarkTree(b *testing.B) {
	for _, k := range Kernels() {
		for _, n := range []int{1 << 10, 1 << 13} {
			b.Run(fmt.Sprintf("kernel=%s/points=%d/curve=BN254", k, n), func(b *testing.B) {
				benchTree[bnfp.Element](b, must.Get(BN254(k).NewTable(generators(b, BN254(k), 2), TableOptions{}))(b), n)
			})
			b.Run(fmt.Sprintf("kernel=%s/points=%d/curve=BLS12-381", k, n), func(b *testing.B) {
				benchTree[fp.Element](b, must.Get(BLS12381(k).NewTable(generators(b, BLS12381(k), 2), TableOptions{}))(b), n)
			})
		}
	}
}

func generators[S, P any](tb testing.TB, g Group[S, P], n int) []P {
	tb.Helper()
	return must.Get(NewBasis(g, []Family{{Name: "bench", Count: n}}, TableOptions{Window: 2}))(tb).Points
}

func benchTree[E comparable, S, P any](b *testing.B, table Table[S, P], n int) {
	t := table.(interface {
		benchmark() (*tree[E], []affine[E])
	})
	tr, entries := t.benchmark()
	for b.Loop() {
		tr.begin(1, n)
		for i := range n {
			tr.add(0, uint32(i*37%len(entries)))
		}
		tr.reduce(entries, minPairs)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/addition")
}

func (t *table[S, E, P, J, PS, PE, PP, PJ]) benchmark() (*tree[E], []affine[E]) {
	return &t.sums.newScratch().tree, t.multiples
}
