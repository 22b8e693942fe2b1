package stark

import (
	"context"
	"math/bits"
	"slices"

	"github.com/zkbench/zkbench/executor"
)

// shape is how a table's columns of one kind lie: 2^rows rows, stacked 2^stack at a time.
//
// Columns f_0, f_1, ... of a stack are the one polynomial Σ X^e(i) f_i(X^k), k = 2^stack, where
// e(i) is i with its bits in reversed order: the coefficients of a stack are then its columns' one
// behind the other, all in reversed order. Where columns are missing there are zeros.
type shape struct{ rows, stack, width int }

// stacks is how many there are.
func (s shape) stacks() int { return (s.width + 1<<s.stack - 1) >> s.stack }

// slots is the logarithm of how many places of a stack, the first ones, can have columns at all: a
// stack that is far higher than a table is wide costs no more than that.
func (s shape) slots() int { return min(s.stack, bits.Len(uint(max(1, s.width)-1))) }

// powers are x^e(i) for the first 2^slots places of stacks of 2^stack.
func powers[E interface{ Mul(E) E }](one, x E, stack, slots int) []E {
	return reversedPowers(slots, one, squares(x, stack-slots))
}

// squares is x^(2^n).
func squares[E interface{ Mul(E) E }](x E, n int) E {
	for range n {
		x = x.Mul(x)
	}
	return x
}

// members are the columns of a stack.
func (s shape) members(stack int) (from, to int) {
	return stack << s.stack, min((stack+1)<<s.stack, s.width)
}

// extended is columns on cosets: of each of those that are kept, of each column, 2^rows values. Of cosets that take much memory
// the first one is; others are made where they are hashed, where a quotient is computed, and where places on them are shown.
type extended[E any] struct {
	shape
	cosets       [][][]E // nil those that are not kept
	coefficients [][]E   // of each column, in reversed order; nil where all cosets are kept
	few          [][]E   // in zero knowledge, of each column its values at few points
}

// shared is columns of several proofs, for one that makes cosets of them.
func (x *extended[E]) shared() *extended[E] {
	if x == nil {
		return nil
	}
	own := *x
	own.cosets = slices.Clone(x.cosets)
	return &own
}

func (x *extended[E]) column(coset, i int) []E { return x.cosets[coset][i] }

// extend extends columns, given by coefficients, or by values where these are to be interpolated, to the first
// cosets, so many, and keeps them: the columns' memory holds the coefficients, or the first coset if all are kept.
func (p *points[E, X]) extend(ctx context.Context, ex executor.Executor, s shape, columns [][]E, values bool, kept int) (*extended[E], error) {
	t, err := p.field.Transform(s.rows)
	if err != nil {
		return nil, err
	}
	x := &extended[E]{shape: s, cosets: make([][][]E, len(p.shifts))}
	if kept < len(p.shifts) {
		x.coefficients = columns
	}
	scales := make([][]E, kept)
	for c := range scales {
		scales[c] = p.scale(c, s.rows)
		if c == 0 && x.coefficients == nil {
			x.cosets[c] = columns
			continue
		}
		x.cosets[c] = p.memory.columns(s.width, 1<<s.rows)
	}
	if values && p.few != nil {
		x.few = make([][]E, s.width)
	}
	err = ex.Do(ctx, s.width, func(_ context.Context, i int) error {
		if values {
			t.Interpolate(columns[i])
		}
		if x.few != nil {
			x.few[i] = p.few[s.rows].both(columns[i])
		}
		for c := len(scales) - 1; c >= 0; c-- { // the first one last, where the coefficients may be
			dst := x.column(c, i)
			p.field.Mul(dst, columns[i], scales[c])
			t.Evaluate(dst)
		}
		return nil
	})
	return x, err
}

// scale is what coefficients, in reversed order, are multiplied by for coset c.
func (p *points[E, X]) scale(c, rows int) []E {
	return reversedPowers(rows, p.field.New(1), p.shift(c, rows))
}

// lent is columns on a coset that is not kept, in memory that the next one takes, and, when it is released, others.
type lent[E any] struct {
	memory[E]
	columns map[*extended[E]][][]E
}

func (p *points[E, X]) lent() *lent[E] {
	return &lent[E]{memory[E]{kept: p.memory.kept}, make(map[*extended[E]][][]E)}
}

// lend makes coset c of columns if it is not kept; until it is taken back it is as if it were.
func (p *points[E, X]) lend(ctx context.Context, ex executor.Executor, memory *lent[E], x *extended[E], c int) (takeBack func(), err error) {
	if x == nil || x.width == 0 || x.cosets[c] != nil { // no columns, or kept ones
		return func() {}, nil
	}
	if memory.columns[x] == nil {
		memory.columns[x] = memory.memory.columns(x.width, 1<<x.rows)
	}
	t, err := p.field.Transform(x.rows)
	if err != nil {
		return nil, err
	}
	x.cosets[c] = memory.columns[x]
	scale := p.scale(c, x.rows)
	err = ex.Do(ctx, x.width, func(_ context.Context, i int) error {
		p.field.Mul(x.column(c, i), x.coefficients[i], scale)
		t.Evaluate(x.column(c, i))
		return nil
	})
	return func() { x.cosets[c] = nil }, err
}

