package stark

import (
	"context"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/internal/challenger"
	"github.com/zkbench/zkbench/stark/internal/field"
	"github.com/zkbench/zkbench/stark/internal/tree"
)

// proof is what is sent.
type proof[E field.Element[E], X field.Extension[E, X]] struct {
	rows   []int
	caps   [phases][]tree.Digest
	sums   []X              // of each table with messages
	values [phases][][2][]X // of each table, at y and, of stacks that are read there, at g y
	layers [][]tree.Digest  // caps of FRI's layers
	final  []X
	nonce  uint64
	// Of each distinct place, in rising order, the leaves; of each tree one path.
	leaves [phases][][]E
	paths  [phases][]tree.Digest
	folds  [][][]E
	routes [][]tree.Digest
}

// prover is the state of one proof.
type prover[E field.Element[E], X field.Extension[E, X]] struct {
	ctx        context.Context
	ex         executor.Executor
	field      field.Field[E, X]
	vectors    *field.Vectors[E, X]
	hash       tree.Hash[E]
	challenger challenger.Challenger[E, X]
	layout     *layout
	points     *points[E, X]
	publics    []E
	messages   []Message
	span       func(string) func()
	proof      *proof[E, X]

	columns  [][][]E // of each table, values
	kept     []*sides[E, X]
	extended [phases][]*extended[E]
	trees    [phases]*tree.Tree[E]
	drawn    drawn[X]
	alpha    X
	y        X
	layers   []layer[E]
}

// sides is what the sums of a table need of its columns.
type sides[E field.Element[E], X field.Extension[E, X]] struct {
	code    *code[E]
	columns map[int][]E
}

func (p *prover[E, X]) one() X { return one[E, X](p.field) }

func one[E field.Element[E], X field.Extension[E, X]](f field.Field[E, X]) (x X) {
	x[0] = f.New(1)
	return x
}

// Phases of Prove, in order.
const (
	PhaseCommit   = "commit"   // columns extended and hashed
	PhaseSums     = "sums"     // of messages
	PhaseQuotient = "quotient" // of the constraints
	PhaseOpen     = "open"     // values at the point
	PhaseFRI      = "fri"      // the word of all, and its folds
	PhaseQueries  = "queries"
)

func (p *prover[E, X]) run() error {
	for _, phase := range []struct {
		name  string
		steps []func() error
	}{
		{PhaseCommit, []func() error{p.commitColumns}},
		{PhaseSums, []func() error{p.sums, p.balanced}},
		{PhaseQuotient, []func() error{p.quotients}},
		{PhaseOpen, []func() error{p.open, p.identities}},
		{PhaseFRI, []func() error{p.batch}},
		{PhaseQueries, []func() error{p.queries}},
	} {
		end := p.span(phase.name)
		for _, step := range phase.steps {
			if err := step(); err != nil {
				return err
			}
		}
		end()
	}
	return nil
}

func (p *prover[E, X]) commitColumns() error {
	if err := p.extendColumns(); err != nil {
		return err
	}
	return p.commit(ofColumns, "columns")
}

func (p *prover[E, X]) extendColumns() error {
	for t, columns := range p.columns {
		p.keep(t, columns)
		x, err := p.points.extend(p.ctx, p.ex, p.layout.phases[ofColumns][t], columns, true)
		if err != nil {
			return err
		}
		p.extended[ofColumns] = append(p.extended[ofColumns], x)
		p.columns[t] = nil
	}
	return nil
}

// commit hashes what a phase has extended, coset by coset.
func (p *prover[E, X]) commit(phase int, label string) error {
	size := p.points.size
	t := tree.New(p.hash, size+p.points.blowup, p.layout.set.LogCap)
	var stacks [][]E
	for range p.layout.leaf(phase) {
		stacks = append(stacks, make([]E, 1<<size))
	}
	for c := range p.points.shifts {
		left := stacks
		for _, x := range p.extended[phase] {
			mine := left[:x.stacks()]
			left = left[len(mine):]
			err := p.ex.Do(p.ctx, len(mine), func(_ context.Context, s int) error {
				p.points.stack(mine[s], x, s, c, make([]E, 1<<(size-1)))
				return nil
			})
			if err != nil {
				return err
			}
		}
		if err := t.Leaves(p.ctx, p.ex, c<<size, stacks); err != nil {
			return err
		}
	}
	top, err := t.Grow(p.ctx, p.ex)
	if err != nil {
		return err
	}
	p.trees[phase], p.proof.caps[phase] = t, top
	p.challenger.Digests(label, top)
	return nil
}

