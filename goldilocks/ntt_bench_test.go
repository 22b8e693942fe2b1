package goldilocks_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/internal/must"
)

// random is n elements.
func random(n int) []goldilocks.Element {
	source := rand.New(rand.NewPCG(1, 1))
	return generate(n, func(int) goldilocks.Element { return goldilocks.Reduce(source.Uint64()) })
}

// BenchmarkBitReverse is what a transform with natural order at both ends costs more.
func BenchmarkBitReverse(b *testing.B) {
	for _, log := range []int{12, 16, 20, 22} {
		v := random(1 << log)
		b.Run(fmt.Sprintf("size=2^%d", log), func(b *testing.B) {
			b.SetBytes(8 << log)
			for b.Loop() {
				must.Do(b, goldilocks.BitReverse(v))
			}
		})
	}
}
