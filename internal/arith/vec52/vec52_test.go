package vec52

import (
	"math/big"
	"math/rand/v2"
	"testing"
	"unsafe"

	blsfp "github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	blsfr "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	bnfp "github.com/consensys/gnark-crypto/ecc/bn254/fp"
	bnfr "github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/internal/testing/golden"
)

// fields are those that the module computes in.
var fields = []struct {
	name string
	p    *big.Int
	b    uint64 // of a curve of odd order
}{
	{"bn254-fp", bnfp.Modulus(), 3},
	{"bn254-fr", bnfr.Modulus(), 5},
	{"bls12381-fp", blsfp.Modulus(), 4},
	{"bls12381-fr", blsfr.Modulus(), 5},
}

// each runs a test for every field on every kernel.
func each(t *testing.T, test func(t *testing.T, f *Field)) {
	t.Helper()
	for _, k := range Kernels() {
		for _, field := range fields {
			t.Run(k.String()+"/"+field.name, func(t *testing.T) {
				t.Parallel()
				test(t, New(field.p, field.b, k))
			})
		}
	}
}

func source() *rand.Rand { return rand.New(rand.NewPCG(17, 52)) }

// below is an integer of [0, bound): mostly any, sometimes one at an edge of a limb or of the
// range.
func below(rng *rand.Rand, bound *big.Int) *big.Int {
	v := new(big.Int)
	switch rng.IntN(8) {
	case 0:
		v.SetUint64(rng.Uint64N(3))
	case 1:
		v.Sub(bound, big.NewInt(1+rng.Int64N(3)))
	case 2: // limbs of ones
		for i := range maxLimbs {
			if rng.IntN(2) == 0 {
				v.Or(v, new(big.Int).Lsh(big.NewInt(low52), uint(radix*i)))
			}
		}
	default:
		for range 7 {
			v.Lsh(v, 64).Or(v, new(big.Int).SetUint64(rng.Uint64()))
		}
	}
	return v.Mod(v, bound)
}

// times is k p / 10.
func (f *Field) times(k int64) *big.Int {
	v := new(big.Int).Mul(f.p, big.NewInt(k))
	return v.Div(v, big.NewInt(10))
}

func (f *Field) put(block []uint64, lane int, v *big.Int) {
	for i, limb := range f.split(v) {
		block[Width*i+lane] = limb
	}
}

func (f *Field) get(block []uint64, lane int) *big.Int {
	v := new(big.Int)
	for i := f.limbs - 1; i >= 0; i-- {
		v.Lsh(v, radix).Add(v, new(big.Int).SetUint64(block[Width*i+lane]))
	}
	return v
}

// TestProducts: x y/R modulo p below 2p, of factors at and below their bounds.
func TestProducts(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *Field) {
		rng := source()
		const blocks = 50
		n := blocks * f.Block()
		x, y, z, square := aligned(n), aligned(n), aligned(n), aligned(n)
		for i := range blocks {
			for k := range Width {
				f.put(x[i*f.Block():], k, below(rng, f.times(40)))
				f.put(y[i*f.Block():], k, below(rng, f.times(80)))
			}
		}
		f.Mul(z, x, y)
		f.Square(square, x)
		inverse := new(big.Int).ModInverse(f.Represent(big.NewInt(1)), f.p)
		check := func(got, x, y *big.Int) {
			t.Helper()
			want := new(big.Int).Mul(x, y)
			want.Mul(want, inverse).Mod(want, f.p)
			if got.Cmp(f.times(20)) >= 0 || new(big.Int).Mod(got, f.p).Cmp(want) != 0 {
				t.Fatalf("%v times %v is %v, want %v", x, y, got, want)
			}
		}
		for i := range blocks {
			for k := range Width {
				a, b := f.get(x[i*f.Block():], k), f.get(y[i*f.Block():], k)
				check(f.get(z[i*f.Block():], k), a, b)
				check(f.get(square[i*f.Block():], k), a, a)
			}
		}
	})
}

