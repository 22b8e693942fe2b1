package stark

import (
	"context"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/stark/internal/challenger"
	"github.com/zkbench/zkbench/stark/internal/field"
	"github.com/zkbench/zkbench/stark/internal/tree"
)

// A word of 2^(size+blowup) values is folded, two halves of a coset at a time: with
// f = E(X²) + X O(X²) it becomes (1-r) E + r O for a challenge r, at x² from the values at x and
// -x. So many such folds as an arity has are between two trees, each leaf of which has the values
// that make one.

// layer is a word that FRI has committed to.
type layer[E field.Element[E]] struct {
	word []field.Vector[E] // by coset
	size int               // logarithm, of a coset
	fold int
	tree *tree.Tree[E]
}

// fold commits to a word and folds it, until it is a polynomial short enough to be sent.
func (p *prover[E, X]) fold(word []field.Vector[E]) error {
	size := p.layout.size
	for _, fold := range p.layout.folds {
		if err := p.commitLayer(layer[E]{word: word, size: size, fold: fold}); err != nil {
			return err
		}
		for range fold {
			r := p.challenger.Challenge("fold", false)
			next := make([]field.Vector[E], len(word))
			err := p.ex.Do(p.ctx, len(word), func(_ context.Context, c int) error {
				next[c] = p.half(word[c], c, size, r)
				return nil
			})
			if err != nil {
				return err
			}
			word = next
			size--
		}
	}
	return p.last(word[0], size)
}

func (p *prover[E, X]) commitLayer(l layer[E]) error {
	size := l.size - l.fold
	l.tree = tree.New(p.hash, size+p.points.blowup, p.layout.set.LogCap)
	for c := range l.word {
		if err := l.tree.Leaves(p.ctx, p.ex, c<<size, parted(l.word[c], l.fold)); err != nil {
			return err
		}
	}
	top, err := l.tree.Grow(p.ctx, p.ex)
	if err != nil {
		return err
	}
	p.challenger.Digests("layer", top)
	p.proof.layers = append(p.proof.layers, top)
	p.layers = append(p.layers, l)
	return nil
}

// half folds a coset of a word once.
func (p *prover[E, X]) half(word field.Vector[E], c, size int, r X) field.Vector[E] {
	n := 1 << (size - 1)
	v := p.vectors
	half := p.field.New(2).Inverse()
	// (1-r) (f + g) / 2 + r (f - g) / 2x
	inverse := make([]E, n)
	setPowers(p.field, inverse, half.Mul(p.points.shift(c, size).Inverse()), p.field.Root(size).Inverse())
	even, odd := field.NewVector[E](v.Degree(), n), field.NewVector[E](v.Degree(), n)
	scratch := make([]E, n)
	for k, values := range word {
		p.field.Add(even[k], values[:n], values[n:])
		p.field.Sub(odd[k], values[:n], values[n:])
		p.field.Mul(odd[k], odd[k], inverse)
	}
	out := field.NewVector[E](v.Degree(), n)
	v.AddScaled(out, odd, r, scratch)
	one := p.one()
	v.AddScaled(out, even, one.Sub(r).MulBase(half), scratch)
	return out
}

// last sets the coefficients of what is left, which a coset of it has.
func (p *prover[E, X]) last(word field.Vector[E], size int) error {
	t, err := p.field.Transform(size)
	if err != nil {
		return err
	}
	unscale := reversedPowers(size, p.field.New(1), p.points.shift(0, size).Inverse())
	for _, coordinate := range word {
		t.Interpolate(coordinate)
		p.field.Mul(coordinate, coordinate, unscale)
	}
	for i := range 1 << size {
		p.proof.final = append(p.proof.final, p.vectors.Get(word, i))
	}
	return nil
}

func (p *prover[E, X]) sendFinal() { absorbFinal[E, X](p.challenger, p.proof) }

// absorbFinal absorbs the coefficients of a proof's last polynomial.
func absorbFinal[E field.Element[E], X field.Extension[E, X]](c challenger.Challenger[E, X], p *proof[E, X]) {
	var sent []E
	for _, x := range p.final {
		sent = field.Coordinates[E](sent, x)
	}
	c.Elements("final", sent)
}

// follow checks that the value of a word at a place is that of its layers' leaves, and what they
// fold to the last polynomial.
func (v *verifier[E, X]) follow(place int, value X, leaves []map[int][]E, rs [][]X) error {
	size := v.layout.size
	d := v.layout.degree
	two := v.field.New(2).Inverse()
	one := v.one()
	for i, fold := range v.layout.folds {
		c, at := place>>size, place&(1<<size-1)
		group := at & (1<<(size-fold) - 1)
		place = leafOf(place, size, fold)
		leaf := leaves[i][place]
		values := make([]X, 1<<fold)
		for part := range values {
			for k := range d {
				values[part][k] = leaf[part*d+k]
			}
		}
		if values[at>>(size-fold)] != value {
			return fmt.Errorf("%w: layer %d has another value than what is folded into it", zkbench.ErrProof, i)
		}
		// The points of the first values, as those of the group's halves.
		for _, r := range rs[i] {
			n := len(values) / 2
			for part := range n {
				x := v.point(c, size, group+part<<(size-fold))
				f, g := values[part], values[part+n]
				even := f.Add(g).MulBase(two)
				odd := f.Sub(g).MulBase(two.Mul(x.Inverse()))
				values[part] = even.Mul(one.Sub(r)).Add(odd.Mul(r))
			}
			values = values[:n]
			size--
			fold--
		}
		value = values[0]
	}
	// The last polynomial at the place's point, by its coefficients in reversed order.
	x := v.point(place>>size, size, place&(1<<size-1))
	var sum X
	for i, power := range reversedPowers(size, v.field.New(1), x) {
		sum = sum.Add(v.proof.final[i].MulBase(power))
	}
	if sum != value {
		return fmt.Errorf("%w: the last polynomial has another value than what is folded into it", zkbench.ErrProof)
	}
	return nil
}