// messageSteps are the steps of a program's messages.
func messageSteps(p *air.Program) (steps []int) {
	for _, m := range p.Messages {
		steps = append(append(steps, m.Multiplicity), m.Tuple...)
	}
	return steps
}

// keep keeps the values that a table's sums need, before its columns become coefficients.
func (p *prover[E, X]) keep(t int, columns [][]E) {
	program := p.layout.programs[t]
	s := &sides[E, X]{columns: make(map[int][]E)}
	if len(program.Messages) > 0 {
		s.code = lower[E, X](p.field, program, p.publics, false, messageSteps(program))
		for _, at := range [][]cellAt{s.code.here, s.code.next} {
			for _, c := range at {
				if s.columns[c.column] == nil {
					s.columns[c.column] = append([]E(nil), columns[c.column]...)
				}
			}
		}
	}
	p.kept = append(p.kept, s)
}

func (p *prover[E, X]) sums() error {
	if err := p.sumUp(); err != nil {
		return err
	}
	p.sendSums()
	return p.commitSums()
}

func (p *prover[E, X]) sumUp() error {
	l := p.layout
	p.drawn = drawSums(p.challenger, p.one(), l.longest)
	for t, program := range l.programs {
		var x *extended[E]
		columns, sum, err := p.sumsOf(t)
		if err == nil {
			x, err = p.points.extend(p.ctx, p.ex, l.phases[ofSums][t], columns, true)
		}
		if err != nil {
			return err
		}
		p.extended[ofSums] = append(p.extended[ofSums], x)
		if len(program.Messages) > 0 {
			p.proof.sums = append(p.proof.sums, sum)
		}
	}
	return nil
}

func (p *prover[E, X]) sendSums() { absorbSums[E, X](p.challenger, p.proof) }

func absorbSums[E field.Element[E], X field.Extension[E, X]](c challenger.Challenger[E, X], p *proof[E, X]) {
	for _, sum := range p.sums {
		c.Elements("sum", appendCoordinates[E](nil, sum))
	}
}

func (p *prover[E, X]) commitSums() error {
	if p.layout.leaf(ofSums) == 0 {
		return nil
	}
	return p.commit(ofSums, "sums")
}

// sumsOf are the columns of a table's sums, φ and then an h for each group but the first, and the
// whole sum.
func (p *prover[E, X]) sumsOf(t int) (columns [][]E, sum X, err error) {
	l, v := p.layout, p.vectors
	groups, rows := l.groups[t], 1<<l.rows[t]
	if len(groups) == 0 {
		return nil, sum, nil
	}
	d := v.Degree()
	h := make([]field.Vector[E], len(groups))
	for g := range h {
		h[g] = field.NewVector[E](d, rows)
		columns = append(columns, h[g]...)
	}
	side := p.kept[t]
	err = tiles(p.ctx, p.ex, rows, func(from, to int) {
		m := newMachine[E, X](p.field, side.code, rows)
		vector := func() field.Vector[E] { return field.NewVector[E](d, m.size) }
		scratch := make([]E, m.size)
		f, more := fraction[E]{vector(), vector()}, [2]field.Vector[E]{vector(), vector()}
		for ; from < to; from += m.size {
			m.run(func(c int) []E { return side.columns[c] }, rows, from, nil)
			for g, group := range groups {
				m.fractions(v, f, group, l.buses, p.drawn, more, scratch)
				v.Invert(f.denominator)
				v.Product(h[g].Slice(from, from+m.size), f.numerator, f.denominator, scratch)
			}
		}
	})
	if err != nil {
		return nil, sum, err
	}
	// φ from what it grows by.
	grows := make([]X, rows)
	for i := range rows {
		for g := range h {
			grows[i] = grows[i].Add(v.Get(h[g], i))
		}
		sum = sum.Add(grows[i])
	}
	share := sum.MulBase(p.field.New(uint64(rows)).Inverse())
	var phi X
	for i := range rows {
		v.Set(h[0], i, phi)
		phi = phi.Add(grows[i]).Sub(share)
	}
	return columns, sum, nil
}

