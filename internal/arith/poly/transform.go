package poly

import (
	"context"
	"math/bits"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/arith/vec52"
)

// transform transforms v, from one order to the other. From natural order it goes level by level, and each level
// splits parts into halves. From reversed order it does the same levels backwards.
func (d *Domain) transform(ctx context.Context, ex executor.Executor, v Vector, from Order, t *tables) error {
	switch {
	case d.form.inLanes(d.n):
		x := &wide{d.form.field, t, v.words}
		return walk(ctx, ex, x, part{0, d.n / vec52.Width, 0}, from)
	case d.form.field != nil: // too short for lanes
		x := v.Elements()
		narrow{t, x}.whole(part{0, d.n, 0}, from)
		v.Set(x)
		return nil
	}
	return walk(ctx, ex, narrow{t, v.plain}, part{0, d.n, 0}, from)
}

// part is part number b of those into which a level splits a vector: a range of its units.
type part struct{ at, length, b int }

// child returns part number i of those into which the given number of levels split p.
func (p part) child(levels, i int) part {
	length := p.length >> levels
	return part{p.at + i*length, length, p.b<<levels + i}
}

func (p part) log() int { return bits.Len(uint(p.length)) - 1 }

// splitter does levels of a transform on a vector of units.
type splitter interface {
	// levels does the first n levels of a part, on columns lo to hi-1. A column has the units at one index of
	// each part that the last of these levels makes.
	levels(p part, n, lo, hi int, from Order)
	// whole does all levels of a part.
	whole(p part, from Order)
	// shape returns the logarithm of how many units fit in the second-level cache, how many levels may be done
	// at once by columns, and on how many columns.
	shape() (cached, levels, columns int)
}

// smallPart is by how many levels the parts of the first split, and its pieces of columns, are smaller than what fits
// in the second-level cache. A transform of 2^16 elements takes about a millisecond, and has 32 parts.
const smallPart = 2

// walk does all levels of a part: the first ones by columns, then those of the parts into which these split it. How
// the work is cut depends only on the length, so that the pieces are the same on any number of processors.
func walk(ctx context.Context, ex executor.Executor, x splitter, p part, from Order) error {
	cached, most, columns := x.shape()
	log := p.log()
	if log <= cached {
		x.whole(p, from)
		return context.Cause(ctx)
	}
	n := min(log-cached+smallPart, most)
	if (log-n)%2 != cached%2 { // so that pairs of levels are left
		n--
	}
	tiles := max(1, p.length>>n/columns)
	columns = p.length >> n / tiles
	pieces := min(tiles, p.length>>(cached-smallPart))
	first := phase{pieces, func(_ context.Context, i int) error {
		for at := i * tiles / pieces; at < (i+1)*tiles/pieces; at++ {
			x.levels(p, n, at*columns, (at+1)*columns, from)
		}
		return nil
	}}
	rest := phase{1 << n, func(ctx context.Context, i int) error {
		return walk(ctx, ex, x, p.child(n, i), from)
	}}
	if from == BitReversed {
		first, rest = rest, first
	}
	return inTurn(ctx, ex, first, rest)
}

// phase is work in n pieces.
type phase struct {
	n  int
	do func(ctx context.Context, i int) error
}

// inTurn does one phase after the other. A phase begins when the one before has ended.
func inTurn(ctx context.Context, ex executor.Executor, phases ...phase) error {
	for _, p := range phases {
		if err := ex.Do(ctx, p.n, p.do); err != nil {
			return err
		}
	}
	return nil
}

// wide has units of eight elements. It needs fewer than the n log n / 2 products of n elements: the first two
// levels, whose roots are 1, 1 and i, take one for every four elements, and the first one takes none if the number
// of levels is odd.
type wide struct {
	field *vec52.Field
	t     *tables
	words []uint64
}

// The second-level cache holds 2^10 units, 320 KiB, and the first-level cache 2^6. With 16 columns, a tile of 2^5
// rows is half as large as the second-level cache.
func (x *wide) shape() (cached, levels, columns int) { return 10, 5, 16 }

const firstCache = 6

func (x *wide) row(b int) []uint64 { return x.t.rows[b*x.field.RowWords():] }

// A pass does two levels, or one, over count parts of four or two rows of stride units.
type pass struct{ rows, stride, count int }

