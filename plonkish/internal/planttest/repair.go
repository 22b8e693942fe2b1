package planttest

import (
	"slices"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/plonkish/internal/inside"
)

// limit is the maximum number of changes that a repair makes.
const limit = 2_000

// forge returns values that break one constraint alone, or nil.
func (s *solver) forge(constraint int) []fr.Element {
	k := &s.Constraints[constraint]
	s.leftOut = constraint
	defer func() { s.leftOut = -1 }()
	var near []int
	if k.Cell >= 0 {
		own := len(s.Values)
		whole := s.of[k.Cell]
		s.values[own] = s.values[whole]
		restore := s.split(k.Cell, own)
		defer restore()
		near = []int{own, whole}
	} else {
		near = s.unknowns(constraint)
	}
	for _, u := range slices.Clone(near) {
		for _, i := range s.readers[u] {
			for _, v := range s.unknowns(i) {
				if len(near) < 64 && !slices.Contains(near, v) {
					near = append(near, v)
				}
			}
		}
	}
	for _, u := range near {
		for _, value := range others(s.values[u]) {
			s.steps = limit
			for _, change := range []func(u int, value fr.Element) bool{s.set, s.forward, s.apart} {
				var values []fr.Element
				if change(u, value) && s.onlyBroken(constraint) {
					values = slices.Clone(s.values)
				}
				s.back(0)
				if values != nil {
					return values
				}
			}
		}
	}
	return nil
}

// apart works like forward, for the cells that a cell is split off from. It first sets the split cell's own
// value, so that the one constraint that reads it holds.
func (s *solver) apart(u int, value fr.Element) bool {
	own := len(s.Values)
	if u == own || len(s.readers[own]) != 1 {
		return false
	}
	s.undo = append(s.undo, change{own, s.values[own]})
	for _, p := range s.polys(s.readers[own][0]) {
		before := s.values[u]
		s.values[u] = value
		e, ok := s.affine(p, own, fr.Element{})
		s.values[u] = before
		if !ok || s.Constraints[s.readers[own][0]].Zero == nil {
			return false
		}
		s.values[own] = e
	}
	return s.forward(u, value)
}

// others returns values that a forger tries in place of e: neighbours at a distance of up to three units or
// of a quarter, its opposite, and 0.
func others(e fr.Element) (all []fr.Element) {
	quarter := fr.NewElement(4)
	quarter.Inverse(&quarter)
	for _, by := range []int64{1, -1, 2, -2, 3} {
		var delta fr.Element
		delta.SetInt64(by)
		all = append(all, *new(fr.Element).Add(&e, &delta))
		if by*by == 1 {
			delta.Mul(&delta, &quarter)
			all = append(all, *new(fr.Element).Add(&e, &delta))
		}
	}
	if !e.IsZero() {
		all = append(all, *new(fr.Element).Neg(&e), fr.Element{})
	}
	return all
}

// split gives a cell an unknown of its own, until restore is called.
func (s *solver) split(cell, own int) (restore func()) {
	whole := s.of[cell]
	readers := s.readers[whole]
	s.of[cell] = own
	for _, i := range readers {
		if slices.Contains(s.unknowns(i), own) {
			s.readers[own] = append(s.readers[own], i)
		}
	}
	return func() {
		s.of[cell], s.readers[own] = whole, nil
	}
}

// onlyBroken reports whether the constraint is the only broken one among those that the changes reach.
func (s *solver) onlyBroken(constraint int) bool {
	k := &s.Constraints[constraint]
	if k.Cell >= 0 {
		if own, whole := s.values[len(s.Values)], s.values[s.Unknown[k.Cell]]; own == whole {
			return false
		}
	} else if s.holds(constraint) {
		return false
	}
	for _, c := range s.undo {
		for _, i := range s.readers[c.unknown] {
			if i != constraint && !s.holds(i) {
				return false
			}
		}
	}
	return true
}

// back undoes all changes except the first to.
func (s *solver) back(to int) {
	for len(s.undo) > to {
		c := s.undo[len(s.undo)-1]
		s.values[c.unknown], s.undo = c.value, s.undo[:len(s.undo)-1]
	}
}

// set changes an unknown, repairs what reads it and returns true. If it cannot, it changes nothing and
// returns false.
func (s *solver) set(u int, value fr.Element) bool {
	if s.steps--; s.steps < 0 || s.path[u] {
		return false
	}
	mark := len(s.undo)
	s.undo = append(s.undo, change{u, s.values[u]})
	before := s.values[u]
	s.values[u] = value
	s.path[u] = true
	defer delete(s.path, u)
	for _, i := range s.readers[u] {
		if i != s.leftOut && !s.holds(i) && !s.repair(i, u, before) {
			s.back(mark)
			return false
		}
	}
	return true
}