// open sends the columns' values at a point, and the next row's.
func (p *prover[E, X]) open() error {
	p.y = p.challenger.Challenge("point", true)
	if err := p.evaluate(); err != nil {
		return err
	}
	p.sendValues()
	return nil
}

func (p *prover[E, X]) evaluate() error {
	l := p.layout
	for phase, shapes := range l.phases {
		for t, s := range shapes {
			at := newLagrange[E, X](p.points, s.rows, p.y)
			next := newLagrange[E, X](p.points, s.rows, p.y.MulBase(p.field.Root(s.rows)))
			values := [2][]X{make([]X, s.width), make([]X, s.width)}
			x := p.extended[phase][t]
			err := p.ex.Do(p.ctx, s.width, func(_ context.Context, i int) error {
				values[0][i] = at.value(p.field, x.column(0, i))
				if l.next[phase][t][i>>s.stack] {
					values[1][i] = next.value(p.field, x.column(0, i))
				}
				return nil
			})
			if err != nil {
				return err
			}
			p.proof.values[phase] = append(p.proof.values[phase], values)
		}
	}
	return nil
}

func (p *prover[E, X]) sendValues() { absorbValues[E, X](p.challenger, p.layout, p.proof) }

// absorbValues absorbs the values of a proof, table by table.
func absorbValues[E field.Element[E], X field.Extension[E, X]](c challenger.Challenger[E, X], l *layout, p *proof[E, X]) {
	for phase, shapes := range l.phases {
		for t, s := range shapes {
			var sent []E
			for which, values := range p.values[phase][t] {
				for i, x := range values {
					if which == 0 || l.next[phase][t][i>>s.stack] {
						sent = appendCoordinates[E](sent, x)
					}
				}
			}
			c.Elements("values", sent)
		}
	}
}

// checker is a verifier of what is proved so far.
func (p *prover[E, X]) checker() *verifier[E, X] {
	return &verifier[E, X]{field: p.field, layout: p.layout, publics: p.publics, messages: p.messages, proof: p.proof}
}

// balanced finds out whether the sums are those of a proof, identities whether the constraints hold:
// it costs little, and so nothing is made that a verifier rejects.
func (p *prover[E, X]) balanced() error { return p.checker().balanced(p.drawn) }

func (p *prover[E, X]) identities() error {
	for t := range p.layout.programs {
		if err := p.checker().identity(t, p.alpha, p.y, p.drawn); err != nil {
			return err
		}
	}
	return nil
}

// weights draws the weights of so many words: of each the product, over its number's bits, of a
// challenge or one less it.
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

// batch proves the values: that the word of all is near to a polynomial.
func (p *prover[E, X]) batch() error {
	word, err := p.batched()
	if err != nil {
		return err
	}
	if err := p.fold(word); err != nil {
		return err
	}
	p.sendFinal()
	return nil
}

// batched is one word of all: of each stack f with values v_i at a point y,
// (f - Σ X^e(i) v_i) / (X^k - y), times its weight. It is computed member by member: of the members
// i of all stacks, Σ w (f_i - v_i) / (u - y) at u = x^k, stacked like columns.
func (p *prover[E, X]) batched() ([]field.Vector[E], error) {
	l, v := p.layout, p.vectors
	d := v.Degree()
	words := l.words()
	w := weights[E, X](p.challenger, "word", p.one(), len(words))
	out := make([]field.Vector[E], len(p.points.shifts))
	for c := range out {
		out[c] = field.NewVector[E](d, 1<<l.size)
	}
	for t, rows := range l.rows {
		stack := l.size - rows
		for c := range out {
			// The reciprocals of u - y, and of u - g y.
			var inverses [2]field.Vector[E]
			for which, y := range []X{p.y, p.y.MulBase(p.field.Root(rows))} {
				inverses[which] = p.differences(c, rows, y)
				v.Invert(inverses[which])
			}
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
						columns = append(columns, p.extended[word.phase][t].column(c, column))
						at = append(at, w[n])
						constant = constant.Sub(p.proof.values[word.phase][t][which][column].Mul(w[n]))
					}
					if len(columns) > 0 {
						clearVector(sum)
						v.AddProducts(sum, columns, at, scratch)
						v.AddConstant(sum, constant)
						v.Product(members.Slice(i<<rows, (i+1)<<rows), sum, inverses[which], scratch)
					}
				}
				return nil
			})
			if err != nil {
				return nil, err
			}
			err = p.ex.Do(p.ctx, d, func(_ context.Context, k int) error {
				scratch := make([]E, 1<<(l.size-1))
				for layer := range stack {
					p.points.butterflies(members[k], c, rows+layer, scratch)
				}
				p.field.Add(out[c][k], out[c][k], members[k])
				return nil
			})
			if err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// differences are u - y at the points u of coset c of the group of order 2^rows.
