package stark

import (
	"fmt"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/internal/challenger"
	"github.com/zkbench/zkbench/stark/internal/field"
	"github.com/zkbench/zkbench/stark/internal/tree"
)

// verifier is the state of one verification.
type verifier[E field.Element[E], X field.Extension[E, X]] struct {
	field      field.Field[E, X]
	vectors    *field.Vectors[E, X]
	hash       tree.Hash[E]
	challenger challenger.Challenger[E, X]
	proximity  proximityVerifier[X]
	layout     *layout
	claim      *claim[E]
	proof      *proof[E, X]
}

func (v *verifier[E, X]) one() X { return one[E, X](v.field) }

// pointOf returns point i of coset c of the group of order 2^size.
func pointOf[E field.Element[E], X field.Extension[E, X]](f field.Field[E, X], l *layout, c, size, i int) E {
	one := f.New(1)
	shift := squares(firstPoint(f, l).Mul(field.Power(one, f.Root(l.size+l.params.LogBlowup), uint64(c))), l.size-size)
	return shift.Mul(field.Power(one, f.Root(size), uint64(i)))
}

// drawPlaces draws the positions of queries and returns the distinct ones in rising order.
func drawPlaces[E, X any](c challenger.Challenger[E, X], l *layout) (places []int) {
	for range l.params.Queries {
		places = append(places, c.Index("place", l.size+l.params.LogBlowup))
	}
	slices.Sort(places)
	return slices.Compact(places)
}

// leafOf returns the leaf of a position, for cosets of 2^size positions and 2^leaves leaves. Positions share a leaf
// if their points have the same power 2^(size-leaves). So if words are shorter than 2^size, as those of fixed
// columns may be, a point's leaf is also that of the point's power at which the short words are evaluated.
func leafOf(place, size, leaves int) int {
	return place>>size<<leaves | place&(1<<leaves-1)
}

// groupsOf returns the distinct leaves of positions, in rising order.
func groupsOf(places []int, size, leaves int) (groups []int) {
	groups = leavesAt(places, size, leaves)
	slices.Sort(groups)
	return slices.Compact(groups)
}

// leavesAt returns the leaf of each position.
func leavesAt(places []int, size, leaves int) (all []int) {
	for _, place := range places {
		all = append(all, leafOf(place, size, leaves))
	}
	return all
}

// verify checks a proof that has the layout's form, so that all lengths are right.
func (v *verifier[E, X]) verify() error {
	l, p, c := v.layout, v.proof, v.challenger
	one := v.one()
	c.Digests("columns", p.caps[ofColumns])
	drawn := drawSums(c, one, l.longest)
	absorbSums(c, p)
	if err := v.balanced(drawn); err != nil {
		return err
	}
	if l.leaf(ofSums) > 0 {
		c.Digests("sums", p.caps[ofSums])
	}
	alpha := c.Challenge("alpha", false)
	c.Digests("quotients", p.caps[ofQuotients])
	y := c.Challenge("point", true)
	absorbValues(c, l, p)
	for t := range l.programs {
		if err := v.identity(t, alpha, y, drawn); err != nil {
			return err
		}
	}
	words := l.words()
	w := weights[E, X](c, "word", one, l.batched())
	v.proximity.receive()
	places, err := v.proximity.query()
	if err != nil {
		return err
	}
	values, err := v.opened(places, words, w, y)
	if err != nil {
		return err
	}
	return v.proximity.check(values)
}

// balanced checks that the sums of the tables and of the statement's messages add up to 0.
func (v *verifier[E, X]) balanced(d drawn[X]) error {
	var total, zero X
	for _, sum := range v.proof.sums {
		total = total.Add(sum)
	}
	for i := range v.claim.Messages {
		total = total.Add(v.fraction(i, d))
	}
	if total != zero {
		return fmt.Errorf("%w: a tuple is not answered as often as it is asked for", zkbench.ErrProof)
	}
	return nil
}

// fraction returns the fraction of a message of the statement.
func (v *verifier[E, X]) fraction(message int, d drawn[X]) X {
	m, f := v.claim.Messages[message], v.field
	denominator := d.gamma.Sub(d.tuple[0].MulBase(f.New(uint64(v.layout.buses[m.Bus].number))))
	for i, t := range v.claim.tuples[message] {
		denominator = denominator.Sub(d.tuple[i+1].MulBase(t))
	}
	times := f.New(uint64(max(m.Times, -m.Times)))
	if m.Times < 0 {
		var zero E
		times = zero.Sub(times)
	}
	return denominator.Inverse().MulBase(times)
}

// atPoint is the algebra of a program's values at the point.
type atPoint[E field.Element[E], X field.Extension[E, X]] struct {
	field      field.Field[E, X]
	publics    []E
	fixed      []X
	here, next []X
}

