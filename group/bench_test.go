package group_test

import (
	"context"
	"fmt"
	"math/big"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	blsfr "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/group/fp256bn"
	"github.com/zkbench/zkbench/group/kilic"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/transcript"
)

// benchScalars returns n scalars from a fixed seed.
func benchScalars[S, P any](g group.Group[S, P], n int) []S {
	s := make([]S, n)
	group.RandomScalars(g, s, transcript.XOF("zkbench/v1/bench", []byte(g.Domain())))
	return s
}

func benchBasis[S, P any](b *testing.B, g group.Group[S, P], n int, opts group.TableOptions) *group.Basis[S, P] {
	b.Helper()
	return must.Get(group.NewBasis(g, []group.Family{{Name: "bench", Count: n}}, opts))(b)
}

// rotation is the number of inputs that a benchmark of sums cycles through. With one, the branch
// predictor learns its digits, and the time is a third too short.
const rotation = 16

// BenchmarkTableMSM is one fixed-base sum over 128 generators by table shape:
// the measurements behind the defaults. Beside it nothing runs, or what takes the
// cache that processors share: a walk through more memory than that has.
func BenchmarkTableMSM(b *testing.B) {
	for _, neighbour := range []bool{false, true} {
		b.Run(fmt.Sprintf("neighbour=%t", neighbour), func(b *testing.B) {
			if neighbour {
				defer walk()()
			}
			benchTable(b, group.BN254())
			benchTable(b, group.BLS12381())
		})
	}
}

// walk writes to every cache line of 128 MiB, again and again, until stop is called.
func walk() (stop func()) {
	var done atomic.Bool
	var walked sync.WaitGroup
	walked.Go(func() {
		memory := make([]byte, 128<<20)
		for !done.Load() {
			for i := 0; i < len(memory); i += 64 {
				memory[i]++
			}
		}
	})
	return func() {
		done.Store(true)
		walked.Wait()
	}
}

func benchTable[S, P any](b *testing.B, g group.Group[S, P]) {
	scalars := benchScalars(g, 128*rotation)
	for _, o := range []group.TableOptions{
		{Window: 5, Spacing: 4},
		{Window: 6, Spacing: 1},
		{Window: 6, Spacing: 4},
		{Window: 7, Spacing: 6},
		{Window: 7, Spacing: 2},
		{Window: 8, Spacing: 1},
		{Window: 8, Spacing: 2},
		{Window: 8, Spacing: 4},
		{Window: 8, Spacing: 8},
		{Window: 9, Spacing: 4},
		{Window: 9, Spacing: 7},
		{Window: 10, Spacing: 9},
	} {
		basis := benchBasis(b, g, 128, o)
		b.Run(fmt.Sprintf("curve=%s/window=%d/spacing=%d", g.Name(), o.Window, o.Spacing), func(b *testing.B) {
			b.ReportAllocs()
			var dst [1]P
			for i := 0; b.Loop(); i++ {
				at := i % rotation * 128
				must.Do(b, basis.Table.MSM(context.Background(), executor.Serial(), dst[:], [][]S{scalars[at : at+128]}))
			}
			b.ReportMetric(float64(basis.Table.Bytes())/(1<<20), "MiB/table")
		})
	}
}

// BenchmarkConstantTime is the same sum by the path for secrets.
func BenchmarkConstantTime(b *testing.B) {
	g := group.BN254()
	scalars := benchScalars(g, 128)
	basis := benchBasis(b, g, 128, group.TableOptions{})
	var dst [1]bn254.G1Affine
	for b.Loop() {
		must.Do(b, basis.Table.MSMConstantTime(context.Background(), dst[:], [][]fr.Element{scalars}))
	}
}

// BenchmarkMSM is a sum over points that come with a proof: ours beside
// gnark-crypto's MultiExp with one task.
func BenchmarkMSM(b *testing.B) {
	serial := ecc.MultiExpConfig{NbTasks: 1}
	benchMSM(b, group.BN254(), func(p []bn254.G1Affine, s []fr.Element) error {
		var z bn254.G1Affine
		_, err := z.MultiExp(p, s, serial)
		return err
	})
	benchMSM(b, group.BLS12381(), func(p []bls12381.G1Affine, s []blsfr.Element) error {
		var z bls12381.G1Affine
		_, err := z.MultiExp(p, s, serial)
		return err
	})
}

