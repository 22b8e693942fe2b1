package vec52

import (
	"fmt"
	"testing"
	"unsafe"
)

// benchEach runs a benchmark for every field on the fastest kernel; ns/op is of one element or
// point.
func benchEach(b *testing.B, n int, bench func(b *testing.B, f *Field)) {
	for _, field := range fields[:] {
		b.Run("field="+field.name, func(b *testing.B) {
			all := Kernels()
			bench(b, New(field.p, field.b, all[len(all)-1]))
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/each")
		})
	}
}

// BenchmarkMul is products and squares of vectors that stay in the first cache.
func BenchmarkMul(b *testing.B) {
	const blocks = 16
	benchEach(b, Width*blocks, func(b *testing.B, f *Field) {
		x, y := aligned(blocks*f.Block()), aligned(blocks*f.Block())
		for b.Loop() {
			f.Mul(y, y, x)
		}
	})
}

func BenchmarkSquare(b *testing.B) {
	const blocks = 16
	benchEach(b, Width*blocks, func(b *testing.B, f *Field) {
		x := aligned(blocks * f.Block())
		for b.Loop() {
			f.Square(x, x)
		}
	})
}

// BenchmarkAdd is a level of additions, with an inversion that costs nothing.
func BenchmarkAdd(b *testing.B) {
	for _, n := range []int{16, 128, 1024} {
		b.Run(fmt.Sprintf("points=%d", n), func(b *testing.B) {
			benchEach(b, n, func(b *testing.B, f *Field) {
				points := f.points(source(), 2*n/Width)
				var pairs []Pair
				for i := range n / Width {
					pairs = append(pairs, Pair{A: uint32(i), B: uint32(n/Width + i), Sum: uint32(i)})
				}
				var a Adder
				for b.Loop() {
					f.Add(&a, Chord, points, pairs, func([]uint64) {})
				}
			})
		})
	}
}

// BenchmarkGather takes entries of a table that lies in the second cache.
func BenchmarkGather(b *testing.B) {
	const n = 4096
	benchEach(b, n, func(b *testing.B, f *Field) {
		rng := source()
		entries := aligned(n * 2 * f.words)
		picks := make([]uint32, n)
		for i := range picks {
			picks[i] = rng.Uint32N(n) | rng.Uint32N(2)*Negated
		}
		points := aligned(n / Width * f.PlaceWords())
		for b.Loop() {
			f.Gather(points, unsafe.SliceData(entries), picks)
		}
	})
}

// BenchmarkPack is the way back.
func BenchmarkPack(b *testing.B) {
	const n = 1024
	benchEach(b, n, func(b *testing.B, f *Field) {
		points := aligned(n / Width * f.PlaceWords())
		entries := aligned(n * 2 * f.words)
		for b.Loop() {
			f.Pack(unsafe.SliceData(entries), points)
		}
	})
}

// BenchmarkPasses are those of a transform, over a vector that stays in the second cache.
func BenchmarkPasses(b *testing.B) {
	const blocks = 1 << 10
	f := New(fields[1].p, 0, Kernels()[len(Kernels())-1])
	x, roots := aligned(blocks*f.Block()), aligned(blocks/Width*f.EightWords())
	for _, pass := range []struct {
		name string
		do   func(d Direction)
	}{
		{"four", func(d Direction) { f.Four(d, x, blocks/16, blocks/16, 4, roots) }},
		{"eight", func(d Direction) { f.Eight(d, x, roots) }},
	} {
		for _, d := range []Direction{ToReversed, FromReversed} {
			b.Run(fmt.Sprintf("%s/from=%d", pass.name, d), func(b *testing.B) {
				for b.Loop() {
					pass.do(d)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/Width/blocks, "ns/each")
			})
		}
	}
}
