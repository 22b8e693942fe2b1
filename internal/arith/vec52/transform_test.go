package vec52

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/zkbench/zkbench/internal/testing/golden"
)

// eachScalar runs a test for the fields of five limbs that have room for transforms, on every
// kernel.
func eachScalar(t *testing.T, test func(t *testing.T, f *Field)) {
	t.Helper()
	each(t, func(t *testing.T, f *Field) {
		if f.limbs == 5 && new(big.Int).Mul(f.p, big.NewInt(84)).BitLen() <= radix*5 {
			test(t, f)
		}
	})
}

// twin is the field in Go alone.
func (f *Field) twin() *Field { return New(f.p, f.b, Portable) }

// vector is blocks of elements below tenths of p, limbs carried.
func (f *Field) vector(rng *rand.Rand, blocks int, tenths int64) []uint64 {
	v := aligned(blocks * f.Block())
	for i := range blocks {
		for k := range Width {
			f.put(v[i*f.Block():], k, below(rng, f.times(tenths)))
		}
	}
	return v
}

// uncarry leaves elements as they are, but for carries that it takes back: of either sign and
// many, as between passes to reversed order, or as few as products have.
func (f *Field) uncarry(rng *rand.Rand, v []uint64, d Direction) {
	for at := 0; at < len(v); at += f.Block() {
		for i := range f.limbs - 1 {
			for k := range Width {
				low, high := &v[at+Width*i+k], &v[at+Width*(i+1)+k]
				c := uint64(rng.Int64N(1<<10) - 1<<9)
				if d == FromReversed {
					c = min(*high, rng.Uint64N(1<<5))
				}
				*low += c << radix
				*high -= c
			}
		}
	}
}

// TestPassesEqualTwin: passes make of elements at and below their bounds, and of limbs at and
// below theirs, limb by limb what Go of the same radix makes of them.
func TestPassesEqualTwin(t *testing.T) {
	t.Parallel()
	eachScalar(t, func(t *testing.T, f *Field) {
		rng := source()
		const stride, parts = 3, 2
		passes := []struct {
			name   string
			tenths int64 // the bound
			d      Direction
			pass   func(f *Field, x, rows, eights []uint64)
		}{
			{"four to", 620, ToReversed, func(f *Field, x, rows, _ []uint64) {
				f.Four(ToReversed, x, stride, stride, parts, rows)
				f.Four(ToReversed, x, 2*stride, stride, 1, rows[f.RowWords():])
			}},
			{"four from", 20, FromReversed, func(f *Field, x, rows, _ []uint64) { f.Four(FromReversed, x, stride, stride, parts, rows) }},
			{"all to", 20, FromReversed, func(f *Field, x, rows, _ []uint64) { f.FourOfAll(ToReversed, x, 6, 5, rows) }},
			{"all from", 20, FromReversed, func(f *Field, x, rows, _ []uint64) { f.FourOfAll(FromReversed, x, 6, 5, rows) }},
			{"two", 20, FromReversed, func(f *Field, x, _, _ []uint64) { f.TwoOfAll(x, 12, 11) }},
			{"eight to", 620, ToReversed, func(f *Field, x, _, eights []uint64) { f.Eight(ToReversed, x, eights) }},
			{"eight from", 20, FromReversed, func(f *Field, x, _, eights []uint64) { f.Eight(FromReversed, x, eights) }},
			{"turn", 20, ToReversed, func(f *Field, x, _, _ []uint64) {
				tiles := aligned(3 * Width * f.Block())
				f.Turn(tiles, x, 3)
				copy(x, tiles)
			}},
		}
		roots := f.vector(rng, 21, 11)
		rows := aligned(parts * f.RowWords())
		for i := range rows {
			rows[i] = roots[Width*i]
		}
		for _, p := range passes {
			for round := range 6 {
				x := f.vector(rng, 24, p.tenths)
				if round == 0 { // what the last limbs' signs hang on
					clear(x)
				}
				f.uncarry(rng, x, p.d)
				want := slices.Clone(x)
				p.pass(f, x, rows, roots)
				p.pass(f.twin(), want, rows, roots)
				if !slices.Equal(want, x) {
					t.Fatalf("%s: not what its twin makes", p.name)
				}
			}
		}
	})
}