func benchMSM[S, P any](b *testing.B, g group.Group[S, P], gnark func([]P, []S) error) {
	const most = 2048
	basis := benchBasis(b, g, most, group.TableOptions{Window: 2, Spacing: 120})
	scalars := benchScalars(g, most+rotation*64)
	for _, n := range []int{1, 8, 16, 40, 64, 128, 256, 512, 1024, 2048} {
		b.Run(fmt.Sprintf("impl=zkbench/curve=%s/points=%d", g.Name(), n), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				at := i % rotation * 64
				must.Get(g.MSM(context.Background(), executor.Serial(), basis.Points[:n], scalars[at:at+n]))(b)
			}
		})
		b.Run(fmt.Sprintf("impl=gnark-crypto/curve=%s/points=%d", g.Name(), n), func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				at := i % rotation * 64
				must.Do(b, gnark(basis.Points[:n], scalars[at:at+n]))
			}
		})
	}
}

// BenchmarkDecodePoints decodes 40 compressed points at once.
func BenchmarkDecodePoints(b *testing.B) {
	benchDecode(b, group.BN254())
	benchDecode(b, group.BLS12381())
}

func benchDecode[S, P any](b *testing.B, g group.Group[S, P]) {
	const n = 40
	enc := g.AppendPoints(nil, benchBasis(b, g, n, group.TableOptions{Window: 2, Spacing: 120}).Points...)
	dst := make([]P, n)
	for name, check := range map[string]group.PointCheck{"subgroup": group.Subgroup, "oncurve": group.OnCurve} {
		b.Run(fmt.Sprintf("curve=%s/check=%s", g.Name(), name), func(b *testing.B) {
			for b.Loop() {
				must.Do(b, g.DecodePoints(dst, enc, check))
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/point")
		})
	}
}

// BenchmarkInnerProduct holds the generic path beside the concrete one: a
// protocol's call through the Group interface costs no more.
func BenchmarkInnerProduct(b *testing.B) {
	g := group.BN254()
	s := benchScalars(g, 256)
	b.Run("path=generic", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			genericInner(g, s[:128], s[128:])
		}
	})
	b.Run("path=fr.Vector", func(b *testing.B) {
		b.ReportAllocs()
		v, w := fr.Vector(s[:128]), fr.Vector(s[128:])
		for b.Loop() {
			v.InnerProduct(w)
		}
	})
}

//go:noinline
func genericInner[S, P any](g group.Group[S, P], a, b []S) S { return g.InnerProduct(a, b) }

// BenchmarkGLV is one scalar multiplication of gnark-crypto with an affine
// result. The unit that carries figures between machines is internal/study/peer's
// GLVCases.
func BenchmarkGLV(b *testing.B) {
	s := benchScalars(group.BN254(), 1)
	k := s[0].BigInt(new(big.Int))
	b.Run("curve=BN254", func(b *testing.B) {
		p, _, _, _ := bn254.Generators()
		for b.Loop() {
			p.ScalarMultiplication(&p, k)
		}
	})
	b.Run("curve=BLS12_381_BBS_GURVY", func(b *testing.B) {
		p, _, _, _ := bls12381.Generators()
		for b.Loop() {
			p.ScalarMultiplication(&p, k)
		}
	})
}

// BenchmarkAdapter is the groups that are not on gnark-crypto.
func BenchmarkAdapter(b *testing.B) {
	for _, g := range []group.Group[kilic.Scalar, kilic.Point]{kilic.BLS12381(), fp256bn.AMCL(), fp256bn.Miracl()} {
		b.Run("curve="+g.Name(), func(b *testing.B) { benchmarkGroup(b, g) })
	}
}

