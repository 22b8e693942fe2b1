package planttest

import (
	"slices"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/plonkish/internal/inside"
)

// solver changes values of a circuit's unknowns and repairs constraints.
type solver struct {
	*inside.Circuit
	of      []int                 // unknown, by cell
	values  []fr.Element          // by unknown, and the own one of a cell that is split off
	readers [][]int               // constraints that read an unknown
	by      []int                 // the constraint that decides an unknown; -1: none, it is chosen
	decides [][]int               // unknowns that a constraint decides
	order   []int                 // in which unknowns were decided
	tables  map[*fr.Element]*rows // by a table's first element

	leftOut int
	undo    []change     // what has changed, to be put back
	path    map[int]bool // unknowns whose change is not yet repaired
	steps   int          // that a repair may still take
}

type change struct {
	unknown int
	value   fr.Element
}

func newSolver(c *inside.Circuit) *solver {
	s := &solver{
		Circuit: c, of: slices.Clone(c.Unknown), values: append(slices.Clone(c.Values), fr.Element{}),
		readers: make([][]int, len(c.Values)+1), by: slices.Repeat([]int{-1}, len(c.Values)+1), decides: make([][]int, len(c.Constraints)),
		tables: make(map[*fr.Element]*rows), leftOut: -1, path: make(map[int]bool),
	}
	for i := range c.Constraints {
		for _, u := range s.unknowns(i) {
			s.readers[u] = append(s.readers[u], i)
		}
		if k := &c.Constraints[i]; k.Table != nil && s.tables[&k.Table[0][0]] == nil {
			r := &rows{all: make(map[[4]fr.Element]bool)}
			for i, column := range k.Table {
				r.by[i] = make(map[fr.Element][]int)
				for row, e := range column {
					r.all[tableRow(k.Table, row)] = true
					r.by[i][e] = append(r.by[i][e], row)
				}
			}
			s.tables[&k.Table[0][0]] = r
		}
	}
	return s
}

// rows holds the rows of a table, and their numbers by each of their parts.
type rows struct {
	all map[[4]fr.Element]bool
	by  [4]map[fr.Element][]int
}

func tableRow(table [][]fr.Element, row int) (r [4]fr.Element) {
	for i := range table {
		r[i] = table[i][row]
	}
	return r
}

// polys returns a term, or a lookup's tuple.
func (s *solver) polys(constraint int) []inside.Poly {
	if k := &s.Constraints[constraint]; k.Zero == nil {
		return k.Tuple
	}
	return []inside.Poly{s.Constraints[constraint].Zero}
}

