package goldilocks_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
)

// random is n elements.
func random(n int) []goldilocks.Element {
	source := rand.New(rand.NewPCG(1, 1))
	return each(n, func(int) goldilocks.Element { return goldilocks.Reduce(source.Uint64()) })
}

func BenchmarkNTT(b *testing.B) {
	for _, k := range goldilocks.Kernels() {
		for _, log := range []int{8, 12, 16, 18, 20, 22} {
			d := domain(b, 1<<log)
			v := random(1 << log)
			for _, from := range orders {
				run := func(name string, f func() error) {
					b.Run(fmt.Sprintf("kernel=%v/size=2^%d/from=%v/%s", k, log, from, name), func(b *testing.B) {
						b.SetBytes(8 << log)
						must(b, f()) // makes the tables
						for b.Loop() {
							must(b, f())
						}
					})
				}
				run("forward", func() error { return d.NTT(k, v, from, 1) })
				run("inverse", func() error { return d.InverseNTT(k, v, from, 1) })
			}
		}
	}
}

func BenchmarkLDE(b *testing.B) {
	for _, k := range goldilocks.Kernels() {
		for _, log := range []int{12, 16, 20} {
			for _, in := range orders {
				const blowup = 2
				d := domain(b, 1<<log)
				columns := [][]goldilocks.Element{random(blowup << log), random(blowup << log)}
				b.Run(fmt.Sprintf("kernel=%v/size=2^%d/columns=%d/blowup=%d/in=%v", k, log, len(columns), blowup, in), func(b *testing.B) {
					b.SetBytes(int64(len(columns)) * 8 << log)
					e := goldilocks.LDE{Blowup: blowup, Shift: goldilocks.Generator, In: in, Out: goldilocks.BitReversed}
					extend := func() error { return d.Extend(context.Background(), executor.Serial(), k, columns, e) }
					must(b, extend())
					for b.Loop() {
						must(b, extend())
					}
				})
			}
		}
	}
}

func BenchmarkPolyEval(b *testing.B) {
	point := goldilocks.Ext2{3, 1 << 40}
	ctx := context.Background()
	for _, k := range goldilocks.Kernels() {
		for _, log := range []int{12, 16, 20} {
			d := domain(b, 1<<log)
			polys := [][]goldilocks.Element{random(1 << log), random(1 << log)}
			b.Run(fmt.Sprintf("kernel=%v/size=2^%d/from=coefficients", k, log), func(b *testing.B) {
				b.SetBytes(int64(len(polys)) * 8 << log)
				for b.Loop() {
					_, err := goldilocks.EvalAll(ctx, executor.Serial(), k, polys, point)
					must(b, err)
				}
			})
			b.Run(fmt.Sprintf("kernel=%v/size=2^%d/from=values", k, log), func(b *testing.B) {
				b.SetBytes(int64(len(polys)) * 8 << log)
				for b.Loop() {
					_, err := goldilocks.EvalValues(ctx, executor.Serial(), k, d, polys, goldilocks.BitReversed, goldilocks.Generator, point)
					must(b, err)
				}
			})
		}
	}
}

// BenchmarkBitReverse is what a transform with natural order at both ends costs more.
func BenchmarkBitReverse(b *testing.B) {
	for _, log := range []int{12, 16, 20, 22} {
		v := random(1 << log)
		b.Run(fmt.Sprintf("size=2^%d", log), func(b *testing.B) {
			b.SetBytes(8 << log)
			for b.Loop() {
				must(b, goldilocks.BitReverse(v))
			}
		})
	}
}
