package stark

import (
	"context"
	"math/bits"
	"slices"

	"github.com/zkbench/zkbench/executor"
)

// shape says how a table's columns of one kind are laid out: they have 2^rows rows and are stacked 2^stack at
// a time.
//
// The columns f_0, f_1, ... of a stack form the one polynomial Σ X^e(i) f_i(X^k), with k = 2^stack and e(i)
// the number i with its bits reversed. The coefficients of a stack, in bit-reversed order, are then those of
// its columns one after the other. Missing columns are zeros.
type shape struct{ rows, stack, width int }

// stacks returns the number of stacks.
func (s shape) stacks() int { return (s.width + 1<<s.stack - 1) >> s.stack }

// slots returns the logarithm of how many positions of a stack, from the first on, can have columns at all.
// So a stack that is much higher than a table is wide costs no more than the table's width.
func (s shape) slots() int { return min(s.stack, bits.Len(uint(max(1, s.width)-1))) }

// powers returns x^e(i) for the first 2^slots positions of stacks of 2^stack.
func powers[E interface{ Mul(E) E }](one, x E, stack, slots int) []E {
	return reversedPowers(slots, one, squares(x, stack-slots))
}

// squares returns x^(2^n).
func squares[E interface{ Mul(E) E }](x E, n int) E {
	for range n {
		x = x.Mul(x)
	}
	return x
}

// members returns the range of columns of a stack.
func (s shape) members(stack int) (from, to int) {
	return stack << s.stack, min((stack+1)<<s.stack, s.width)
}

// extended holds columns on cosets: 2^rows values for each column on each coset that is in memory. What else is
// in memory is the holding's.
type extended[E any] struct {
	shape
	cosets       [][][]E // nil for cosets that are not in memory
	coefficients [][]E   // for each column, in bit-reversed order; only if they are held
	movable      int     // the coset whose memory can take another one, or -1
	few          [][]E   // in zero knowledge, for each column, its values at few points
}

// holding says what a proof holds of its columns. The less it holds, the more often it computes cosets: each one
// when it is hashed, when quotients and values are computed, and when positions on it are opened.
type holding int

const (
	holdAll          holding = iota // all cosets
	holdCoefficients                // the coefficients, and one coset that is computed from them
	holdOne                         // one coset at a time, from which the next one is computed in the same memory
)

// values returns how many values are held of each cell, if there are so many cosets.
func (h holding) values(cosets int) int {
	return [...]int{holdAll: cosets, holdCoefficients: 2, holdOne: 1}[h]
}

// shared returns a copy for one proof, which computes cosets of the columns that several proofs share.
func (x *extended[E]) shared() *extended[E] {
	if x == nil {
		return nil
	}
	own := *x
	own.cosets, own.movable = slices.Clone(x.cosets), -1
	return &own
}

func (x *extended[E]) column(coset, i int) []E { return x.cosets[coset][i] }

// extend extends columns to all cosets, or to the first one if not all are held. If values is set, columns holds
// values, which are interpolated first; otherwise it holds coefficients. extend takes over the memory of columns.
func (p *points[E, X]) extend(ctx context.Context, ex executor.Executor, s shape, columns [][]E, values bool, held holding) (*extended[E], error) {
	t, err := p.transform(s.rows)
	if err != nil {
		return nil, err
	}
	x := &extended[E]{shape: s, cosets: make([][][]E, len(p.shifts))}
	scales := make([][]E, 1)
	if held == holdAll {
		scales = make([][]E, len(p.shifts))
	}
	if held == holdCoefficients {
		x.coefficients = columns
	}
	for c := range scales {
		scales[c] = p.scale(c, s.rows)
		if c == 0 && x.coefficients == nil {
			x.cosets[c] = columns
			continue
		}
		if x.cosets[c], err = p.memory.columns(ctx, ex, s.width, 1<<s.rows); err != nil {
			return nil, err
		}
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
		for c := len(scales) - 1; c >= 0; c-- { // coset 0 last, because its memory may hold the coefficients
			dst := x.column(c, i)
			p.field.Mul(dst, columns[i], scales[c])
			t.Evaluate(dst)
		}
		return nil
	})
	return x, err
}

// scale returns the factors of coefficients, in bit-reversed order, for coset c.
func (p *points[E, X]) scale(c, rows int) []E {
	if scale := p.scales[c][rows]; scale != nil {
		return scale
	}
	return scaleOf(p.field, rows, p.shift(c, rows))
}