// stack sets dst to the values of a stack on coset c.
func (p *points[E, X]) stack(dst []E, x *extended[E], stack, c int) {
	n := 1 << x.rows
	p.joining(x.shape.stack, c, x.rows, 0, n).of(cut(dst, n), x.parts(nil, stack, c, 0, n, make([]E, n)))
}

// parts appends the values of a stack's columns on coset c in rows from lo to hi: zeros where columns are
// missing, which are no fewer.
func (x *extended[E]) parts(parts [][]E, stack, c, lo, hi int, zeros []E) [][]E {
	from, to := x.members(stack)
	for i := range 1 << x.shape.stack {
		if from+i < to {
			parts = append(parts, x.column(c, from+i)[lo:hi])
		} else {
			parts = append(parts, zeros[:hi-lo])
		}
	}
	return parts
}

// cut is a vector in pieces of n elements.
func cut[E any](v []E, n int) (pieces [][]E) {
	for i := 0; i < len(v); i += n {
		pieces = append(pieces, v[i:i+n])
	}
	return pieces
}

// joining makes values of 2^s polynomials of degree below 2^rows on coset c, from row lo on, those of the
// one polynomial whose coefficients are theirs one behind the other: part m of what it sets is of the
// points from m 2^rows + lo on.
//
// They are the last layers of the transform whose first ones are those of the polynomials: with
// f = E(X²) + X O(X²), values at x and -x are E(x²) ± x O(x²).
type joining[E any] struct {
	butterflies func(dst, src, w [][]E)
	passes      [][]butterflies[E]
	src, dst    [][]E
}

// butterflies are those on vectors that are stride apart, from each number that is first modulo the
// distance that they all span.
type butterflies[E any] struct {
	first, stride, layers int
	w                     [][]E
}

// joining is that of 2^s polynomials in so many rows.
func (p *points[E, X]) joining(s, c, rows, lo, size int) *joining[E] {
	j := &joining[E]{butterflies: p.field.Butterflies}
	n := 1 << rows
	for done := 0; done < s; done += p.field.Layers() {
		layers, stride := min(p.field.Layers(), s-done), 1<<done
		var pass []butterflies[E]
		for first := range stride {
			b := butterflies[E]{first, stride, layers, nil}
			for layer := range layers {
				half := p.halves[c][rows+done+layer+1]
				for i := range 1 << layer {
					b.w = append(b.w, half[(first+stride*i)*n+lo:][:size])
				}
			}
			pass = append(pass, b)
		}
		j.passes = append(j.passes, pass)
		j.src, j.dst = make([][]E, 1<<p.field.Layers()), make([][]E, 1<<p.field.Layers())
	}
	return j
}

// of sets the parts of dst from the polynomials' values; dst may be src.
func (j *joining[E]) of(dst, src [][]E) {
	if len(j.passes) == 0 {
		copy(dst[0], src[0])
	}
	for _, pass := range j.passes {
		for _, b := range pass {
			n := 1 << b.layers
			for at := b.first; at < len(dst); at += b.stride * n {
				for i := range n {
					j.src[i], j.dst[i] = src[at+i*b.stride], dst[at+i*b.stride]
				}
				j.butterflies(j.dst[:n], j.src[:n], b.w)
			}
		}
		src = dst
	}
}

// opened is the value of each stack at a word's place, whose coset is kept or lent.
func (p *points[E, X]) opened(x *extended[E], place int) []E {
	c, i := place>>p.size, place&(1<<x.rows-1)
	weights := powers(p.field.New(1), p.at(place), x.shape.stack, x.slots())
	row := make([]E, x.stacks())
	for s := range row {
		from, to := x.members(s)
		for j := from; j < to; j++ {
			row[s] = row[s].Add(x.column(c, j)[i].Mul(weights[j-from]))
		}
	}
	return row
}

// parted is columns cut into 2^log parts: of places that have one leaf, a part each, what stands there.
func parted[E any](columns [][]E, log int) (parts [][]E) {
	for part := range 1 << log {
		for _, c := range columns {
			n := len(c) >> log
			parts = append(parts, c[part*n:][:n])
		}
	}
	return parts
}

// placesOf are the places that have a leaf in common, for cosets of 2^size.
func placesOf(leaf, size, log int) (places []int) {
	c, i := leaf>>(size-log), leaf&(1<<(size-log)-1)
	for part := range 1 << log {
		places = append(places, c<<size|part<<(size-log)|i)
	}
	return places
}
