package vec52

import (
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
	"unsafe"

	"github.com/zkbench/zkbench/internal/testing/golden"
)

// projectives are places of projective points of random coordinates, on no curve: the formulas
// are polynomials.
func (f *Field) projectives(rng *rand.Rand, n int) []uint64 {
	v := aligned(n * f.ProjectiveWords())
	for i := range 3 * n {
		for k := range Width {
			f.put(v[i*f.Block():], k, below(rng, f.times(11)))
		}
	}
	return v
}

// TestComplete holds the complete formulas to their polynomials in integers, and the kernels to
// the portable form limb by limb.
func TestComplete(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *Field) {
		rng := source()
		twin := New(f.p, f.b, Portable)
		inverse := new(big.Int).ModInverse(f.Represent(big.NewInt(1)), f.p)
		coordinates := func(v []uint64, place, lane int) (c [3]*big.Int) {
			for i := range c {
				c[i] = f.get(v[place*f.ProjectiveWords()+i*f.Block():], lane)
			}
			return c
		}
		check := func(what string, want, got [3]*big.Int) {
			t.Helper()
			for i := range got {
				if got[i].Cmp(f.times(11)) >= 0 {
					t.Fatalf("%s: coordinate %d beyond 1.1 p: %v", what, i, got[i])
				}
				golden.Equal(t, what, want[i].String(), got[i].Mod(got[i], f.p).String())
			}
		}
		const n = 20
		sums, others := f.projectives(rng, n), f.projectives(rng, n)
		same, before := slices.Clone(sums), slices.Clone(sums)
		f.AddProjective(sums, others)
		twin.AddProjective(same, others)
		golden.Equal(t, "limbs of sums", same, sums)
		for place := range n {
			for lane := range Width {
				want := f.completeSum(inverse, coordinates(before, place, lane), coordinates(others, place, lane))
				check("sum", want, coordinates(sums, place, lane))
			}
		}
		for place := range n {
			at := place * f.ProjectiveWords()
			one := before[at : at+f.ProjectiveWords()]
			got, same := slices.Clone(one), slices.Clone(one)
			f.Double(got, 3)
			twin.Double(same, 3)
			golden.Equal(t, "limbs of doubles", same, got)
			copy(got, one)
			f.Double(got, 1)
			for lane := range Width {
				check("double", f.completeDouble(inverse, coordinates(one, 0, lane)), coordinates(got, 0, lane))
			}
		}
	})
}

// completeSum and completeDouble are the formulas of Renes, Costello and Batina (2015/1060) for
// a = 0 before any product is shared, on R times what coordinates stand for.
func (f *Field) completeSum(inverse *big.Int, p, q [3]*big.Int) [3]*big.Int {
	m := func(x ...*big.Int) *big.Int { return f.montgomery(inverse, x...) }
	b3 := 3 * int64(f.b)
	xy := f.combine(1, m(p[0], q[1]), 1, m(q[0], p[1]))
	yz := f.combine(1, m(p[1], q[2]), 1, m(q[1], p[2]))
	xz := f.combine(1, m(p[0], q[2]), 1, m(q[0], p[2]))
	xx, yy, zz := m(p[0], q[0]), m(p[1], q[1]), m(p[2], q[2])
	less, more := f.combine(1, yy, -b3, zz), f.combine(1, yy, b3, zz)
	return [3]*big.Int{
		f.combine(1, m(xy, less), -b3, m(yz, xz)),
		f.combine(1, m(more, less), 3*b3, m(xx, xz)),
		f.combine(1, m(yz, more), 3, m(xx, xy)),
	}
}

func (f *Field) completeDouble(inverse *big.Int, p [3]*big.Int) [3]*big.Int {
	m := func(x ...*big.Int) *big.Int { return f.montgomery(inverse, x...) }
	b3 := 3 * int64(f.b)
	yy, zz := m(p[1], p[1]), m(p[2], p[2])
	less, more := f.combine(1, yy, -3*b3, zz), f.combine(1, yy, b3, zz)
	return [3]*big.Int{
		f.combine(2, m(p[0], p[1], less), 0, zz),
		f.combine(1, m(less, more), 8*b3, m(yy, zz)),
		f.combine(8, m(yy, p[1], p[2]), 0, zz),
	}
}

// combine is i x + j y.
func (f *Field) combine(i int64, x *big.Int, j int64, y *big.Int) *big.Int {
	z := new(big.Int).Mul(big.NewInt(i), x)
	z.Add(z, new(big.Int).Mul(big.NewInt(j), y))
	return z.Mod(z, f.p)
}

// montgomery is the product of x over R to one less than their number.
func (f *Field) montgomery(inverse *big.Int, x ...*big.Int) *big.Int {
	z := new(big.Int).Set(x[0])
	for _, v := range x[1:] {
		z.Mul(z, v).Mul(z, inverse).Mod(z, f.p)
	}
	return z
}

// TestSelected: every digit's multiple is added, and none for 0.
func TestSelected(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, f *Field) {
		rng := source()
		const n = 5
		entries := aligned(n * Choices * Width * 2 * f.words)
		f.Pack(unsafe.SliceData(entries), f.points(rng, n*Choices))
		picks := make([]uint32, n*Choices*Width)
		for i := range picks {
			picks[i] = uint32(i)
		}
		table := aligned(n * Choices * f.PlaceWords())
		f.Gather(table, unsafe.SliceData(entries), picks)
		for trial := range 20 {
			digits := make([]int64, n*Width)
			for i := range digits {
				digits[i] = rng.Int64N(2*Choices+1) - Choices
				if trial < 3 {
					digits[i] = int64(trial-1) * Choices
				}
			}
			sum := f.projectives(rng, 1)
			want := slices.Clone(sum)
			f.AddSelected(sum, table, digits)
			for g := range n {
				other := aligned(f.ProjectiveWords())
				f.SetIdentities(other)
				for lane, d := range digits[g*Width : (g+1)*Width] {
					if d == 0 {
						continue
					}
					at := (g*Choices + int(max(d, -d)) - 1) * f.PlaceWords()
					q := projective{z: f.one()}
					f.load(&q.x, table[at:], lane)
					f.load(&q.y, table[at+f.Block():], lane)
					if d < 0 {
						q.y = f.carried(f.minus(f.multiple(1), q.y))
					}
					f.storeProjective(&q, other, lane)
				}
				f.AddProjective(want, other)
			}
			golden.Equal(t, "sum", want, sum)
		}
	})
}