// bring computes coset c of columns if it is not in memory. It may replace another coset.
func (p *points[E, X]) bring(ctx context.Context, ex executor.Executor, x *extended[E], c int) error {
	if x == nil || x.width == 0 || x.cosets[c] != nil {
		return nil
	}
	t, err := p.transform(x.rows)
	if err != nil {
		return err
	}
	from, scale := x.coefficients, []E(nil)
	if from != nil {
		scale = p.scale(c, x.rows)
	} else {
		scale = scaleOf(p.field, x.rows, p.shift(c, x.rows).Mul(p.shift(x.movable, x.rows).Inverse()))
	}
	var to [][]E
	if x.movable >= 0 {
		to, x.cosets[x.movable] = x.cosets[x.movable], nil
	} else if to, err = p.memory.columns(ctx, ex, x.width, 1<<x.rows); err != nil {
		return err
	}
	x.cosets[c], x.movable = to, c
	return ex.Do(ctx, x.width, func(_ context.Context, i int) error {
		coefficients := to[i]
		if from != nil {
			coefficients = from[i]
		} else {
			t.Interpolate(coefficients)
		}
		p.field.Mul(to[i], coefficients, scale)
		t.Evaluate(to[i])
		return nil
	})
}

// stack sets the part of dst that comes from the rows from lo to hi to the values of a stack on coset c. zeros must
// be at least that long.
func (p *points[E, X]) stack(dst []E, x *extended[E], stack, c, lo, hi int, zeros []E) {
	parts := cut(dst, 1<<x.rows)
	for i := range parts {
		parts[i] = parts[i][lo:hi]
	}
	p.joining(x.shape.stack, c, x.rows, lo, hi-lo).join(parts, x.parts(make([][]E, 0, len(parts)), stack, c, lo, hi, zeros))
}

// parts appends the values of a stack's columns on coset c in the rows from lo to hi. Missing columns are
// zeros, and zeros must be at least that long.
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

// cut splits a vector into pieces of n elements.
func cut[E any](v []E, n int) [][]E {
	pieces := make([][]E, 0, (len(v)+n-1)/n)
	for i := 0; i < len(v); i += n {
		pieces = append(pieces, v[i:i+n])
	}
	return pieces
}

// joining computes values of one polynomial from those of 2^s polynomials of degree below 2^rows on coset c,
// from row lo on. The coefficients of the one polynomial are those of the others, one after the other. Part m
// of the result is at the points from m 2^rows + lo on.
//
// These are the last layers of a transform whose first layers are the polynomials' own: with f = E(X²) + X
// O(X²), the values at x and -x are E(x²) ± x O(x²).
type joining[E any] struct {
	butterflies func(dst, src, w [][]E)
	passes      [][]butterflies[E]
	src, dst    [][]E
}

// butterflies combines vectors that are stride apart. It starts at each index that is first modulo the
// distance that they all span.
type butterflies[E any] struct {
	first, stride, layers int
	w                     [][]E
}

// joining returns the joining of 2^s polynomials in size rows.
func (p *points[E, X]) joining(s, c, rows, lo, size int) *joining[E] {
	j := &joining[E]{butterflies: p.field.Butterflies}
	n := 1 << rows
	for done := 0; done < s; done += p.field.Layers() {
		layers, stride := min(p.field.Layers(), s-done), 1<<done
		pass := make([]butterflies[E], 0, stride)
		for first := range stride {
			b := butterflies[E]{first, stride, layers, make([][]E, 0, 1<<layers-1)}
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

// join sets the parts of dst from the polynomials' values. dst may be src.
func (j *joining[E]) join(dst, src [][]E) {
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

// opened appends the value of each stack at a position, whose coset must be in memory. x must not be nil.
func (p *points[E, X]) opened(values []E, x *extended[E], place int) []E {
	size := x.rows + x.shape.stack
	c, i := place>>size, place&(1<<x.rows-1)
	weights := powers(p.field.New(1), p.point(place, size), x.shape.stack, x.slots())
	// A loop that only reads waits for many cells at once. Each is in another line of memory.
	row := make([]E, x.width)
	for j, column := range x.cosets[c] {
		row[j] = column[i]
	}
	for s := range x.stacks() {
		from, to := x.members(s)
		var value E
		for j, e := range row[from:to] {
			value = value.Add(e.Mul(weights[j]))
		}
		values = append(values, value)
	}
	return values
}

// parted cuts columns into 2^log parts. The positions of a leaf have one part each, and the result has what
// is in each part.
func parted[E any](columns [][]E, log int) (parts [][]E) {
	for part := range 1 << log {
		for _, c := range columns {
			n := len(c) >> log
			parts = append(parts, c[part*n:][:n])
		}
	}
	return parts
}

// placesOf returns the positions that share a leaf, for cosets of 2^size positions and 2^leaves leaves.
func placesOf(leaf, size, leaves int) (places []int) {
	c, i := leaf>>leaves, leaf&(1<<leaves-1)
	for part := range 1 << (size - leaves) {
		places = append(places, c<<size|part<<leaves|i)
	}
	return places
}
