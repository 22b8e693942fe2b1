package stark

import (
	"fmt"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/internal/challenger"
	"github.com/zkbench/zkbench/stark/internal/field"
)

// Messages become sums of fractions (Haböck, ePrint 2022/1530): of a message of multiplicity m and
// tuple t_1, t_2, ... on bus number t_0 it is m / d with
//
//	d = γ - w_0 t_0 - w_1 t_1 - w_2 t_2 - ...
//
// where w are equality weights: of as many challenges as their number has bits, so that two tuples
// have one d with a chance that grows as slowly. The bus is one of what is weighed: weights add up to
// 1, so that a number beside them would be a tuple with all values changed alike.
//
// A table's messages are in groups. Of each group but the first a column h over the extension has
// the sum in the row, and one column φ grows by that and by the first group's, and once around by
// the table's whole sum S: with S/n taken away in every row it comes back to where it was. The
// constraints are, d and d' being a group's,
//
//	h d d' = m d' + m' d
//	(φ(gX) - φ - Σ h + S/n) d d' = m d' + m' d
//
// and what all tables and the statement sum up to is 0.
//
// Asks and answers. Let a tuple be asked for A times and answered k times, over all rows and the statement. The
// sum of fractions is 0 as a function of the challenges only if A = k modulo the field's characteristic p for
// each tuple. Every ask is a number that the table, or the verifier, bounds, and all asks of a bus are fewer
// than p (form.go computes it for the proof's heights), so A is a number below p. If A is not 0, k is not 0
// modulo p, and so some row answers with the tuple, with a multiplicity that is not 0: by its table the tuple
// is true. How often it says so is of no importance, and a prover may choose it: multiplicities of answers
// need no bound.
//
// In zero knowledge the sum is over the m rows that are used. There φ does not come back, but begins and ends
// with fractions of random tuples on the bus of number 0, so that S says nothing: of a table's first row,
// and of the row behind those used, which the prover lets be the tuple of another table's first row. The
// sums that all have then are as if tables sent these tuples to each other. With d₀ of this bus, and
// r = g^m,
//
//	φ d₀ = 1	in the first row and at r
//
// and S/m in place of S/n.

// groups puts a table's messages into as few groups as a degree leaves room for.
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

// leastDegree is the least degree with which every message has a group of its own.
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

// buses numbers the buses of all programs, from 1, and checks that what goes to one has one length.
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
				return nil, fmt.Errorf("%w: table %q has a message of %d values for bus %q, accepted are the %d of others", zkbench.ErrParams, tables[i].Name, len(m.Tuple), m.Bus, b.length)
			}
		}
	}
	return all, nil
}

type bus struct{ number, length int }

// drawn are the challenges of the sums.
type drawn[X any] struct {
	gamma X
	tuple []X // weights: of the bus, and of each value
	minus []X // those of the values, negated
}

// drawSums draws them.
func drawSums[E field.Element[E], X field.Extension[E, X]](c challenger.Challenger[E, X], one X, longest int) (d drawn[X]) {
	d.gamma = c.Challenge("gamma", false)
	d.tuple = weights[E, X](c, "tuple", one, 1+longest)
	for _, w := range d.tuple[1:] {
		d.minus = append(d.minus, neg[E, X](w))
	}
	return d
}

// unmasked is the denominator of a random tuple, of as many values as the extension has coordinates.
func unmasked[E field.Element[E], X field.Extension[E, X]](d drawn[X], tuple []X) X {
	sum := d.gamma
	for i, t := range tuple {
		sum = sum.Sub(d.tuple[1+i].Mul(t))
	}
	return sum
}

// denominators sets d to those of a message on a tile.
func (m *machine[E, X]) denominators(v *field.Vectors[E, X], d field.Vector[E], s *air.Sent, number int, c drawn[X], scratch []E) {
	clearVector(d)
	m.tuple = m.tuple[:0]
	for _, step := range s.Tuple {
		m.tuple = append(m.tuple, m.value(step))
	}
	v.AddProducts(d, m.tuple, c.minus[:len(s.Tuple)], scratch)
	v.AddConstant(d, c.gamma.Sub(c.tuple[0].MulBase(v.New(uint64(number)))))
}

// fraction is a group's sum, as numerator and denominator.
type fraction[E any] struct{ numerator, denominator field.Vector[E] }

// fractions sets f to the sum of a group's on a tile. more are two vectors like these.
func (m *machine[E, X]) fractions(v *field.Vectors[E, X], f fraction[E], group []int, numbers map[string]bus, c drawn[X], more [2]field.Vector[E], scratch []E) {
	for at, index := range group {
		s := &m.program.Messages[index]
		d := more[0]
		m.denominators(v, d, s, numbers[s.Bus].number, c, scratch)
		multiplicity := m.value(s.Multiplicity)
		if at == 0 {
			for k := range d {
				clear(f.numerator[k])
				copy(f.denominator[k], d[k])
			}
			copy(f.numerator[0], multiplicity)
			continue
		}
		// n/D + m/d = (n d + m D) / (D d)
		t := more[1]
		clearVector(t)
		v.Product(t, f.numerator, d, scratch)
		v.MulBase(f.numerator, f.denominator, multiplicity)
		v.AddTo(f.numerator, t)
		clearVector(t)
		v.Product(t, f.denominator, d, scratch)
		for k := range t {
			copy(f.denominator[k], t[k])
		}
	}
}

func clearVector[E any](v field.Vector[E]) {
	for _, c := range v {
		clear(c)
	}
}
