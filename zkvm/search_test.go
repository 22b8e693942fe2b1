package zkvm

import (
	"iter"
	"math/bits"
	"slices"
)

// The search of this file decides whether what a row sends to the other tables is a function of what they tell it. It takes a
// table in a small shape, modulo a small prime, and what cells, state and program answer to a row. It looks for a row that
// satisfies the table and sends something else than the row that was filled, and something at all. It excludes nothing by the
// columns' declared ranges: only constraints and look-ups do. It can also look for a row with a column outside its range.

// sent is a message of a row. It is immutable.
type sent struct {
	number  int // of the message in its table
	bus     string
	asks    bool
	times   polynomial // 1 or 0 if the row asks
	tuple   []polynomial
	columns uint64 // that the tuple reads
}

// row is what is left to satisfy of a row, some of whose columns have values.
type row struct {
	zero           []polynomial // what must be 0
	lookups, links []*sent
	outside        bool // whether a column has a value outside its range
}

// with adds a polynomial that must be 0.
func (r row) with(p polynomial) row {
	r.zero = append(slices.Clip(r.zero), p)
	return r
}

// substitute returns a message with a column's value in its place.
func (s *field) substitute(m *sent, column int, v uint64) *sent {
	if (m.times.columns|m.columns)>>column&1 == 0 {
		return m
	}
	changed := &sent{number: m.number, bus: m.bus, asks: m.asks, times: s.ring.substitute(m.times, column, v)}
	for _, e := range m.tuple {
		e = s.ring.substitute(e, column, v)
		changed.tuple = append(changed.tuple, e)
		changed.columns |= e.columns
	}
	return changed
}

// assign gives a column a value. It returns false if that contradicts a constraint.
func (s *search) assign(r row, column int, v uint64) (result row, ok bool) {
	result.zero = make([]polynomial, 0, len(r.zero))
	result.lookups, result.links = make([]*sent, len(r.lookups)), make([]*sent, len(r.links))
	result.outside = r.outside || s.ranges[column] != free && v>>s.ranges[column] != 0
	for _, p := range r.zero {
		p = s.ring.substitute(p, column, v)
		if value, ok := p.constant(); !ok {
			result.zero = append(result.zero, p)
		} else if value != 0 {
			return row{}, false
		}
	}
	for i, m := range r.lookups {
		result.lookups[i] = s.field.substitute(m, column, v)
	}
	for i, m := range r.links {
		result.links[i] = s.field.substitute(m, column, v)
	}
	return result, true
}

// goal is what a search looks for.
type goal int

const (
	otherSent goal = iota // a row that sends something else than the filled row
	outside               // a row that sends something and has a column outside its range
)

// search looks for rows.
type search struct {
	*field
	tuples  map[string][][]uint64 // what asks can be answered with
	expect  [][]uint64            // what the links of the filled row are, how often and the tuple; nil if no row is right
	ranges  []int                 // of the columns, in bits
	goal    goal
	limit   int // of visited, after which find gives up; or 0
	visited int
	depth   int
	domain  []*domains // by depth, for use again
}

// matches calls f for each tuple that can answer an ask, as far as it is known.
func (s *search) matches(m *sent, f func(tuple []uint64)) {
next:
	for _, tuple := range s.tuples[m.bus] {
		for i := range m.tuple {
			if v, ok := m.tuple[i].constant(); ok && v != tuple[i] {
				continue next
			}
		}
		f(tuple)
	}
}

// settle returns false if no tuple can answer a message that asks. If there is only one tuple, the message gets it.
func (s *search) settle(r *row, m *sent) (settled *sent, ok bool) {
	if !m.asks || !m.isSent() {
		return m, true
	}
	var only []uint64
	n := 0
	s.matches(m, func(tuple []uint64) { only, n = tuple, n+1 })
	if n != 1 || m.columns == 0 {
		return m, n > 0
	}
	return s.answer(r, m, only), true
}

