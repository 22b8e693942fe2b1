package circuittest

import (
	"cmp"
	"slices"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
)

// Free returns the names of wires that a circuit leaves free at this solution, to first order. With the
// inputs fixed, it names one wire for each dimension of the kernel of the constraints' Jacobian. It also
// names each input on which no constraint depends.
//
// If the kernel contains only 0, no curve of other solutions passes through this one, because the tangent of
// such a curve would be in the kernel. So every wire is in some constraint. It also follows that no curve
// through this solution changes several outputs of hints together, however many constraints are between these
// outputs. A check that changes one value at a time cannot show this.
//
// Free does not show that the solution is the only one. Bits that are asserted to be 0 or 1 have no tangent,
// whether or not their sum is asserted. OtherOutputs tests these bits by changing them. At another witness
// the kernel may be larger, for instance after a division of 0 by 0. And a larger kernel does not always
// give a choice: the constraint v² = 0 leaves v free to first order, although it fixes v.
//
// Values that the circuit commits to are treated as fixed, like inputs. Lookups bind these values to rows of
// a table, which have no tangent either. Free does not show that a value is looked up, nor in which table.
// It does show that the looked-up digits of a value sum to that value, and that looked-up rows determine
// what is computed from them.
func (s *Solution) Free() []string {
	var free []string
	depended := make([]bool, len(s.values))
	e := elimination{columns: make([][]int, len(s.values)), hinted: s.hinted, zero: make([]bool, len(s.values)), settled: make([]bool, len(s.values))}
	for i := range s.steps {
		if s.steps[i].hint != nil {
			continue
		}
		row := s.gradient(&s.steps[i])
		for _, t := range row {
			depended[t.wire] = true
		}
		e.add(slices.DeleteFunc(row, func(t term) bool { return s.fixed(t.wire) }))
	}
	e.solve()
	for w := range uint32(len(s.values) - 1) {
		if s.fixed(w) && !s.committed[w] && !depended[w] || !s.fixed(w) && !e.settled[w] {
			free = append(free, s.name(w))
		}
	}
	return free
}

// fixed reports whether a wire is an input, the constant, or committed to.
func (s *Solution) fixed(wire uint32) bool { return s.source[wire] == input || s.committed[wire] }

// hinted reports whether a wire is an output of a hint.
func (s *Solution) hinted(wire uint32) bool {
	return s.source[wire] >= 0 && s.steps[s.source[wire]].hint != nil
}

// elimination is Gaussian elimination of homogeneous equations. A row of one term says that its wire is zero.
// That costs each other row of the wire a term and no sum, and from the inputs on it settles nearly all of a
// circuit. The shortest row is always next. Its pivot is the wire in the fewest rows, so that few new terms
// appear. Outputs of hints are pivots last, so that they name what is not settled.
type elimination struct {
	rows    [][]term // by wire; may still contain zero wires
	live    []int    // number of a row's terms, without zero wires; 0: the row is done
	columns [][]int  // the rows that a wire is in, or has been
	hinted  func(wire uint32) bool
	zero    []bool  // wires
	settled []bool  // wires that are zero, or a sum of wires that are not settled
	queue   [][]int // rows by the number of their terms, also those that have fewer by now
}

func (e *elimination) add(row []term) {
	for _, t := range row {
		e.columns[t.wire] = append(e.columns[t.wire], len(e.rows))
	}
	e.rows, e.live = append(e.rows, row), append(e.live, len(row))
	e.enqueue(len(e.rows) - 1)
}

func (e *elimination) enqueue(row int) {
	n := e.live[row]
	for len(e.queue) <= n {
		e.queue = append(e.queue, nil)
	}
	e.queue[n] = append(e.queue[n], row)
}

func (e *elimination) solve() {
	for n := 1; n < len(e.queue); {
		last := len(e.queue[n]) - 1
		if last < 0 {
			n++
			continue
		}
		row := e.queue[n][last]
		e.queue[n] = e.queue[n][:last]
		if e.live[row] == n {
			e.settle(row)
			n = 1
		}
	}
}

// settle eliminates a wire from all rows by one of them.
func (e *elimination) settle(row int) {
	terms := e.terms(row)
	pivot := slices.MinFunc(terms, func(a, b term) int {
		if hinted := e.hinted(a.wire); hinted != e.hinted(b.wire) {
			if hinted {
				return 1
			}
			return -1
		}
		return cmp.Compare(len(e.columns[a.wire]), len(e.columns[b.wire]))
	})
	e.live[row], e.settled[pivot.wire], e.zero[pivot.wire] = 0, true, len(terms) == 1
	for _, other := range e.columns[pivot.wire] {
		at, found := slices.BinarySearchFunc(e.rows[other], pivot.wire, func(t term, wire uint32) int { return cmp.Compare(t.wire, wire) })
		if e.live[other] == 0 || !found {
			continue
		}
		if len(terms) == 1 {
			e.live[other]--
			e.enqueue(other)
			continue
		}
		var factor fr.Element
		factor.Div(&e.rows[other][at].coeff, &pivot.coeff).Neg(&factor)
		sum := slices.Clone(e.terms(other))
		for _, t := range terms {
			t.coeff.Mul(&t.coeff, &factor)
			sum = append(sum, t)
			if !slices.Contains(e.columns[t.wire], other) {
				e.columns[t.wire] = append(e.columns[t.wire], other)
			}
		}
		e.rows[other] = collect(sum)
		e.live[other] = len(e.rows[other])
		e.enqueue(other)
	}
}

// terms returns a row's terms without zero wires.
func (e *elimination) terms(row int) []term {
	e.rows[row] = slices.DeleteFunc(e.rows[row], func(t term) bool { return e.zero[t.wire] })
	return e.rows[row]
}

// collect sorts terms by wire and adds those of the same wire. It drops terms that are zero.
func collect(terms []term) []term {
	slices.SortFunc(terms, func(a, b term) int { return cmp.Compare(a.wire, b.wire) })
	out := terms[:0]
	for _, t := range terms {
		if n := len(out); n > 0 && out[n-1].wire == t.wire {
			out[n-1].coeff.Add(&out[n-1].coeff, &t.coeff)
		} else {
			out = append(out, t)
		}
	}
	return slices.DeleteFunc(out, func(t term) bool { return t.coeff.IsZero() })
}
