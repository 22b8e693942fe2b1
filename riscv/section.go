package riscv

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// section is what a thread executes between two calls, begin and end, or outside of all. It is counted
// apart, for each has blocks of its own.
type section struct {
	name    string
	within  *section   // which it was begun in; nil: none
	inner   []*section // that were begun in it
	entered uint64
	calls   []calls // of each precompile

	blocks map[uint64]*block
	parts  []*block // that ran to a place before their end
	jumps  [cachedJumps]struct {
		pc    uint64
		block *block
	}
	settled map[int]Counts // by function, of blocks that are gone
	seen    []uint64       // bits of the functions that it has counts of, the first for code without one
}

// calls are those of a precompile, and their units of work.
type calls struct{ calls, units uint64 }

// Limits of sections.
const (
	mostSections = 64
	longestName  = 64 // bytes
)

// mostDecoded are the instructions in blocks; with one more all blocks go, and are decoded again. A block
// itself takes the memory of blockTakes of them.
const (
	mostDecoded = 4 << 20
	blockTakes  = 8
)

// mostSeen are the functions that all sections together have counts of. Each takes some 250 bytes.
const mostSeen = 2 * mostSymbols

// sees notes that a section has counts of a function. false: all sections together have counts of too many.
func (m *machine) sees(s *section, function int) bool {
	if s.seen == nil {
		s.seen = make([]uint64, len(m.program.functions)/64+1)
	}
	word, bit := &s.seen[(function+1)/64], uint64(1)<<((function+1)%64)
	if *word&bit == 0 {
		*word |= bit
		m.seen++
	}
	return m.seen <= mostSeen
}

func (m *machine) newSection(name string, within *section) *section {
	s := &section{
		name: name, within: within, calls: make([]calls, len(m.Precompiles)),
		blocks: make(map[uint64]*block), settled: make(map[int]Counts),
	}
	m.sections = append(m.sections, s)
	return s
}

// begin is a call: a section whose name is n bytes at an address.
func (m *machine) begin(t *thread, addr, n uint64) bool {
	raw := make([]byte, min(n, longestName))
	if kind := m.mem.read(addr, raw); kind != 0 {
		return m.refuse(kind, "the name of a section")
	}
	name := string(raw)
	if n == 0 || n > longestName || strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c == '/' || c > '~' }) {
		return m.refuse(BadCall, fmt.Sprintf("a section named %q, of %d bytes; accepted: 1 to %d of ASCII's, without spaces and slashes", name, n, longestName))
	}
	i := slices.IndexFunc(t.section.inner, func(s *section) bool { return s.name == name })
	if i < 0 {
		if len(m.sections) == mostSections {
			return m.refuse(BadCall, fmt.Sprintf("section %q; accepted: %d sections", name, mostSections-1))
		}
		i = len(t.section.inner)
		t.section.inner = append(t.section.inner, m.newSection(name, t.section))
	}
	t.section = t.section.inner[i]
	t.section.entered++
	return true
}

// end is a call: the thread goes on where its section was begun.
func (m *machine) end(t *thread) bool {
	if t.section.within == nil {
		return m.refuse(BadCall, "the end of a section; accepted: after its beginning")
	}
	t.section = t.section.within
	return true
}

// settle adds up what blocks ran how often, and forgets them.
func (s *section) settle() {
	add := func(b *block) {
		if b.runs == 0 {
			return
		}
		c := s.settled[b.function]
		for i := range b.code {
			c[b.code[i].op.class()] += b.runs
		}
		c[System] -= b.precompiled
		c[Precompiled] += b.precompiled
		s.settled[b.function] = c
	}
	for _, b := range s.blocks {
		add(b)
	}
	for _, b := range s.parts {
		add(b)
	}
	clear(s.blocks)
	s.parts = nil
	clear(s.jumps[:])
}

// settle frees all blocks.
func (m *machine) settle() {
	for _, s := range m.sections {
		s.settle()
	}
	m.decoded, m.full = 0, false
}

// tally is what was done in a section and those within it.
func (m *machine) tally(s *section) (t Tally) {
	by := make(map[int]Counts)
	called := make([]calls, len(m.Precompiles))
	var add func(s *section)
	add = func(s *section) {
		for f, c := range s.settled {
			by[f] = by[f].plus(c)
		}
		for i, c := range s.calls {
			called[i].calls += c.calls
			called[i].units += c.units
		}
		for _, inner := range s.inner {
			add(inner)
		}
	}
	add(s)
	for _, f := range slices.Sorted(maps.Keys(by)) { // in an order that does not change, so that sorting takes the same
		c := by[f]
		t.Functions = append(t.Functions, Function{m.names.of(f), c})
		t.Classes = t.Classes.plus(c)
	}
	slices.SortFunc(t.Functions, func(a, b Function) int {
		return cmp.Or(cmp.Compare(b.Total(), a.Total()), cmp.Compare(a.Name, b.Name), slices.Compare(a.Counts[:], b.Counts[:]))
	})
	t.Cycles = t.Classes.Total()
	for i, c := range called {
		if c.calls > 0 {
			t.Precompiles = append(t.Precompiles, PrecompileCalls{m.Precompiles[i].Name, c.calls, c.units})
		}
	}
	return t
}

// result takes all sections together.
func (m *machine) result() *Result {
	m.settle()
	r := &Result{Tally: m.tally(m.sections[0]), Output: m.output, Misaligned: m.misaligned, Pages: m.mem.peak, Touches: m.mem.touches, Missing: m.missing}
	if m.exit != nil {
		r.Exit = *m.exit
	}
	for _, s := range m.sections[1:] {
		r.Sections = append(r.Sections, Section{s.path(), s.entered, m.tally(s)})
	}
	return r
}

// path is a section's name after those that it was begun in.
func (s *section) path() string {
	if s.within == nil || s.within.within == nil {
		return s.name
	}
	return s.within.path() + "/" + s.name
}