// TestProductsSeekTheirBounds: a product is (x y + m p)/R for one m below R, and so less than
// 32 p²/R + p, which is less than 2p. Large factors whose m is close to R come near it.
func TestProductsSeekTheirBounds(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *Field) {
		r := new(big.Int).Lsh(big.NewInt(1), uint(radix*f.limbs))
		bound := new(big.Int).Mul(f.times(40), f.times(80))
		bound.Div(bound, r).Add(bound, f.p)
		x, y, z := aligned(f.Block()), aligned(f.Block()), aligned(f.Block())
		inverse := new(big.Int).ModInverse(f.p, r)
		rng := source()
		largest := new(big.Int)
		for i := int64(0); i < 4000; i++ {
			a := new(big.Int).Sub(f.times(40), big.NewInt(1+i%64*2))
			a.SetBit(a, 0, 1)                  // odd: it has an inverse modulo R
			b := new(big.Int).ModInverse(a, r) // then m is R - 1 - i
			b.Mul(b, f.p).Mul(b, big.NewInt(1+i)).Mod(b, r)
			if b.Cmp(f.times(80)) >= 0 {
				b = below(rng, f.times(80))
			}
			m := new(big.Int).Mul(a, b)
			m.Mul(m, inverse).Neg(m).Mod(m, r)
			f.put(x, int(i%Width), a)
			f.put(y, int(i%Width), b)
			f.Mul(z, x, y)
			want := new(big.Int).Mul(a, b)
			want.Add(want, m.Mul(m, f.p)).Rsh(want, uint(radix*f.limbs))
			if got := f.get(z, int(i%Width)); got.Cmp(want) != 0 {
				t.Fatalf("%v times %v is %v, want %v", a, b, got, want)
			}
			if want.Cmp(largest) > 0 {
				largest = want
			}
		}
		if bound.Cmp(f.times(20)) >= 0 || largest.Cmp(bound) > 0 || new(big.Int).Sub(bound, largest).Cmp(f.times(1)) > 0 {
			t.Errorf("the largest product is %v, the bound %v: the search misses it", largest, bound)
		}
	})
}

// TestWords: what Set takes, Get gives back, less p.
func TestWords(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *Field) {
		rng := source()
		block := aligned(f.Block())
		for i := range 200 {
			v := below(rng, f.times(10))
			words, got := f.toWords(v), make([]uint64, f.words)
			f.Set(block, i%Width, words)
			f.Get(got, block, i%Width)
			golden.Equal(t, "words", words, got)
			f.put(block, i%Width, new(big.Int).Add(v, f.p))
			f.Get(got, block, i%Width)
			golden.Equal(t, "words plus p", words, got)
		}
	})
}

func (f *Field) toWords(v *big.Int) []uint64 {
	words := make([]uint64, f.words)
	rest, mask := new(big.Int).Set(v), new(big.Int).SetUint64(1<<64-1)
	for i := range words {
		words[i] = new(big.Int).And(rest, mask).Uint64()
		rest.Rsh(rest, 64)
	}
	return words
}

// points are n places of coordinates below 1.1 p, and their integers.
func (f *Field) points(rng *rand.Rand, n int) []uint64 {
	v := aligned(n * f.PlaceWords())
	seen := make(map[string]bool) // no two x or y are equal, nor 0
	for i := range 2 * n {
		for k := range Width {
			e := below(rng, f.times(11))
			for key := ""; ; e = below(rng, f.times(11)) {
				if key = new(big.Int).Mod(e, f.p).String(); !seen[key] && key != "0" {
					seen[key] = true
					break
				}
			}
			f.put(v[i*f.Block():], k, e)
		}
	}
	return v
}

// invert inverts the words of x R to those of R/x, slowly.
func (f *Field) invert(words []uint64) {
	v := new(big.Int)
	for i := len(words) - 1; i >= 0; i-- {
		v.Lsh(v, 64).Or(v, new(big.Int).SetUint64(words[i]))
	}
	one := f.Represent(big.NewInt(1))
	v.ModInverse(v, f.p).Mul(v, one).Mul(v, one).Mod(v, f.p)
	copy(words, f.toWords(v))
}

// TestAdd holds both rules to the formulas in integers, and the kernels to the portable form
// limb by limb.
func TestAdd(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *Field) {
		rng := source()
		twin := New(f.p, f.b, Portable)
		for _, rule := range []Rule{Chord, Tangent} {
			for _, n := range []int{1, 2, 3, 17} {
				points := f.points(rng, 2*n)
				before := append([]uint64(nil), points...)
				var pairs []Pair
				for i := range n {
					pairs = append(pairs, Pair{A: uint32(i), B: uint32(n + i), Sum: uint32(i), Idle: rng.Uint32N(256) & rng.Uint32N(256)})
				}
				pairs = PadPairs(pairs)
				same := aligned(len(points))
				copy(same, points)
				if !f.Add(new(Adder), rule, points, pairs, f.invert) {
					t.Fatal("no sum")
				}
				twin.Add(new(Adder), rule, same, pairs, f.invert)
				golden.Equal(t, "limbs", same, points)
				for i := range n {
					for k := range Width {
						f.checkSum(t, rule, before, points, pairs[i], k)
					}
				}
			}
		}
	})
}