func (a atPoint[E, X]) embed(e E) X { return embed[E, X](e) }

func (a atPoint[E, X]) Constant(c air.Int) X {
	x := a.embed(a.field.New(c.Abs))
	if c.Negative {
		return neg[E, X](x)
	}
	return x
}
func (a atPoint[E, X]) Fixed(i int) X  { return a.fixed[i] }
func (a atPoint[E, X]) Here(i int) X   { return a.here[i] }
func (a atPoint[E, X]) Next(i int) X   { return a.next[i] }
func (a atPoint[E, X]) Public(i int) X { return a.embed(a.publics[i]) }
func (a atPoint[E, X]) Add(x, y X) X   { return x.Add(y) }
func (a atPoint[E, X]) Sub(x, y X) X   { return x.Sub(y) }
func (a atPoint[E, X]) Mul(x, y X) X   { return x.Mul(y) }

// identity checks a table's constraints at the point.
func (v *verifier[E, X]) identity(t int, alpha, y X, d drawn[X]) error {
	var zero X
	if v.defect(t, alpha, y, d) != zero {
		return fmt.Errorf("%w: table %q: its constraints do not hold", zkbench.ErrProof, v.layout.tables[t].Name)
	}
	return nil
}

// defect returns by how much a table's equation fails at the point. The equation is that of quotient.go times
// X^n - 1.
func (v *verifier[E, X]) defect(t int, alpha, y X, d drawn[X]) X {
	l, f := v.layout, v.field
	program, rows := l.programs[t], l.rows[t]
	one := v.one()
	columns := v.proof.values[ofColumns][t]
	steps := air.Evaluate[X](program, atPoint[E, X]{f, v.claim.publics, v.proof.values[l.fixedPhase(t)][t][0], columns[0], columns[1]})
	weights := powersOf(one, alpha, l.constraints(t))
	var sums [kinds]X
	for i, b := range program.Constraints {
		sums[b.Where] = sums[b.Where].Add(steps[b.Step].Mul(weights[i]))
	}
	weights = weights[len(program.Constraints):]
	if groups := l.groups[t]; len(groups) > 0 {
		cells := v.proof.values[ofSums][t]
		share := v.proof.sums[l.sumOf(t)].MulBase(f.New(uint64(l.used(t))).Inverse())
		own := v.joined(cells[1], 0).Sub(v.joined(cells[0], 0)).Add(share)
		for g := len(groups) - 1; g >= 0; g-- {
			h := own
			if g > 0 {
				h = v.joined(cells[0], g)
				own = own.Sub(h)
			}
			var numerator X
			denominator := one
			for _, index := range groups[g] {
				m := program.Messages[index]
				e := d.gamma.Sub(d.tuple[0].MulBase(f.New(uint64(l.buses[m.Bus].number))))
				for i, step := range m.Tuple {
					e = e.Sub(d.tuple[i+1].Mul(steps[step]))
				}
				numerator = numerator.Mul(e).Add(steps[m.Multiplicity].Mul(denominator))
				denominator = denominator.Mul(e)
			}
			sums[air.Everywhere] = sums[air.Everywhere].Add(weights[g].Mul(h.Mul(denominator).Sub(numerator)))
		}
		if l.masked(t) {
			d := unmasked[E](d, columns[0][program.Columns:])
			sums[ends] = weights[len(groups)].Mul(v.joined(cells[0], 0).Mul(d).Sub(one))
		}
	}
	root := f.Root(rows)
	row := field.Power(f.New(1), root, uint64(l.used(t))) // the first row left out
	less := func(x X, e E) X { return x.Sub(embed[E, X](e)) }
	first, last, behind := less(y, f.New(1)), less(y, row.Mul(root.Inverse())), less(y, row)
	vanishing := less(field.Power(one, y, 1<<rows), f.New(1))
	left := one // 0 in the rows that are left out
	for range l.params.Random() {
		left = left.Mul(less(y, row))
		row = row.Mul(root)
	}
	want := left.Mul(sums[air.Everywhere].Add(last.Mul(sums[air.Transition]))).
		Add(vanishing.Mul(first.Inverse()).Mul(sums[air.First])).
		Add(vanishing.Mul(last.Inverse()).Mul(sums[air.Last])).
		Add(vanishing.Mul(first.Mul(behind).Inverse()).Mul(sums[ends]))
	var quotient X
	power := field.Power(one, y, uint64(l.used(t)))
	for i := l.chunks(t) - 1; i >= 0; i-- {
		quotient = quotient.Mul(power).Add(v.joined(v.proof.values[ofQuotients][t][0], i))
	}
	return quotient.Mul(vanishing).Sub(want)
}