// passes returns the passes for the first levels of a part. Their number is odd only if these are all levels.
func passes(buffer []pass, length, levels int) []pass {
	stride, count := length, 1
	if levels%2 == 1 {
		stride /= 2
		buffer = append(buffer, pass{2, stride, count})
		count = 2
	}
	for range levels / 2 {
		stride /= 4
		buffer = append(buffer, pass{4, stride, count})
		count *= 4
	}
	return buffer
}

// inOrder calls do with 0 to n-1, or from n-1 down to 0 if from is BitReversed.
func inOrder(n int, from Order, do func(i int)) {
	for i := range n {
		if from == BitReversed {
			i = n - 1 - i
		}
		do(i)
	}
}

func direction(from Order) vec52.Direction {
	if from == Natural {
		return vec52.ToReversed
	}
	return vec52.FromReversed
}

func (x *wide) levels(p part, n, lo, hi int, from Order) {
	var buffer [4]pass
	all := passes(buffer[:0], p.length, n)
	inOrder(len(all), from, func(i int) {
		for k := range all[i].count {
			for c := lo; c < all[i].stride; c += p.length >> n {
				x.pass(p, all[i], k, c, hi-lo, 1, from)
			}
		}
	})
}

// pass does a pass on columns from c on, of its k-th part and of those after it.
func (x *wide) pass(p part, s pass, k, c, columns, parts int, from Order) {
	words := x.words[(p.at+s.rows*s.stride*k+c)*x.field.Block():]
	switch first := p.length*x.field.Block() == len(x.words) && s.count == 1; {
	case s.rows == 2:
		x.field.TwoOfAll(words, s.stride, columns)
	case first:
		x.field.FourOfAll(direction(from), words, s.stride, columns, x.row(0))
	default:
		x.field.Four(direction(from), words, s.stride, columns, parts, x.row(p.b*s.count+k))
	}
}

func (x *wide) whole(p part, from Order) {
	log := p.log()
	if log > firstCache {
		n := 2 - log%2
		inOrder(2, from, func(i int) {
			if i == 0 {
				x.levels(p, n, 0, p.length>>n, from)
				return
			}
			for i := range 1 << n {
				x.whole(p.child(n, i), from)
			}
		})
		return
	}
	var buffer [4]pass
	all := passes(buffer[:0], p.length, log)
	inOrder(len(all)+1, from, func(i int) {
		if i < len(all) {
			x.pass(p, all[i], 0, 0, all[i].stride, all[i].count, from)
			return
		}
		words := x.words[p.at*x.field.Block():][:p.length*x.field.Block()]
		x.field.Eight(direction(from), words, x.t.eight[p.at/vec52.Width*x.field.EightWords():])
	})
}

// narrow has units of one element.
type narrow struct {
	t *tables
	x fr.Vector
}

func (x narrow) shape() (cached, levels, columns int) { return 12, 4, 1 << 8 }

func (x narrow) levels(p part, n, lo, hi int, from Order) {
	inOrder(n, from, func(i int) {
		half := p.length >> (i + 1)
		for k := range 1 << i {
			for c := lo; c < half; c += p.length >> n {
				at := p.at + 2*half*k + c
				x.butterflies(at, at+half, hi-lo, p.b<<i+k, from)
			}
		}
	})
}

func (x narrow) whole(p part, from Order) {
	inOrder(p.log(), from, func(i int) {
		half := p.length >> (i + 1)
		for k := range 1 << i {
			at := p.at + 2*half*k
			x.butterflies(at, at+half, half, p.b<<i+k, from)
		}
	})
}

// butterflies does n butterflies of part b.
func (x narrow) butterflies(first, second, n, b int, from Order) {
	u, v, z := x.x[first:first+n], x.x[second:second+n], &x.t.roots[b]
	if from == Natural {
		multiply(v, z)
	}
	for i := range u {
		fr.Butterfly(&u[i], &v[i])
	}
	if from == BitReversed {
		multiply(v, z)
	}
}

// multiply multiplies v by a root. A call for the whole vector pays from about eight elements on.
func multiply(v fr.Vector, z *fr.Element) {
	switch {
	case z.IsOne():
	case len(v) > vec52.Width:
		v.ScalarMul(v, z)
	default:
		for i := range v {
			v[i].Mul(&v[i], z)
		}
	}
}
