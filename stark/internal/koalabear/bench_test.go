package koalabear_test

import (
	"testing"

	gnark "github.com/consensys/gnark-crypto/field/koalabear"

	"github.com/zkbench/zkbench/internal/arith/step"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark/internal/koalabear"
)

// BenchmarkVectors runs the kernels on vectors in the first-level cache.
func BenchmarkVectors(b *testing.B) {
	const rows = 64
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
	steps := func(op step.Op) func() {
		var all []step.Step
		for i := range uint32(64) {
			all = append(all, step.Step{Op: op, Dst: i % 16, X: i * 5 % 16, Y: i * 7 % 16})
		}
		return func() { koalabear.Steps(y, all, rows) }
	}
	const log = 12
	transform, long := koalabear.NewTransform(log, koalabear.Element(must.Get(gnark.Generator(1<<log))(b))), make([]koalabear.Element, 1<<log)
	if transform == nil {
		b.Skip("no kernels")
	}
	for _, op := range []struct {
		name     string
		elements int
		run      func()
	}{
		{"add", 64 * rows, steps(step.Add)},
		{"mul", 64 * rows, steps(step.Mul)},
		{"xor", 64 * rows, steps(step.Xor)},
		{"andNot", 64 * rows, steps(step.AndNot)},
		{"pack", 16 * rows, func() { koalabear.Pack(y[0], x) }},
		{"butterflies8", 8 * rows, func() { koalabear.Butterflies(y[:8], x[:8], x[:7]) }},
		{"butterflies16", 16 * rows, func() { koalabear.Butterflies(y, x, x[:15]) }},
		{"evaluate", 1 << log, func() { transform.Evaluate(long) }},
		{"interpolate", 1 << log, func() { transform.Interpolate(long) }},
	} {
		b.Run("op="+op.name, func(b *testing.B) {
			for b.Loop() {
				op.run()
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(op.elements), "ns/element")
		})
	}
}