// joined returns the value of a column over the extension, from those of its coordinates.
func (v *verifier[E, X]) joined(values []X, column int) (sum X) {
	d := v.layout.degree
	for k := range d {
		var unit X
		unit[k] = v.field.New(1)
		sum = sum.Add(unit.Mul(values[column*d+k]))
	}
	return sum
}

// opened returns the values of the batched codeword at the positions, computed from the stacks that are
// opened there.
func (v *verifier[E, X]) opened(places []int, words []word, w []X, y X) (values []X, err error) {
	l, p := v.layout, v.proof
	var cells [phases][][]E // for each position, its part of the leaf
	for phase := range phases {
		if l.leaf(phase) == 0 {
			continue
		}
		leaves := l.leaves(phase)
		shown := groupsOf(places, l.size, leaves)
		if err := tree.Verify(v.hash, l.depth(phase), p.caps[phase], shown, p.leaves[phase], p.paths[phase]); err != nil {
			return nil, fmt.Errorf("tree %d: %w", phase, err)
		}
		for _, place := range places {
			at, _ := slices.BinarySearch(shown, leafOf(place, l.size, leaves))
			part := place & (1<<l.sizes[phase] - 1) >> leaves
			cells[phase] = append(cells[phase], p.leaves[phase][at][part*l.leaf(phase):][:l.leaf(phase)])
		}
	}
	return v.batched(places, words, w, y, cells), nil
}

// batched sums the codewords at each position. For each table, at y and at g y, a term is the weighted stacks
// minus Σ x^e(i) times the members i of the weighted values, divided by x^k minus the point. Positions are
// rows of vectors.
func (v *verifier[E, X]) batched(places []int, words []word, w []X, y X, cells [phases][][]E) (values []X) {
	l, f, vectors := v.layout, v.field, v.vectors
	n := (len(places) + 15) &^ 15 // whole registers of a kernel
	x, ones := vector[E, X]{f, make([]E, n)}, vector[E, X]{f, make([]E, n)}
	for i, place := range places {
		x.elements[i] = pointOf(f, l, place>>l.size, l.size, place&(1<<l.size-1))
		ones.elements[i] = f.New(1)
	}
	zeros := func() field.Vector[E] { return field.NewVector[E](vectors.Degree(), n) }
	sum, scratch := zeros(), make([]E, n)
	for t, rows := range l.rows {
		stack, slots := l.size-rows, 0
		for _, shapes := range l.phases {
			slots = max(slots, shapes[t].slots())
		}
		powers, u := powers(ones, x, stack, slots), squares(x, stack)
		for which, point := range []X{y, y.MulBase(f.Root(rows))} {
			members := make([]X, len(powers)) // minus the weighted values
			var columns [][]E
			var weights []X
			for i, word := range words {
				if word.table == t && word.next == (which == 1) {
					from, to := l.phases[word.phase][t].members(word.stack)
					for j := from; j < to; j++ {
						members[j-from] = members[j-from].Sub(v.proof.values[word.phase][t][which][j].Mul(w[i]))
					}
					columns, weights = append(columns, column(cells[word.phase], word.cell, n)), append(weights, w[i])
				}
			}
			if len(columns) == 0 {
				continue
			}
			numerators, differences, inverses := zeros(), zeros(), zeros()
			for j, power := range powers {
				columns, weights = append(columns, power.elements), append(weights, members[j])
			}
			vectors.AddProducts(numerators, columns, weights, scratch)
			vectors.Fill(differences, neg[E](point))
			vectors.Add(differences[0], differences[0], u.elements)
			vectors.Invert(inverses, differences, [2]field.Vector[E]{zeros(), zeros()}, scratch)
			vectors.Product(sum, numerators, inverses, scratch)
		}
	}
	var hiding [][]E
	var weights []X
	for k := range l.masks {
		hiding = append(hiding, column(cells[ofQuotients], l.leaf(ofQuotients)-l.masks+k, n))
		weights = append(weights, vectors.Unit(k).Mul(w[len(words)]))
	}
	vectors.AddProducts(sum, hiding, weights, scratch)
	for i := range places {
		values = append(values, vectors.Get(sum, i))
	}
	return values
}

// column returns what rows have at one index, padded with zeros to n elements.
func column[E any](rows [][]E, at, n int) []E {
	c := make([]E, n)
	for i, row := range rows {
		c[i] = row[at]
	}
	return c
}

// vector holds elements that are multiplied element by element.
type vector[E field.Element[E], X field.Extension[E, X]] struct {
	field    field.Field[E, X]
	elements []E
}

// Mul returns a b.
func (a vector[E, X]) Mul(b vector[E, X]) vector[E, X] {
	c := make([]E, len(a.elements))
	a.field.Mul(c, a.elements, b.elements)
	return vector[E, X]{a.field, c}
}
