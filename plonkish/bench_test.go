package plonkish

import (
	"fmt"
	"slices"
	"testing"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/srs"
)

// BenchmarkProve is of Plonk circuits of 75 % additions that fill their size.
func BenchmarkProve(b *testing.B) {
	for _, log := range []int{12, 16, 18} {
		b.Run(fmt.Sprintf("size=2^%d", log), func(b *testing.B) {
			builder := NewBuilder(Plonk())
			chain(builder, 1<<log-blinded-2, 7)
			c := must.Get(builder.Build())(b)
			k := setup(b, c)
			b.ReportAllocs()
			for b.Loop() {
				must.Get(k.Prove(b.Context(), executor.Serial(), c, Options{}))(b)
			}
		})
	}
}

// BenchmarkExpanded is BenchmarkProve by a key that keeps the values of the circuit's own columns.
func BenchmarkExpanded(b *testing.B) {
	builder := NewBuilder(Plonk())
	chain(builder, 1<<16-blinded-2, 7)
	c := must.Get(builder.Build())(b)
	k := setup(b, c)
	must.Do(b, k.Expand(b.Context(), executor.Pool()))
	for b.Loop() {
		must.Get(k.Prove(b.Context(), executor.Serial(), c, Options{}))(b)
	}
	b.ReportMetric(float64(k.ExpandedLen())/float64(c.Size()), "B/row")
}

// BenchmarkSetup is of keys that are made, and of those in a file.
func BenchmarkSetup(b *testing.B) {
	builder := NewBuilder(Plonk())
	chain(builder, 1<<16-blinded-2, 7)
	c := must.Get(builder.Build())(b)
	s := must.Get(srs.Insecure(b.Context(), executor.Serial(), c.Size(), 1))(b)
	b.Run("made", func(b *testing.B) {
		for b.Loop() {
			must.Get(Setup(b.Context(), executor.Serial(), c, s))(b)
		}
	})
	b.Run("cached", func(b *testing.B) {
		cache := Cache{Dir: b.TempDir()}
		must.Do(b, must.Get(cache.Setup(b.Context(), executor.Serial(), c, s))(b).Close())
		for b.Loop() {
			must.Do(b, must.Get(cache.Setup(b.Context(), executor.Serial(), c, s))(b).Close())
		}
	})
}

// BenchmarkVerify is of one proof, and of 64 together.
func BenchmarkVerify(b *testing.B) {
	builder := NewBuilder(Plonk())
	chain(builder, 100, 7)
	c := must.Get(builder.Build())(b)
	k := setup(b, c)
	proof := must.Get(k.Prove(b.Context(), executor.Serial(), c, Options{}))(b)
	public := c.Public()
	b.Run("single", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if err := k.VerifyInsecure(proof, public, nil); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("batch=64", func(b *testing.B) {
		claims := slices.Repeat([]Claim{{k.Verifying(), proof, public, nil, true}}, 64)
		b.ReportAllocs()
		for b.Loop() {
			if err := VerifyBatch(b.Context(), executor.Serial(), claims); err != nil {
				b.Fatal(err)
			}
		}
	})
}