// answer gives a message a tuple.
func (s *search) answer(r *row, m *sent, tuple []uint64) *sent {
	settled := &sent{number: m.number, bus: m.bus, asks: m.asks, times: m.times}
	for i, v := range tuple {
		if m.tuple[i].columns != 0 {
			*r = r.with(s.Sub(m.tuple[i], s.of(v)))
		}
		settled.tuple = append(settled.tuple, s.of(v))
	}
	return settled
}

// isSent reports whether it is known that the message is sent.
func (m *sent) isSent() bool {
	times, ok := m.times.constant()
	return ok && times != 0
}

// isNotSent reports whether it is known that the message is not sent.
func (m *sent) isNotSent() bool {
	times, ok := m.times.constant()
	return ok && times == 0
}

// decided reports whether it is known that the row sends nothing, or something that no row asks for, or, if the goal is another row, what
// the filled row sends.
func (s *search) decided(r *row) bool {
	nothing, same := true, s.goal == otherSent && s.expect != nil
	for i, m := range r.links {
		if m.leadsNowhere() {
			return true
		}
		times, known := m.times.constant()
		nothing = nothing && known && times == 0
		same = same && known && times == s.expect[i][0]
		for j := range m.tuple {
			v, ok := m.tuple[j].constant()
			same = same && (known && times == 0 || ok && v == s.expect[i][1+j])
		}
	}
	return nothing || same
}

// leadsNowhere reports whether the message is one of bus commit with no byte left. Table output has no row that begins and ends with it:
// each of its rows leads to one with a byte less, and the last one has one byte left.
func (m *sent) leadsNowhere() bool {
	if m.bus != busCommit || m.asks {
		return false
	}
	times, ok := m.times.constant()
	left, known := m.tuple[len(m.tuple)-1].constant()
	return ok && times == 1 && known && left == 0
}

// find reports whether there is a row as the goal says.
func (s *search) find(r row) bool {
	s.depth++
	defer func() { s.depth-- }()
	for {
		if s.visited++; s.limit > 0 && s.visited > s.limit {
			return false
		}
		if !s.settleAll(&r) || s.decided(&r) {
			return false
		}
		for s.depth >= len(s.domain) {
			s.domain = append(s.domain, new(domains))
		}
		d := s.domain[s.depth]
		s.domains(d, &r)
		if column := d.least(d.columns); column >= 0 && d.count[column] > 1 {
			for i := range r.zero {
				d.support(s.ring, &r.zero[i])
			}
		}
		if assigned, ok := s.assignOnly(&r, d); !ok {
			return false
		} else if assigned {
			continue
		}
		next := s.branches(r, d)
		if next == nil {
			// A constraint can be satisfied by a column that nothing else reads.
			if i := s.satisfiable(&r); i >= 0 {
				r.zero = slices.Delete(slices.Clone(r.zero), i, i+1)
				continue
			}
			if len(r.zero) == 0 {
				return s.goal == otherSent || r.outside // what is sent is known to be different, or free
			}
			next = s.assignments(r, bits.TrailingZeros64(r.zero[0].columns), s.roots([4]uint64{}))
		}
		for r := range next {
			if s.find(r) {
				return true
			}
		}
		return false
	}
}

// settleAll settles all messages. It returns false if an ask has no answer.
func (s *search) settleAll(r *row) bool {
	lookups, links := r.lookups, r.links
	r.lookups, r.links = make([]*sent, 0, len(lookups)), make([]*sent, 0, len(links))
	for _, m := range lookups {
		m, ok := s.settle(r, m)
		if !ok {
			return false
		}
		if !m.isNotSent() && !(m.isSent() && m.columns == 0) {
			r.lookups = append(r.lookups, m)
		}
	}
	for _, m := range links {
		m, ok := s.settle(r, m)
		if !ok {
			return false
		}
		r.links = append(r.links, m)
	}
	return true
}

// assignOnly assigns the columns that can have only one value. It returns false if there is none for a column.
func (s *search) assignOnly(r *row, d *domains) (assigned, ok bool) {
	for rest := d.columns; rest != 0; rest &= rest - 1 {
		column := bits.TrailingZeros64(rest)
		if d.count[column] > 1 {
			continue
		}
		all := d.values[column].all()
		if len(all) == 0 {
			return false, false
		}
		if *r, ok = s.assign(*r, column, all[0]); !ok {
			return false, false
		}
		assigned = true
	}
	return assigned, true
}

