package stark

import (
	"context"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/stark/internal/challenger"
	"github.com/zkbench/zkbench/stark/internal/field"
)

// weights draws the weights of n codewords. The weight of number i is a product over the bits of i: the bit's
// challenge, or 1 minus it.
func weights[E field.Element[E], X field.Extension[E, X]](c challenger.Challenger[E, X], label string, one X, n int) []X {
	w := []X{one}
	for len(w) < n {
		r := c.Challenge(label, false)
		for i := range len(w) {
			high := w[i].Mul(r)
			w = append(w, high)
			w[i] = w[i].Sub(high)
		}
	}
	return w[:n]
}

// batch proves that the batched codeword is near a polynomial, and so that the values are right.
func (p *prover[E, X]) batch() error {
	word, err := p.batched()
	if err != nil {
		return err
	}
	return p.proximity.commit(word)
}

// batched computes the batched codeword. For each stack f with values v_i at a point y, it adds (f - Σ X^e(i)
// v_i) / (X^k - y), times its weight. The result is a polynomial of degree below 2^size, so that its values
// on the first coset give the others. They are computed member by member. For the members i of all stacks
// this is Σ w (f_i - v_i) / (u - y) at u = x^k. The members' coefficients, one after the other, are the
// result's.
func (p *prover[E, X]) batched() ([]field.Vector[E], error) {
	l := p.layout
	w := weights[E, X](p.challenger, "word", p.one(), l.batched())
	memory := p.points.memory.part()
	defer memory.release()
	scratch := scratches[*memberScratch[E, X]]{make: func() *memberScratch[E, X] {
		n := min(chunk, 1<<l.size)
		return &memberScratch[E, X]{sum: memory.vector(l.degree, n), scratch: memory.elements(n)}
	}}
	coefficients, members := memory.vector(l.degree, 1<<l.size), p.points.memory.vector(l.degree, 1<<l.size)
	for t := range l.rows {
		if err := p.addMembers(coefficients, members, t, w, &scratch); err != nil {
			return nil, err
		}
	}
	out, err := p.points.spread(p.ctx, p.ex, coefficients, members)
	if err != nil || l.masks == 0 {
		return out, err
	}
	hiding := p.extended[ofQuotients][len(l.rows)].cosets
	return out, each(p.ctx, p.ex, len(out), 1<<l.size, func(c, from, to int) {
		s := scratch.take()
		p.vectors.AddScaled(out[c].Slice(from, to), field.Vector[E](hiding[c]).Slice(from, to), w[l.batched()-1], s.scratch[:to-from])
		scratch.give(s)
	})
}

// memberScratch is scratch for a chunk of rows of the batched codeword's members.
type memberScratch[E, X any] struct {
	sum     field.Vector[E]
	scratch []E
	columns [][]E
	weights []X
}

// addMembers adds the coefficients of a table's part of the batched codeword. w has the words' weights, and
// members is scratch.
func (p *prover[E, X]) addMembers(coefficients, members field.Vector[E], t int, w []X, free *scratches[*memberScratch[E, X]]) error {
	l, v, rows := p.layout, p.vectors, p.layout.rows[t]
	n := 1 << rows
	filled := 0 // number of members that have columns at all
	for _, shapes := range l.phases {
		filled = max(filled, min(1<<shapes[t].stack, shapes[t].width))
	}
	words := l.words()
	err := each(p.ctx, p.ex, filled, n, func(i, from, to int) {
		part := members.Slice(i*n+from, i*n+to)
		part.Clear()
		mine := free.take()
		defer free.give(mine)
		sum, scratch := mine.sum.Slice(0, to-from), mine.scratch[:to-from]
		for which, next := range []bool{false, true} {
			columns, at := mine.columns[:0], mine.weights[:0]
			var constant X
			for number, word := range words {
				first, end := l.phases[word.phase][t].members(word.stack)
				column := first + i
				if word.table != t || word.next != next || column >= end {
					continue
				}
				columns = append(columns, p.extended[word.phase][t].column(0, column)[from:to])
				at = append(at, w[number])
				constant = constant.Sub(p.proof.values[word.phase][t][which][column].Mul(w[number]))
			}
			mine.columns, mine.weights = columns, at
			if len(columns) > 0 {
				v.Fill(sum, constant)
				v.AddProducts(sum, columns, at, scratch)
				v.Product(part, sum, p.inverses[t][which].Slice(from, to), scratch)
			}
		}
	})
	if err != nil {
		return err
	}
	transform, err := p.points.transform(rows)
	if err != nil {
		return err
	}
	unscale := scaleOf(p.field, rows, p.points.shift(0, rows).Inverse())
	return p.ex.Do(p.ctx, filled*l.degree, func(_ context.Context, at int) error {
		i, k := at/l.degree, at%l.degree
		member, sum := members[k][i*n:][:n], coefficients[k][i*n:][:n]
		transform.Interpolate(member)
		p.field.Mul(member, member, unscale)
		p.field.Add(sum, sum, member)
		return nil
	})
}

// spreadParts is the logarithm of the number of parts in which spread transforms each vector.
const spreadParts = 4

// spread returns a polynomial's values on all cosets, given its coefficients. It takes over the memory of
// scratch, a vector of the same length. Each vector is transformed in parts, whose coefficients follow each
// other like those of a stack's columns, and the parts are joined.
func (p *points[E, X]) spread(ctx context.Context, ex executor.Executor, coefficients, scratch field.Vector[E]) ([]field.Vector[E], error) {
	d, stack := len(coefficients), min(spreadParts, p.size)
	rows, parts := p.size-stack, 1<<stack
	n := 1 << rows
	t, err := p.transform(rows)
	if err != nil {
		return nil, err
	}
	out := make([]field.Vector[E], len(p.shifts))
	scales := make([][]E, len(out))
	err = ex.Do(ctx, len(out), func(_ context.Context, c int) error {
		if out[c] = scratch; c > 0 {
			out[c] = p.memory.vector(d, parts*n)
		}
		scales[c] = p.scale(c, rows)
		return nil
	})
	if err != nil {
		return nil, err
	}
	err = ex.Do(ctx, len(out)*d*parts, func(_ context.Context, i int) error {
		c, k, from := i/(d*parts), i/parts%d, i%parts*n
		part := out[c][k][from:][:n]
		p.field.Mul(part, coefficients[k][from:][:n], scales[c])
		t.Evaluate(part)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return out, each(ctx, ex, len(out)*d, n, func(i, from, to int) {
		joined := cut(out[i/d][i%d], n)
		for part := range joined {
			joined[part] = joined[part][from:to]
		}
		p.joining(stack, i/d, rows, from, to-from).join(joined, joined)
	})
}
