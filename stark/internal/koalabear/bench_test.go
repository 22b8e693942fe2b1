package koalabear_test

import (
	"testing"

	"github.com/zkbench/zkbench/stark/internal/koalabear"
)

// BenchmarkVectors runs the kernels on vectors in the first-level cache.
func BenchmarkVectors(b *testing.B) {
	const rows = 32
	vectors := func(n int) (all [][]koalabear.Element) {
		for i := range n {
			v := make([]koalabear.Element, rows)
			for j := range v {
				v[j] = koalabear.New(uint64(i*rows + j + 1))
			}
			all = append(all, v)
		}
		return all
	}
	x, y := vectors(16), vectors(16)
	for _, op := range []struct {
		name     string
		elements int
		run      func()
	}{
		{"xor", rows, func() { koalabear.Xor(y[0], x[0], x[1]) }},
		{"andNot", rows, func() { koalabear.AndNot(y[0], x[0], x[1]) }},
		{"pack", 16 * rows, func() { koalabear.Pack(y[0], x) }},
		{"butterflies8", 8 * rows, func() { koalabear.Butterflies(y[:8], x[:8], x[:7]) }},
		{"butterflies16", 16 * rows, func() { koalabear.Butterflies(y, x, x[:15]) }},
	} {
		b.Run("op="+op.name, func(b *testing.B) {
			for b.Loop() {
				op.run()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(op.elements), "ns/element")
		})
	}
}