func benchmarkGroup[S, P any](b *testing.B, g group.Group[S, P]) {
	s := &suite[S, P]{Group: g}
	rng := random()
	basis := must.Get(group.NewBasis(g, []group.Family{{Name: "bench", Count: 128}}, group.TableOptions{}))(b)
	scalars := make([]S, basis.Len())
	for i := range scalars {
		scalars[i] = s.randomScalar(rng)
	}
	b.Run("table/n=128", func(b *testing.B) {
		b.ReportAllocs()
		dst := make([]P, 1)
		for b.Loop() {
			must.Do(b, basis.Table.MSM(b.Context(), executors()[0], dst, [][]S{scalars}))
		}
	})
	for _, n := range []int{16, 128} {
		b.Run(fmt.Sprintf("msm/n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				must.Get(g.MSM(b.Context(), executors()[0], basis.Points[:n], scalars[:n]))(b)
			}
		})
	}
	b.Run("newtable/n=128", func(b *testing.B) {
		for b.Loop() {
			must.Get(g.NewTable(basis.Points, group.TableOptions{}))(b)
		}
	})
	b.Run("inner/n=128", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			g.InnerProduct(scalars, scalars)
		}
	})
	encoded := g.AppendPoints(nil, basis.Points[:32]...)
	b.Run("decode/n=32", func(b *testing.B) {
		dst := make([]P, 32)
		for b.Loop() {
			must.Do(b, g.DecodePoints(dst, encoded, group.OnCurve))
		}
	})
}

// BenchmarkProverMSM is a sum as provers have them, over as many points as a circuit has
// constraints, by the length of scalars: ours beside gnark-crypto's MultiExp with one task.
func BenchmarkProverMSM(b *testing.B) {
	g := group.BN254()
	const most = 1 << 18
	points := multiplesOf(b, g, most)
	full := benchScalars(g, most)
	for _, length := range []struct {
		name string
		bits uint
	}{{"full", 256}, {"16", 16}, {"1", 1}} {
		scalars := make([]fr.Element, most)
		for i := range scalars {
			limbs := full[i].Bits()
			scalars[i] = full[i]
			if length.bits < 64 {
				scalars[i].SetUint64(limbs[0] & (1<<length.bits - 1))
			}
		}
		for _, n := range []int{1 << 14, 1 << 16, 1 << 18} {
			for _, ex := range []executor.Executor{executor.Serial(), executor.Pool()} {
				b.Run(fmt.Sprintf("impl=zkbench/scalars=%s/points=%d/exec=%s", length.name, n, ex.Name()), func(b *testing.B) {
					for b.Loop() {
						must.Get(g.MSM(context.Background(), ex, points[:n], scalars[:n]))(b)
					}
				})
			}
			for _, spacing := range []int{64, 128} {
				stored := must.Get(group.Store(b.Context(), executor.Pool(), g, points[:n], group.StoreOptions{Spacing: spacing}))(b)
				for _, ex := range []executor.Executor{executor.Serial(), executor.Pool()} {
					b.Run(fmt.Sprintf("impl=stored-%d/scalars=%s/points=%d/exec=%s", spacing, length.name, n, ex.Name()), func(b *testing.B) {
						for b.Loop() {
							must.Get(stored.MSM(context.Background(), ex, scalars[:n]))(b)
						}
					})
				}
			}
			b.Run(fmt.Sprintf("impl=gnark-crypto/scalars=%s/points=%d", length.name, n), func(b *testing.B) {
				for b.Loop() {
					var z bn254.G1Affine
					must.Get(z.MultiExp(points[:n], scalars[:n], ecc.MultiExpConfig{NbTasks: 1}))(b)
				}
			})
		}
	}
}

// multiplesOf returns n random multiples of a generator.
func multiplesOf[S, P any](tb testing.TB, g group.Group[S, P], n int) []P {
	tb.Helper()
	base := must.Get(group.Generator(g, "bench", 0))(tb)
	table := must.Get(g.NewTable([]P{base}, group.TableOptions{Window: 12, Spacing: 1}))(tb)
	scalars := benchScalars(g, n)
	each := make([][]S, n)
	for i := range each {
		each[i] = scalars[i : i+1]
	}
	points := make([]P, n)
	must.Do(tb, table.MSM(context.Background(), executor.Serial(), points, each))
	return points
}

// BenchmarkStore makes the multiples of 2^14 points.
func BenchmarkStore(b *testing.B) {
	points := multiplesOf(b, group.BN254(), 1<<14)
	for _, spacing := range []int{64, 128} {
		b.Run(fmt.Sprintf("spacing=%d", spacing), func(b *testing.B) {
			for b.Loop() {
				must.Get(group.Store(b.Context(), executor.Serial(), group.BN254(), points, group.StoreOptions{Spacing: spacing}))(b)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(points)), "ns/point")
		})
	}
}
