package group

import (
	"math/big"
	"sync"

	"github.com/zkbench/zkbench/group/internal/integer"
	"github.com/zkbench/zkbench/internal/arith/vec52"
)

// constantWide computes sums over fixed points of secret scalars in SIMD vectors. It takes eight
// points at a time and digits of five bits, reads all sixteen multiples, keeps one by masks, and
// adds it by complete formulas. The sequence of instructions and addresses depends only on lengths:
// the kernels have no branch, and the Go code around them branches on nothing else.
type constantWide[S scalarElement, E comparable, PE elementPtr[E]] struct {
	*radix52[E, PE]
	order    *vec52.Field
	integers []uint64 // 2^52·limbs/2^256 in every lane: its product with a scalar is the scalar's integer
	digits   int
	table    []uint64 // for each eight points, one after the other, the vectors of their multiples
	inverse  vec52.Exponent
	scratch  sync.Pool // *secretScratch
}

// secretScratch holds secrets. It is wiped after each call.
type secretScratch struct {
	digits              []int64 // by window, then point
	place, sums, turned []uint64
	recoded             []int16
}

const (
	secretWindow = 5 // digits of -16 to 16
	secretPlaces = vec52.Choices
)

func newConstantWide[S scalarElement, E comparable, PE elementPtr[E]](form *radix52[E, PE], p, order *big.Int, t *fixedPoints[E, PE]) *constantWide[S, E, PE] {
	groups := (t.n + vec52.Width - 1) / vec52.Width
	c := &constantWide[S, E, PE]{
		radix52: form,
		order:   form.field.WithModulus(order),
		digits:  integer.Digits(order.BitLen(), secretWindow),
		inverse: vec52.NewExponent(new(big.Int).Sub(p, big.NewInt(2))),
		table:   vec52.Resize(nil, groups*secretPlaces*form.field.PlaceWords()),
	}
	c.scratch.New = func() any { return new(secretScratch) }
	r := c.order.Represent(big.NewInt(1))
	s := new(big.Int).ModInverse(new(big.Int).Lsh(big.NewInt(1), 256), order)
	c.integers = c.order.Constant(s.Mul(s, r).Mod(s, order))

	multiples := make([]affine[E], secretPlaces*t.n)
	for i := range t.n {
		multiples[i] = t.multiples[i*t.Positions<<(t.Window-1)] // the point itself
	}
	sc := t.sums.newScratch()
	sc.tree.extendMultiples(multiples, t.n)
	picks := make([]uint32, groups*secretPlaces*vec52.Width)
	for at := range picks {
		g, m, lane := at/vec52.Width/secretPlaces, at/vec52.Width%secretPlaces, at%vec52.Width
		picks[at] = uint32(m*t.n + min(g*vec52.Width+lane, t.n-1)) // digits beyond the last point are 0
	}
	form.field.Gather(c.table, firstWord(multiples), picks)
	return c
}

// sum sets dst[j] to Σ scalars[j][i]·point i.
func (c *constantWide[S, E, PE]) sum(dst []affine[E], scalars [][]S) {
	f := c.field
	sc := c.scratch.Get().(*secretScratch)
	defer c.scratch.Put(sc)
	size := f.ProjectiveWords()
	results := vec52.Resize(sc.sums, (len(dst)+vec52.Width-1)/vec52.Width*size)
	sc.sums = results
	f.SetIdentities(results)
	sc.turned = vec52.Resize(sc.turned, 2*size)
	acc, turned := sc.turned[:size], sc.turned[size:]
	for j, v := range scalars {
		width := (len(v) + vec52.Width - 1) / vec52.Width * vec52.Width
		c.recode(sc, v, width)
		f.SetIdentities(acc)
		for w := c.digits - 1; w >= 0; w-- {
			if w < c.digits-1 {
				f.Double(acc, secretWindow)
			}
			f.AddSelected(acc, c.table[:width*secretPlaces/vec52.Width*f.PlaceWords()], sc.digits[w*width:(w+1)*width])
		}
		// The sum of all lanes in each.
		for step := range 3 {
			for i := range acc {
				turned[i] = acc[i^1<<step]
			}
			f.AddProjective(acc, turned)
		}
		place, lane := results[j/vec52.Width*size:], j%vec52.Width
		for at := 0; at < size; at += vec52.Width {
			place[at+lane] = acc[at+lane]
		}
	}
	c.toAffine(dst, results)
	clear(sc.digits)
	clear(acc)
	clear(turned)
	clear(results)
}

// recode sets sc.digits to the digits of scalars.
func (c *constantWide[S, E, PE]) recode(sc *secretScratch, v []S, width int) {
	f := c.order
	sc.digits = resize(sc.digits, c.digits*width)
	sc.recoded = resize(sc.recoded, c.digits)
	sc.place = vec52.Resize(sc.place, f.Block())
	for first := 0; first < width; first += vec52.Width {
		clear(sc.place)
		for i := range min(vec52.Width, len(v)-first) {
			f.Set(sc.place, i, wordsOf(&v[first+i]))
		}
		f.Mul(sc.place, sc.place, c.integers)
		for lane := range vec52.Width {
			var k integer.Limbs
			f.Get(k[:], sc.place, lane)
			integer.Recode(sc.recoded, 1, &k, secretWindow)
			for w, d := range sc.recoded {
				sc.digits[w*width+first+lane] = int64(d)
			}
		}
	}
	clear(sc.place)
	clear(sc.recoded)
}

// toAffine sets dst to projective points: x = X/Z and y = Y/Z, or (0, 0) if Z = 0.
func (c *constantWide[S, E, PE]) toAffine(dst []affine[E], points []uint64) {
	f := c.field
	b, size := f.Block(), f.ProjectiveWords()
	z, power := vec52.Resize(nil, b), make([]uint64, vec52.PowerWords(b))
	for at := 0; at < len(points); at += size {
		f.Power(z, points[at+2*b:at+3*b], c.inverse, power)
		x, y := points[at:at+b], points[at+b:at+2*b]
		f.Mul(x, x, z)
		f.Mul(y, y, z)
		first := at / size * vec52.Width
		for lane := range min(vec52.Width, len(dst)-first) {
			p := &dst[first+lane]
			f.Get(wordsOf(&p.X), x, lane)
			f.Get(wordsOf(&p.Y), y, lane)
			c.fromEntry(p)
		}
	}
	clear(z)
	clear(power)
}