// branches returns rows of which one must be satisfied, or nil if nothing is known to choose from.
func (s *search) branches(r row, d *domains) iter.Seq[row] {
	// Whether another table is asked.
	if i := slices.IndexFunc(r.links, func(m *sent) bool { return m.asks && m.times.columns != 0 }); i >= 0 {
		return func(yield func(row) bool) {
			_ = yield(s.decide(r, r.links[i].times, 1)) && yield(s.decide(r, r.links[i].times, 0))
		}
	}
	// The values of a column, of the constraint that lacks fewest.
	column, lacks := d.least(d.columns), 65
	for i := range r.zero {
		if n := bits.OnesCount64(r.zero[i].columns); n < lacks {
			if c := d.least(r.zero[i].columns); c >= 0 {
				column, lacks = c, n
			}
		}
	}
	if column >= 0 {
		return s.assignments(r, column, &d.values[column])
	}
	// The tuples that answer an ask.
	if m, tuples := s.undecided(&r); m != nil {
		return func(yield func(row) bool) {
			for _, tuple := range tuples {
				next := r
				settled := s.answer(&next, m, tuple)
				replace := func(all []*sent) []*sent {
					all = slices.Clone(all)
					if i := slices.Index(all, m); i >= 0 {
						all[i] = settled
					}
					return all
				}
				next.lookups, next.links = replace(r.lookups), replace(r.links)
				if !yield(next) {
					return
				}
			}
		}
	}
	return nil
}

// assignments returns the rows in which a column has one of the given values.
func (s *search) assignments(r row, column int, of *values) iter.Seq[row] {
	return func(yield func(row) bool) {
		for _, v := range of.all() {
			if next, ok := s.assign(r, column, v); ok && !yield(next) {
				return
			}
		}
	}
}

// decide gives the multiplicity of messages a value.
func (s *field) decide(r row, times polynomial, value uint64) row {
	r = r.with(s.Sub(times, s.of(value)))
	decided := func(all []*sent) (result []*sent) {
		for _, m := range all {
			if len(s.Sub(m.times, times).terms) == 0 {
				m = &sent{m.number, m.bus, m.asks, s.of(value), m.tuple, m.columns}
			}
			result = append(result, m)
		}
		return result
	}
	r.lookups, r.links = decided(r.lookups), decided(r.links)
	return r
}

// undecided returns the ask that the fewest tuples can answer, of those whose tuple is not known yet.
func (s *search) undecided(r *row) (best *sent, tuples [][]uint64) {
	for _, all := range [][]*sent{r.lookups, r.links} {
		for _, m := range all {
			if !m.asks || !m.isSent() || m.columns == 0 {
				continue
			}
			var found [][]uint64
			s.matches(m, func(tuple []uint64) { found = append(found, tuple) })
			if best == nil || len(found) < len(tuples) {
				best, tuples = m, found
			}
		}
	}
	return best, tuples
}

// satisfiable returns a constraint that a column satisfies which nothing else reads, or -1.
func (s *search) satisfiable(r *row) int {
	var once, more uint64 // columns that are read by one constraint, and by several or by messages
	for i := range r.zero {
		more |= once & r.zero[i].columns
		once |= r.zero[i].columns
	}
	for _, all := range [][]*sent{r.lookups, r.links} {
		for _, m := range all {
			more |= m.times.columns
			if !m.isNotSent() {
				more |= m.columns
			}
		}
	}
	for i := range r.zero {
		// The column must stand by itself, so that its coefficient is not 0.
		alone := r.zero[i].columns &^ more
		for c, bits := range s.ranges {
			if s.goal == outside && bits != free {
				alone &^= 1 << c
			}
		}
		for _, t := range r.zero[i].terms {
			if t.key > 255 {
				for key := t.key; key != 0; key >>= 8 {
					alone &^= 1 << (key&255 - 1)
				}
			}
		}
		if alone != 0 {
			return i
		}
	}
	return -1
}