// TestFolds: what is below 84p becomes the same modulo p below 1.1 p, whatever its limbs; sums
// and differences of what is below 2p too.
func TestFolds(t *testing.T) {
	t.Parallel()
	eachScalar(t, func(t *testing.T, f *Field) {
		rng := source()
		same := func(what string, want *big.Int, got *big.Int) {
			t.Helper()
			if got.Cmp(f.times(11)) >= 0 || new(big.Int).Sub(want, got).Mod(new(big.Int).Sub(want, got), f.p).Sign() != 0 {
				t.Fatalf("%s: %v for %v", what, got, want)
			}
		}
		for range 2000 {
			v := below(rng, f.times(834)) // and more than a limb may lack
			v.Add(v, f.times(6))
			block := aligned(f.Block())
			f.put(block, 0, v)
			f.uncarry(rng, block, ToReversed)
			var e element
			f.load(&e, block, 0)
			e = f.folded(e)
			f.store(&e, block, 0)
			same("folded", v, f.get(block, 0))
		}
		x, y, z := f.vector(rng, 50, 20), f.vector(rng, 50, 20), aligned(50*f.Block())
		for i := range 50 {
			at := i * f.Block()
			for k := range Width {
				f.AddVectors(z, x, y)
				same("sum", new(big.Int).Add(f.get(x[at:], k), f.get(y[at:], k)), f.get(z[at:], k))
				f.SubVectors(z, x, y)
				same("difference", new(big.Int).Sub(f.get(x[at:], k), f.get(y[at:], k)), f.get(z[at:], k))
			}
		}
	})
}

// TestInOut: elements of four words come in as v R and go back below p.
func TestInOut(t *testing.T) {
	t.Parallel()
	eachScalar(t, func(t *testing.T, f *Field) {
		rng := source()
		const blocks = 40
		words := make([]uint64, blocks*Width*f.words)
		inverse := new(big.Int).ModInverse(new(big.Int).Lsh(big.NewInt(1), 256), f.p)
		var want []*big.Int
		for k := range blocks * Width {
			v := below(rng, f.p)
			copy(words[k*f.words:], f.toWords(v))
			v.Mul(v, inverse)
			want = append(want, f.Represent(v))
		}
		in, back := aligned(blocks*f.Block()), make([]uint64, len(words))
		f.Import(in, unsafe.SliceData(words))
		for k, w := range want {
			got := f.get(in[k/Width*f.Block():], k%Width)
			if got.Cmp(f.times(11)) >= 0 || got.Mod(got, f.p).Cmp(w) != 0 {
				t.Fatalf("element %d comes in as %v, want %v", k, got, w)
			}
		}
		f.Export(unsafe.SliceData(back), in)
		golden.Equal(t, "words", words, back)
		for i := range blocks { // what is below 2p, too
			for k := range Width {
				v := f.get(in[i*f.Block():], k)
				if v.Cmp(f.p) < 0 {
					f.put(in[i*f.Block():], k, v.Add(v, f.p))
				}
			}
		}
		f.Export(unsafe.SliceData(back), in)
		golden.Equal(t, "words of elements plus p", words, back)
	})
}

// TestReducedSeeksItsBounds: just below and above each multiple of p, of last limbs that lack as
// many carries as they may, or have as many too many, the quotient is not too large and the rest
// below 1.1 p.
func TestReducedSeeksItsBounds(t *testing.T) {
	t.Parallel()
	for _, field := range fields {
		f := New(field.p, field.b, Portable)
		last := f.limbs - 1
		for k := range int64(Width) {
			for d := int64(-3); d <= 3; d++ {
				v := new(big.Int).Mul(f.p, big.NewInt(k))
				if v.Add(v, big.NewInt(d)); v.Sign() < 0 {
					continue
				}
				for c := int64(-63); c <= 63; c++ {
					var e element
					copy(e[:], f.split(v))
					e[last] += uint64(c)
					e[last-1] -= uint64(c) << radix
					if int64(e[last]) < 0 {
						continue
					}
					got := f.reduced(e)
					block := aligned(f.Block())
					f.store(&got, block, 0)
					rest := f.get(block, 0)
					if rest.Cmp(f.times(11)) >= 0 || new(big.Int).Mod(new(big.Int).Sub(v, rest), f.p).Sign() != 0 {
						t.Fatalf("%s: %d p + %d, %d carries aside, is reduced to %v", field.name, k, d, c, rest)
					}
				}
			}
		}
	}
}
