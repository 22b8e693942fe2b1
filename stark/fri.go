package stark

import (
	"context"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/stark/internal/challenger"
	"github.com/zkbench/zkbench/stark/internal/field"
	"github.com/zkbench/zkbench/stark/internal/tree"
)

// FRI folds a codeword of 2^(size+blowup) values, two halves of a coset at a time. With f = E(X²) + X O(X²),
// the folded word is (1-r) E + r O for a challenge r. Its value at x² follows from the values at x and -x.
// Between two trees there are as many folds as the arity has bits. A leaf holds the values that become one.

// friProof is everything that FRI's prover sends.
type friProof[E field.Element[E], X field.Extension[E, X]] struct {
	layers [][]tree.Digest // the cap of each layer
	final  []X
	nonce  uint64
	// For each layer, the leaves at each distinct position in rising order, and one path.
	folds  [][][]E
	routes [][]tree.Digest
}

// friProver is the prover's side.
type friProver[E field.Element[E], X field.Extension[E, X]] struct {
	ctx        context.Context
	ex         executor.Executor
	field      field.Field[E, X]
	vectors    *field.Vectors[E, X]
	hash       tree.Hash[E]
	challenger challenger.Challenger[E, X]
	layout     *layout
	points     *points[E, X]
	digests    *memory[tree.Digest]
	proof      *friProof[E, X]
	layers     []layer[E]
	scratch    scratches[field.Vector[E]] // for a chunk of rows
}

func (p *friProver[E, X]) commit(word []field.Vector[E]) error {
	if err := p.fold(word); err != nil {
		return err
	}
	p.sendFinal()
	return nil
}

// layer is a codeword with its tree.
type layer[E field.Element[E]] struct {
	word []field.Vector[E] // by coset
	size int               // logarithm of a coset's size
	fold int
	tree *tree.Tree[E]
}

// fold commits to a codeword and folds it, until it is a polynomial short enough to be sent.
func (p *friProver[E, X]) fold(word []field.Vector[E]) error {
	size := p.layout.size
	for _, fold := range p.layout.folds {
		if err := p.commitLayer(layer[E]{word: word, size: size, fold: fold}); err != nil {
			return err
		}
		for range fold {
			r := p.challenger.Challenge("fold", false)
			next, err := p.half(word, size, r)
			if err != nil {
				return err
			}
			word = next
			size--
		}
	}
	return p.last(word[0], size)
}