// unknowns returns the unknowns that a constraint reads, each once.
func (s *solver) unknowns(constraint int) (all []int) {
	for _, p := range s.polys(constraint) {
		all = append(all, s.unknownsIn(p)...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// unknownsIn returns the unknowns of a polynomial, each once.
func (s *solver) unknownsIn(p inside.Poly) (all []int) {
	for _, cell := range p.Cells() {
		if u := s.of[cell]; !slices.Contains(all, u) {
			all = append(all, u)
		}
	}
	return all
}

func (s *solver) value(p inside.Poly) fr.Element {
	return p.Evaluate(func(cell int) fr.Element { return s.values[s.of[cell]] })
}

// valueWith returns a polynomial's value if unknown u had another value.
func (s *solver) valueWith(p inside.Poly, u int, value fr.Element) fr.Element {
	before := s.values[u]
	s.values[u] = value
	at := s.value(p)
	s.values[u] = before
	return at
}

// tuple returns a lookup's tuple.
func (s *solver) tuple(constraint int) (t [4]fr.Element) {
	for i, p := range s.Constraints[constraint].Tuple {
		t[i] = s.value(p)
	}
	return t
}

func (s *solver) holds(constraint int) bool {
	k := &s.Constraints[constraint]
	switch {
	case k.Zero != nil:
		e := s.value(k.Zero)
		return e.IsZero()
	case k.Table != nil:
		return s.tables[&k.Table[0][0]].all[s.tuple(constraint)]
	}
	return true // a wire: the unknown is one
}

// broken returns the constraints that do not hold.
func (s *solver) broken() (all []int) {
	for i := range s.Constraints {
		if !s.holds(i) {
			all = append(all, i)
		}
	}
	return all
}

// affine solves p = target for an unknown in which p is of degree 1.
func (s *solver) affine(p inside.Poly, u int, target fr.Element) (x fr.Element, ok bool) {
	var e [3]fr.Element
	for i := range e {
		e[i] = s.valueWith(p, u, fr.NewElement(uint64(i)))
	}
	var slope, second fr.Element
	slope.Sub(&e[1], &e[0])
	second.Sub(&e[2], &e[1])
	if slope.IsZero() || slope != second {
		return x, false
	}
	x.Sub(&target, &e[0]).Div(&x, &slope)
	return x, true
}

// orient finds which constraint decides which unknown. A constraint decides the last unknown that is not
// known yet, if it is of degree 1 in it. A lookup decides unknowns if the known parts of its tuple determine
// the row. If nothing decides an unknown, orient chooses the first unknown that is a digit: in a lookup's
// first part, or in a term of degree 2 or more in one or two unknowns.
func (s *solver) orient() {
	n := len(s.Values)
	s.order = make([]int, n+1)
	known, keys := make([]bool, n), make([]bool, n)
	for i := range s.Constraints {
		k := &s.Constraints[i]
		if k.Tuple != nil {
			for _, u := range s.unknownsIn(k.Tuple[0]) {
				keys[u] = true
			}
		}
		if in := s.unknownsIn(k.Zero); len(in) <= 2 {
			for _, u := range in {
				if _, ok := s.affine(k.Zero, u, fr.Element{}); !ok {
					keys[u] = true
				}
			}
		}
	}
	first := make([]int, 0, n) // unknowns by their first row
	seen := make([]bool, n)
	height := len(s.Unknown) / s.Columns
	for row := range height {
		for column := range s.Columns {
			if u := s.Unknown[column*height+row]; !seen[u] {
				seen[u], first = true, append(first, u)
			}
		}
	}
	var queue []int
	for i := range s.Constraints {
		queue = append(queue, i)
	}
	decided := 0
	learn := func(u, by int) {
		decided++
		known[u], s.by[u], s.order[u] = true, by, decided
		if by >= 0 {
			s.decides[by] = append(s.decides[by], u)
		}
		queue = append(queue, s.readers[u]...)
	}
	isKnown := func(u int) bool { return known[u] }
	next := [2]int{}
	for {
		for len(queue) > 0 {
			i := queue[len(queue)-1]
			queue = queue[:len(queue)-1]
			for _, u := range s.decided(i, isKnown) {
				learn(u, i)
			}
		}
		u := -1
		for pass := range next {
			for ; next[pass] < n && u < 0; next[pass]++ {
				if v := first[next[pass]]; !known[v] && (pass == 1 || keys[v]) {
					u = v
				}
			}
			if u >= 0 {
				break
			}
		}
		if u < 0 {
			return
		}
		learn(u, -1)
	}
}

// decided returns the unknowns that a constraint decides by those that are known.
func (s *solver) decided(constraint int, known func(u int) bool) (all []int) {
	k := &s.Constraints[constraint]
	var open []int // by poly: its one unknown that is not known; -1: none
	determined := 0
	for _, p := range s.polys(constraint) {
		missing := slices.DeleteFunc(s.unknownsIn(p), known)
		switch len(missing) {
		case 0:
			open = append(open, -1)
			determined++
		case 1:
			if _, ok := s.affine(p, missing[0], fr.Element{}); !ok || slices.Contains(open, missing[0]) {
				return nil
			}
			open = append(open, missing[0])
		default:
			return nil
		}
	}
	if k.Tuple != nil && determined == 0 {
		return nil
	}
	if k.Table != nil && s.rowOf(k, open) < 0 {
		return nil
	}
	return slices.DeleteFunc(open, func(u int) bool { return u < 0 })
}

// rowOf returns the one row of a lookup's table that has the parts whose unknowns are all known, of which the
// first must be one. It returns -1 if there is none, or more than one.
func (s *solver) rowOf(k *inside.Constraint, open []int) int {
	if open[0] >= 0 {
		return -1
	}
	var parts [4]fr.Element
	for i, p := range k.Tuple {
		if open[i] < 0 {
			parts[i] = s.value(p)
		}
	}
	found := -1
	for _, row := range s.tables[&k.Table[0][0]].by[0][parts[0]] {
		r := tableRow(k.Table, row)
		for i := range r {
			if i < len(open) && open[i] >= 0 {
				parts[i] = r[i]
			}
		}
		switch {
		case parts != r:
		case found >= 0 && tableRow(k.Table, found) != r:
			return -1
		default:
			found = row
		}
	}
	return found
}
