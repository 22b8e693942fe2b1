package stark

import (
	"context"
	"slices"

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
// this is Σ w (f_i - v_i) / (u - y) at u = x^k, stacked like columns.
func (p *prover[E, X]) batched() ([]field.Vector[E], error) {
	l, v := p.layout, p.vectors
	d := v.Degree()
	words := l.words()
	w := weights[E, X](p.challenger, "word", p.one(), l.batched())
	out := field.NewVector[E](d, 1<<l.size)
	for t, rows := range l.rows {
		stack := l.size - rows
		members := field.NewVector[E](d, 1<<l.size)
		err := p.ex.Do(p.ctx, 1<<stack, func(_ context.Context, i int) error {
			sum, scratch := field.NewVector[E](d, 1<<rows), make([]E, 1<<rows)
			for which, next := range []bool{false, true} {
				var columns [][]E
				var at []X
				var constant X
				for n, word := range words {
					s := l.phases[word.phase][t]
					column := word.stack<<stack + i
					if word.table != t || word.next != next || column >= s.width {
						continue
					}
					columns = append(columns, p.extended[word.phase][t].column(0, column))
					at = append(at, w[n])
					constant = constant.Sub(p.proof.values[word.phase][t][which][column].Mul(w[n]))
				}
				if len(columns) > 0 {
					clearVector(sum)
					v.AddProducts(sum, columns, at, scratch)
					v.AddConstant(sum, constant)
					v.Product(members.Slice(i<<rows, (i+1)<<rows), sum, p.inverses[t][which], scratch)
				}
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		err = p.ex.Do(p.ctx, d, func(_ context.Context, k int) error {
			parts := cut(members[k], 1<<rows)
			p.points.joining(stack, 0, rows, 0, 1<<rows).join(parts, parts)
			p.field.Add(out[k], out[k], members[k])
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	if l.masks > 0 {
		hiding := p.extended[ofQuotients][len(l.rows)].cosets[0]
		v.AddScaled(out, hiding, w[len(words)], make([]E, 1<<l.size))
	}
	return p.points.spread(p.ctx, p.ex, out)
}

// spread returns a polynomial's values on all cosets, given those on the first one.
func (p *points[E, X]) spread(ctx context.Context, ex executor.Executor, first field.Vector[E]) ([]field.Vector[E], error) {
	t, err := p.field.Transform(p.size)
	if err != nil {
		return nil, err
	}
	out := []field.Vector[E]{first}
	scales := [][]E{nil}
	back := p.shifts[0].Inverse()
	for c := 1; c < len(p.shifts); c++ {
		out = append(out, field.NewVector[E](len(first), first.Len()))
		scales = append(scales, reversedPowers(p.size, p.field.New(1), p.shifts[c].Mul(back)))
	}
	err = ex.Do(ctx, len(first), func(_ context.Context, k int) error {
		coefficients := slices.Clone(first[k])
		t.Interpolate(coefficients)
		for c := 1; c < len(out); c++ {
			p.field.Mul(out[c][k], coefficients, scales[c])
			t.Evaluate(out[c][k])
		}
		return nil
	})
	return out, err
}