func (p *prover[E, X]) differences(c, rows int, y X) field.Vector[E] {
	d := field.NewVector[E](p.vectors.Degree(), 1<<rows)
	copy(d[0], p.points.all(c, rows))
	var zero X
	p.vectors.AddConstant(d, zero.Sub(y))
	return d
}

// queries shows the words at places that the challenger picks.
func (p *prover[E, X]) queries() error {
	l := p.layout
	nonce, err := p.challenger.Grind(p.ctx, p.ex, "grinding", l.set.Grinding)
	if err != nil {
		return err
	}
	p.proof.nonce = nonce
	places := drawPlaces[E, X](p.challenger, l)
	for phase := range phases {
		if l.leaf(phase) == 0 {
			continue
		}
		for _, place := range places {
			var row []E
			for _, x := range p.extended[phase] {
				row = append(row, p.points.opened(x, place)...)
			}
			p.proof.leaves[phase] = append(p.proof.leaves[phase], row)
		}
		p.proof.paths[phase] = p.trees[phase].Path(places)
	}
	size := l.size
	for _, layer := range p.layers {
		places = groupsOf(places, size, layer.fold)
		size -= layer.fold
		var rows [][]E
		for _, place := range places {
			var row []E
			for _, column := range layer.leafColumns(place >> size) {
				row = append(row, column[place&(1<<size-1)])
			}
			rows = append(rows, row)
		}
		p.proof.folds = append(p.proof.folds, rows)
		p.proof.routes = append(p.proof.routes, layer.tree.Path(places))
	}
	return nil
}

// lagrange is the weights of a column's values at a point: those on the first coset.
type lagrange[E field.Element[E], X field.Extension[E, X]] struct{ weights field.Vector[E] }

// newLagrange has, at a point u of the coset s H of n elements, u (y^n - s^n) / (n s^n (y - u)).
func newLagrange[E field.Element[E], X field.Extension[E, X]](p *points[E, X], rows int, y X) lagrange[E, X] {
	v := field.NewVectors[E, X](p.field)
	n := 1 << rows
	at := field.NewVector[E](v.Degree(), n)
	points := p.all(0, rows)
	copy(at[0], points)
	var zero X
	v.AddConstant(at, zero.Sub(y)) // u - y
	v.Invert(at)
	power := field.Power(p.field.New(1), p.shift(0, rows), uint64(n))
	vanishing := field.Power(one[E, X](p.field), y, uint64(n))
	vanishing[0] = vanishing[0].Sub(power)
	factor := zero.Sub(vanishing).MulBase(power.Mul(p.field.New(uint64(n))).Inverse())
	out, scratch := field.NewVector[E](v.Degree(), n), make([]E, n)
	v.AddScaled(out, at, factor, scratch)
	v.MulBase(out, out, points)
	return lagrange[E, X]{out}
}

func (l lagrange[E, X]) value(f field.Field[E, X], column []E) (x X) {
	for k, w := range l.weights {
		x[k] = f.Dot(column, w)
	}
	return x
}

// checkPublics returns the statement's values as elements.
func elementsOf[E field.Element[E], X field.Extension[E, X]](f field.Field[E, X], publics []uint64, want int) ([]E, error) {
	if len(publics) != want {
		return nil, fmt.Errorf("%w: %d public values, accepted are %d", zkbench.ErrParams, len(publics), want)
	}
	var elements []E
	for i, v := range publics {
		if v >= f.Order() {
			return nil, fmt.Errorf("%w: public value %d is not below the field's order", zkbench.ErrParams, i)
		}
		elements = append(elements, f.New(v))
	}
	return elements, nil
}

// neg is -x.
func neg[E field.Element[E], X field.Extension[E, X]](x X) X {
	var zero X
	return zero.Sub(x)
}