// repair makes a constraint hold that a change of an unknown has broken.
func (s *solver) repair(constraint, changed int, before fr.Element) bool {
	k := &s.Constraints[constraint]
	if k.Zero != nil {
		return s.make(constraint, k.Zero, changed, before, fr.Element{})
	}
	// The row that the parts say that this lookup does not decide, if there is one.
	mark := len(s.undo)
	open := make([]int, len(k.Tuple))
	for i, p := range k.Tuple {
		open[i] = -1
		for _, u := range s.decides[constraint] {
			if slices.Contains(s.unknownsIn(p), u) && !s.path[u] {
				open[i] = u
			}
		}
	}
	if row := s.rowOf(k, open); row >= 0 {
		if s.toRow(constraint, row, changed, before) {
			return true
		}
		s.back(mark)
	}
	// The row that it was.
	after := s.values[changed]
	s.values[changed] = before
	was := s.tuple(constraint)
	s.values[changed] = after
	rows := s.tables[&k.Table[0][0]].by
	for _, row := range rows[0][was[0]] {
		if tableRow(k.Table, row) == was {
			if s.toRow(constraint, row, changed, before) {
				return true
			}
			s.back(mark)
			break
		}
	}
	// A row that has the part that has changed.
	for i, now := range s.tuple(constraint) {
		if i >= len(k.Table) || now == was[i] || len(rows[i][now]) > few {
			continue
		}
		for _, row := range rows[i][now] {
			if s.toRow(constraint, row, changed, before) {
				return true
			}
			s.back(mark)
		}
	}
	return false
}

// few is the number of rows of a table that are tried.
const few = 16

// toRow changes unknowns so that a lookup's tuple is a row of its table.
func (s *solver) toRow(constraint, row, changed int, before fr.Element) bool {
	k := &s.Constraints[constraint]
	r := tableRow(k.Table, row)
	for i, p := range k.Tuple {
		if s.value(p) != r[i] && !s.make(constraint, p, changed, before, r[i]) {
			return false
		}
	}
	return s.holds(constraint)
}

// make changes an unknown so that a polynomial of a constraint has a given value. It tries an unknown that
// the constraint decides, then one that is chosen, then any.
func (s *solver) make(constraint int, p inside.Poly, changed int, before, target fr.Element) bool {
	in := slices.DeleteFunc(s.unknownsIn(p), func(u int) bool { return s.path[u] })
	class := func(u int) int {
		switch {
		case slices.Contains(s.decides[constraint], u):
			return 0
		case s.by[u] < 0:
			return 1
		}
		return 2
	}
	slices.SortStableFunc(in, func(x, y int) int { return class(x) - class(y) })
	for _, u := range in {
		value, ok := s.affine(p, u, target)
		if !ok {
			if value, ok = s.along(p, u, changed, before); !ok {
				continue
			}
		}
		mark := len(s.undo)
		if s.set(u, value) && s.value(p) == target {
			return true
		}
		s.back(mark)
	}
	return false
}

// along moves an unknown so that a linear form of two unknowns in a polynomial, this one and the changed one,
// keeps its value. It moves along the gradient at the values before.
func (s *solver) along(p inside.Poly, u, changed int, before fr.Element) (value fr.Element, ok bool) {
	after := s.values[changed]
	s.values[changed] = before
	var by, of, step fr.Element
	by, of = s.slope(p, u), s.slope(p, changed)
	target := s.value(p)
	s.values[changed] = after
	if by.IsZero() {
		return value, false
	}
	step.Sub(&after, &before).Mul(&step, &of).Div(&step, &by)
	value.Sub(&s.values[u], &step)
	return value, s.valueWith(p, u, value) == target
}

// slope returns the derivative of a polynomial by an unknown.
func (s *solver) slope(p inside.Poly, u int) fr.Element {
	type dual struct{ value, slope fr.Element }
	values := make([]dual, len(p))
	for i, step := range p {
		d := &values[i]
		switch step.Op {
		case inside.Const:
			d.value = step.Value
		case inside.Cell:
			d.value = s.values[s.of[step.X]]
			if s.of[step.X] == u {
				d.slope.SetOne()
			}
		default:
			x, y := &values[step.X], &values[step.Y]
			switch step.Op {
			case inside.Add:
				d.value.Add(&x.value, &y.value)
				d.slope.Add(&x.slope, &y.slope)
			case inside.Sub:
				d.value.Sub(&x.value, &y.value)
				d.slope.Sub(&x.slope, &y.slope)
			default:
				var e fr.Element
				d.value.Mul(&x.value, &y.value)
				d.slope.Mul(&x.slope, &y.value)
				d.slope.Add(&d.slope, e.Mul(&x.value, &y.slope))
			}
		}
	}
	return values[len(p)-1].slope
}
