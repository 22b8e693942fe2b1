package stark

import (
	"fmt"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/internal/challenger"
	"github.com/zkbench/zkbench/stark/internal/field"
)

// Messages become sums of fractions (Haböck, ePrint 2022/1530). A message with multiplicity m and tuple t_1,
// t_2, ... on bus number t_0 becomes m / d with
//
//	d = γ - w_0 t_0 - w_1 t_1 - w_2 t_2 - ...
//
// The w are equality weights, with one challenge for each bit of their number. So the probability that two
// tuples have the same d grows only with the number of these bits. The bus must be one of the weighted values.
// Weights add up to 1, so a number outside them would look like a tuple whose values have all changed by the
// same amount.
//
// A table's messages are in groups. Each group except the first has a column h over the extension with the
// group's sum in the row. One column φ grows by these and by the first group's sum, and over the whole table
// by the table's sum S. With S/n subtracted in every row it returns to its first value. The constraints, with
// d and d' those of a group, are
//
//	h d d' = m d' + m' d
//	(φ(gX) - φ - Σ h + S/n) d d' = m d' + m' d
//
// and the sums of all tables and of the statement add up to 0.
//
// Asks and answers. Let a tuple be asked for A times and answered k times, over all rows and the statement.
// The sum of fractions is 0 as a function of the challenges only if A = k modulo the field's characteristic p
// for each tuple. The table or the verifier bounds the number of every ask, and all asks of a bus are fewer
// than p (form.go computes this for the proof's heights), so A is a number below p. If A is not 0, then k is
// not 0 modulo p. So some row answers with the tuple, with a multiplicity that is not 0, and by its table the
// tuple is true. How often it answers does not matter, and a prover may choose it: multiplicities of answers
// need no bound.
//
// In zero knowledge the sum is over the m rows that are used. There φ does not return to its first value. It
// begins and ends with fractions of random tuples on the bus of number 0, so that S reveals nothing. One
// tuple is that of a table's first row. The other is that of the row after the used ones, for which the
// prover takes the tuple of another table's first row. All sums together are then as if tables sent these
// tuples to each other. With d₀ for this bus, and r = g^m,
//
//	φ d₀ = 1	in the first row and at r
//
// and S/m replaces S/n.

// groups puts a table's messages into as few groups as the degree allows.
func groups(p *air.Program, degree int) (all [][]int) {
	degrees := p.Degrees()
	room := func(group []int) bool {
		whole := 0
		ds := make([]int, len(group))
		for i, m := range group {
			for _, step := range p.Messages[m].Tuple {
				ds[i] = max(ds[i], degrees[step])
			}
			whole += ds[i]
		}
		for i, m := range group {
			if degrees[p.Messages[m].Multiplicity]+whole-ds[i] > degree {
				return false
			}
		}
		return 1+whole <= degree
	}
	for m := range p.Messages {
		if last := len(all) - 1; last >= 0 && room(append(slices.Clone(all[last]), m)) {
			all[last] = append(all[last], m)
			continue
		}
		all = append(all, []int{m})
	}
	return all
}

// leastDegree returns the least degree with which every message can have its own group.
func leastDegree(p *air.Program) (degree int) {
	degrees := p.Degrees()
	for _, m := range p.Messages {
		degree = max(degree, degrees[m.Multiplicity])
		for _, step := range m.Tuple {
			degree = max(degree, 1+degrees[step])
		}
	}
	return degree
}

// buses numbers the buses of all programs, from 1, and checks that all tuples of one bus have the same
// length.
func buses(tables []*air.Table, programs []*air.Program) (map[string]bus, error) {
	all := make(map[string]bus)
	for i, p := range programs {
		for _, m := range p.Messages {
			b, ok := all[m.Bus]
			if !ok {
				b = bus{len(all) + 1, len(m.Tuple)}
				all[m.Bus] = b
			}
			if b.length != len(m.Tuple) {
				return nil, fmt.Errorf("%w: table %q has a message of %d values for bus %q, accepted are %d as in its other messages", zkbench.ErrParams, tables[i].Name, len(m.Tuple), m.Bus, b.length)
			}
		}
	}
	return all, nil
}

type bus struct{ number, length int }

// drawn holds the challenges of the sums.
type drawn[X any] struct {
	gamma X
	tuple []X // weights of the bus and of each value
	minus []X // the weights of the values, negated
}

// drawSums draws the challenges of the sums.
func drawSums[E field.Element[E], X field.Extension[E, X]](c challenger.Challenger[E, X], one X, longest int) (d drawn[X]) {
	d.gamma = c.Challenge("gamma", false)
	d.tuple = weights[E, X](c, "tuple", one, 1+longest)
	for _, w := range d.tuple[1:] {
		d.minus = append(d.minus, neg[E, X](w))
	}
	return d
}

// unmasked returns the denominator of a random tuple. The tuple has as many values as the extension has
// coordinates.
func unmasked[E field.Element[E], X field.Extension[E, X]](d drawn[X], tuple []X) X {
	sum := d.gamma
	for i, t := range tuple {
		sum = sum.Sub(d.tuple[1+i].Mul(t))
	}
	return sum
}

// denominators sets d to the denominators of a message on a tile.
func (m *machine[E, X]) denominators(v *field.Vectors[E, X], d field.Vector[E], s *air.Sent, number int, c drawn[X], scratch []E) {
	same := c.gamma.Sub(c.tuple[0].MulBase(v.New(uint64(number)))) // in all rows
	m.tuple, m.weights = m.tuple[:0], m.weights[:0]
	for i, step := range s.Tuple {
		if values := m.value(step); m.same(step) {
			same = same.Add(c.minus[i].MulBase(values[0]))
		} else {
			m.tuple, m.weights = append(m.tuple, values), append(m.weights, c.minus[i])
		}
	}
	v.Fill(d, same)
	v.AddProducts(d, m.tuple, m.weights, scratch)
}

// fraction is a group's sum, as numerator and denominator.
type fraction[E any] struct{ numerator, denominator field.Vector[E] }

// fractions sets f to a group's sum on a tile. more are two scratch vectors of the same size.
func (m *machine[E, X]) fractions(v *field.Vectors[E, X], f fraction[E], group []int, numbers map[string]bus, c drawn[X], more [2]field.Vector[E], scratch []E) {
	d, t := more[0], more[1]
	for at, index := range group {
		s := &m.program.Messages[index]
		number, multiplicity := numbers[s.Bus].number, m.value(s.Multiplicity)
		if at == 0 {
			m.denominators(v, f.denominator, s, number, c, scratch)
			f.numerator.Clear()
			copy(f.numerator[0], multiplicity)
			continue
		}
		m.denominators(v, d, s, number, c, scratch)
		// n/D + m/d = (n d + m D) / (D d)
		if at == 1 { // n is in the field
			v.MulBase(t, d, f.numerator[0])
		} else {
			t.Clear()
			v.Product(t, f.numerator, d, scratch)
		}
		v.MulBase(f.numerator, f.denominator, multiplicity)
		v.AddTo(f.numerator, t)
		t.Clear()
		v.Product(t, f.denominator, d, scratch)
		for k := range t {
			copy(f.denominator[k], t[k])
		}
	}
}
