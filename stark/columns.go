package stark

import (
	"context"
	"math/bits"

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

// extended is columns on all cosets: of each coset of each column 2^rows values.
type extended[E any] struct {
	shape
	cosets [][][]E
}

func (x *extended[E]) column(coset, i int) []E { return x.cosets[coset][i] }

// extend extends columns, given by coefficients, or by values where these are to be interpolated. It
// keeps them: their memory holds the first coset.
func (p *points[E, X]) extend(ctx context.Context, ex executor.Executor, s shape, columns [][]E, values bool) (*extended[E], error) {
	t, err := p.field.Transform(s.rows)
	if err != nil {
		return nil, err
	}
	x := &extended[E]{shape: s, cosets: make([][][]E, len(p.shifts))}
	scales := make([][]E, len(p.shifts))
	for c := range p.shifts {
		scales[c] = reversedPowers(s.rows, p.field.New(1), p.shift(c, s.rows))
		if c == 0 {
			x.cosets[c] = columns
			continue
		}
		memory := make([]E, s.width<<s.rows)
		for i := range s.width {
			x.cosets[c] = append(x.cosets[c], memory[i<<s.rows:][:1<<s.rows:1<<s.rows])
		}
	}
	err = ex.Do(ctx, s.width, func(_ context.Context, i int) error {
		if values {
			t.Interpolate(columns[i])
		}
		for c := len(scales) - 1; c >= 0; c-- { // the first one last, where the coefficients are
			dst := x.column(c, i)
			p.field.Mul(dst, columns[i], scales[c])
			t.Evaluate(dst)
		}
		return nil
	})
	return x, err
}

// stack sets dst to the values of a stack on coset c, from those of its columns. scratch is half as
// long as dst.
//
// It is the last layers of the transform whose first ones are those of the columns: with
// f = E(X²) + X O(X²), values at x and -x are E(x²) ± x O(x²).
func (p *points[E, X]) stack(dst []E, x *extended[E], stack, c int, scratch []E) {
	from, to := x.members(stack)
	n := 1 << x.rows
	column := func(i int) []E {
		if from+i >= to {
			return nil
		}
		return x.column(c, from+i)
	}
	if x.shape.stack == 0 {
		copy(dst, column(0))
		return
	}
	half := p.halves[c][x.rows+1]
	for b := 0; b < 1<<x.shape.stack; b += 2 {
		low, high := dst[b*n:][:n], dst[(b+1)*n:][:n]
		even, odd := column(b), column(b+1)
		switch {
		case even == nil:
			clear(low)
			clear(high)
		case odd == nil:
			copy(low, even)
			copy(high, even)
		default:
			t := scratch[:n]
			p.field.Mul(t, odd, half)
			p.field.Add(low, even, t)
			p.field.Sub(high, even, t)
		}
	}
	for layer := 1; layer < x.shape.stack; layer++ {
		p.butterflies(dst, c, x.rows+layer, scratch)
	}
}

// butterflies makes values of polynomials of degree below 2^j, one behind the other, those of pairs
// of them.
func (p *points[E, X]) butterflies(values []E, c, j int, scratch []E) {
	half, n := p.halves[c][j+1], 1<<j
	for b := 0; b < len(values); b += 2 * n {
		even, odd, t := values[b:][:n], values[b+n:][:n], scratch[:n]
		p.field.Mul(t, odd, half)
		p.field.Sub(odd, even, t)
		p.field.Add(even, even, t)
	}
}

// opened is the value of each stack at a word's place.
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