func (f *Field) checkSum(t *testing.T, rule Rule, before, after []uint64, p Pair, lane int) {
	t.Helper()
	at := func(v []uint64, place uint32) (x, y *big.Int) {
		s := v[int(place)*f.PlaceWords():]
		return f.get(s, lane), f.get(s[f.Block():], lane)
	}
	x1, y1 := at(before, p.A)
	x2, y2 := at(before, p.B)
	x3, y3 := at(after, p.Sum)
	if p.Idle>>lane&1 == 1 {
		golden.Equal(t, "idle lane", [2]string{x1.String(), y1.String()}, [2]string{x3.String(), y3.String()})
		return
	}
	r := f.Represent(big.NewInt(1))
	numerator, denominator := new(big.Int).Sub(y2, y1), new(big.Int).Sub(x2, x1)
	if rule == Tangent {
		x2 = x1
		numerator.Mul(x1, x1).Mul(numerator, big.NewInt(3)).Mul(numerator, new(big.Int).ModInverse(r, f.p))
		denominator.Lsh(y1, 1)
	}
	// slope is λ; coordinates are R times what they stand for.
	slope := denominator.ModInverse(denominator.Mod(denominator, f.p), f.p)
	slope.Mul(slope, numerator)
	x := new(big.Int).Mul(slope, slope)
	x.Mul(x, r).Sub(x, x1).Sub(x, x2).Mod(x, f.p)
	y := new(big.Int).Sub(x1, x)
	y.Mul(y, slope).Sub(y, y1).Mod(y, f.p)
	bound := f.times(11)
	if x3.Cmp(bound) >= 0 || y3.Cmp(bound) >= 0 {
		t.Fatalf("sum beyond 1.1 p: %v, %v", x3, y3)
	}
	golden.Equal(t, "sum", [2]string{x.String(), y.String()}, [2]string{x3.Mod(x3, f.p).String(), y3.Mod(y3, f.p).String()})
}

// TestNoSum: a pair of equal x has no chord, a point with y = 0 no tangent, and nothing changes.
func TestNoSum(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *Field) {
		rng := source()
		for trial := range 20 {
			points := f.points(rng, 6)
			lane, rule := rng.IntN(Width), Rule(trial%2)
			pairs := PadPairs([]Pair{{A: 0, B: 3, Sum: 0}, {A: 1, B: 4, Sum: 1}, {A: 2, B: 5, Sum: 2}})
			place := rng.IntN(3)
			a, b := points[place*f.PlaceWords():], points[(place+3)*f.PlaceWords():]
			if rule == Chord {
				x := below(rng, f.times(1))
				f.put(a, lane, x)
				f.put(b, lane, new(big.Int).Add(x, new(big.Int).Mul(f.p, big.NewInt(int64(rng.IntN(2))))))
			} else {
				f.put(a[f.Block():], lane, new(big.Int))
			}
			before := append([]uint64(nil), points...)
			if f.Add(new(Adder), rule, points, pairs, f.invert) {
				t.Fatal("a sum of no slope")
			}
			golden.Equal(t, "points", before, points)
			pairs[place].Idle = 1 << lane
			golden.Equal(t, "without that lane", true, f.Add(new(Adder), rule, points, pairs, f.invert))
		}
	})
}

// TestEntries: entries gathered and packed are the same, or negated.
func TestEntries(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *Field) {
		rng := source()
		const n = 64
		entries := aligned(n * 2 * f.words)
		for i := range 2 * n {
			copy(entries[i*f.words:], f.toWords(below(rng, f.times(10))))
		}
		picks := make([]uint32, 40)
		for i := range picks {
			picks[i] = rng.Uint32N(n) | rng.Uint32N(2)*Negated
		}
		points := aligned(len(picks) / Width * f.PlaceWords())
		f.Gather(points, unsafe.SliceData(entries), picks)
		got := aligned(len(picks) * 2 * f.words)
		f.Pack(unsafe.SliceData(got), points)
		for i, pick := range picks {
			e := append([]uint64(nil), f.entry(unsafe.SliceData(entries), int(pick&^Negated))...)
			if pick&Negated != 0 {
				y := new(big.Int)
				for k := f.words - 1; k >= 0; k-- {
					y.Lsh(y, 64).Or(y, new(big.Int).SetUint64(e[f.words+k]))
				}
				copy(e[f.words:], f.toWords(y.Mod(y.Neg(y), f.p)))
			}
			golden.Equal(t, "entry", e, f.entry(unsafe.SliceData(got), i))
		}
	})
}

// TestPower: x^e for exponents of all lengths, among them (p-1)/2 and p-2.
func TestPower(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *Field) {
		rng := source()
		exponents := []*big.Int{big.NewInt(1), big.NewInt(16), new(big.Int).Rsh(f.p, 1), new(big.Int).Sub(f.p, big.NewInt(2))}
		r := f.Represent(big.NewInt(1))
		inverse := new(big.Int).ModInverse(r, f.p)
		for _, e := range exponents {
			x, z := aligned(f.Block()), aligned(f.Block())
			for k := range Width {
				f.put(x, k, below(rng, f.times(40)))
			}
			f.Power(z, x, NewExponent(e), make([]uint64, PowerWords(len(x))))
			for k := range Width {
				want := new(big.Int).Mul(f.get(x, k), inverse)
				want.Exp(want.Mod(want, f.p), e, f.p).Mul(want, r).Mod(want, f.p)
				got := f.get(z, k)
				golden.Equal(t, "power", want.String(), got.Mod(got, f.p).String())
			}
		}
	})
}