func (p *friProver[E, X]) commitLayer(l layer[E]) error {
	size := l.size - l.fold
	log := size + p.points.blowup
	l.tree = tree.New(p.hash, log, p.layout.params.LogCap, tree.RunOf(size), p.layout.omitted(log), p.digests.elements)
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

// half folds a codeword once.
func (p *friProver[E, X]) half(word []field.Vector[E], size int, r X) ([]field.Vector[E], error) {
	n := 1 << (size - 1)
	folded := make([]field.Vector[E], len(word))
	err := p.ex.Do(p.ctx, len(word), func(_ context.Context, c int) error {
		folded[c] = p.points.memory.vector(p.vectors.Degree(), n)
		return nil
	})
	if err != nil {
		return nil, err
	}
	return folded, each(p.ctx, p.ex, len(word), n, func(c, from, to int) {
		scratch := p.scratch.take()
		p.halfRows(folded[c].Slice(from, to), word[c], scratch.Slice(0, to-from), c, size, from, r)
		p.scratch.give(scratch)
	})
}

// halfRows sets even to the rows from row lo on of one coset of a codeword that is folded once. scratch
// has the degree's coordinates and one more.
func (p *friProver[E, X]) halfRows(even, word, scratch field.Vector[E], c, size, lo int, r X) {
	odd, inverse := scratch[:len(even)], scratch[len(even)]
	v, rows, n := p.vectors, even.Len(), 1<<(size-1)
	half := p.field.New(2).Inverse()
	// E + r (O - E), E = (f + g) / 2 and O = (f - g) / 2x
	root := p.field.Root(size).Inverse()
	first := p.points.shift(c, size).Inverse().Mul(field.Power(p.field.New(1), root, uint64(lo)))
	setPowers(p.field, inverse, half.Mul(first), root)
	for k, values := range word {
		f, g := values[lo:lo+rows], values[n+lo:n+lo+rows]
		p.field.Add(even[k], f, g)
		p.field.MulScalar(even[k], even[k], half)
		p.field.Sub(odd[k], f, g)
		p.field.Mul(odd[k], odd[k], inverse)
	}
	v.SubFrom(odd, even)
	v.AddScaled(even, odd, r, inverse) // nothing reads inverse any more, so it is scratch
}

// last sets the final coefficients, given the values of the last polynomial on a coset.
func (p *friProver[E, X]) last(word field.Vector[E], size int) error {
	t, err := p.points.transform(size)
	if err != nil {
		return err
	}
	interpolate(p.field, t, word, p.points.shift(0, size))
	for i := range 1 << size {
		p.proof.final = append(p.proof.final, p.vectors.Get(word, i))
	}
	return nil
}

func (p *friProver[E, X]) sendFinal() { absorbFinal(p.challenger, p.proof) }

// absorbFinal absorbs the coefficients of a proof's last polynomial.
func absorbFinal[E field.Element[E], X field.Extension[E, X]](c challenger.Challenger[E, X], p *friProof[E, X]) {
	var sent []E
	for _, x := range p.final {
		sent = field.Coordinates[E](sent, x)
	}
	c.Elements("final", sent)
}

// query opens the layers at positions that the challenger picks.
func (p *friProver[E, X]) query() ([]int, error) {
	l := p.layout
	nonce, err := p.challenger.Grind(p.ctx, p.ex, "grinding", l.params.Grinding)
	if err != nil {
		return nil, err
	}
	p.proof.nonce = nonce
	all := drawPlaces[E, X](p.challenger, l)
	places := all
	size := l.size
	for _, layer := range p.layers {
		places = groupsOf(places, size, size-layer.fold)
		size -= layer.fold
		row := func(leaf int) (row []E) {
			for part := range 1 << layer.fold {
				for _, column := range layer.word[leaf>>size] {
					row = append(row, column[part<<size|leaf&(1<<size-1)])
				}
			}
			return row
		}
		lower := make(tree.Lower)
		rows, err := layer.tree.Again(p.ctx, p.ex, lower, places, row)
		if err != nil {
			return nil, err
		}
		p.proof.folds = append(p.proof.folds, rows)
		p.proof.routes = append(p.proof.routes, layer.tree.Path(places, lower))
	}
	return all, nil
}

// friVerifier is the verifier's side.
type friVerifier[E field.Element[E], X field.Extension[E, X]] struct {
	field      field.Field[E, X]
	hash       tree.Hash[E]
	challenger challenger.Challenger[E, X]
	layout     *layout
	proof      *friProof[E, X]
	rs         [][]X // for each layer, its challenges
	places     []int
}

func (v *friVerifier[E, X]) receive() {
	for i, fold := range v.layout.folds {
		v.challenger.Digests("layer", v.proof.layers[i])
		var r []X
		for range fold {
			r = append(r, v.challenger.Challenge("fold", false))
		}
		v.rs = append(v.rs, r)
	}
	absorbFinal(v.challenger, v.proof)
}

func (v *friVerifier[E, X]) query() ([]int, error) {
	if err := v.challenger.CheckGrind("grinding", v.layout.params.Grinding, v.proof.nonce); err != nil {
		return nil, err
	}
	v.places = drawPlaces[E, X](v.challenger, v.layout)
	return v.places, nil
}

func (v *friVerifier[E, X]) check(values []X) error {
	l, p := v.layout, v.proof
	// For each layer, its leaves by position.
	leaves := make([]map[int][]E, len(l.folds))
	size, at := l.size, v.places
	for i, fold := range l.folds {
		at = groupsOf(at, size, size-fold)
		size -= fold
		if err := tree.Verify(v.hash, size+l.params.LogBlowup, p.layers[i], at, p.folds[i], p.routes[i]); err != nil {
			return fmt.Errorf("layer %d: %w", i, err)
		}
		leaves[i] = make(map[int][]E)
		for j, place := range at {
			leaves[i][place] = p.folds[i][j]
		}
	}
	for i, place := range v.places {
		if err := v.follow(place, values[i], leaves); err != nil {
			return err
		}
	}
	return nil
}

// follow checks that a codeword's value at a position is in the leaf of each layer, and that it folds to the
// last polynomial.
func (v *friVerifier[E, X]) follow(place int, value X, leaves []map[int][]E) error {
	size := v.layout.size
	d := v.layout.degree
	half, unit := v.field.New(2).Inverse(), v.field.New(1)
	inverse := pointOf(v.field, v.layout, place>>size, size, place&(1<<size-1)).Inverse() // of the place's point
	for i, fold := range v.layout.folds {
		at := place & (1<<size - 1) >> (size - fold)
		place = leafOf(place, size, size-fold)
		leaf := leaves[i][place]
		values := make([]X, 1<<fold)
		for part := range values {
			for k := range d {
				values[part][k] = leaf[part*d+k]
			}
		}
		if values[at] != value {
			return fmt.Errorf("%w: layer %d differs from the value that is folded into it", zkbench.ErrProof, i)
		}
		// The points of the values are that of the first one times powers of a root of unity.
		root := v.field.Root(fold)
		first, step := inverse.Mul(field.Power(unit, root, uint64(at))), field.Power(unit, root, 1<<fold-1)
		for _, r := range v.rs[i] {
			n := len(values) / 2
			point := first.Mul(half)
			for part := range n {
				f, g := values[part], values[part+n]
				even, odd := f.Add(g).MulBase(half), f.Sub(g).MulBase(point)
				values[part] = even.Add(odd.Sub(even).Mul(r))
				point = point.Mul(step)
			}
			values, first, step = values[:n], first.Mul(first), step.Mul(step)
		}
		value, inverse, size = values[0], squares(inverse, fold), size-fold
	}
	// Evaluate the last polynomial at the position's point; its coefficients are in bit-reversed order.
	x := pointOf(v.field, v.layout, place>>size, size, place&(1<<size-1))
	var sum X
	for i, power := range reversedPowers(size, v.field.New(1), x) {
		sum = sum.Add(v.proof.final[i].MulBase(power))
	}
	if sum != value {
		return fmt.Errorf("%w: the last polynomial differs from the value that is folded into it", zkbench.ErrProof)
	}
	return nil
}
