package riscv

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// section counts what a thread executes between the calls begin and end, or outside of all such calls. It has
// blocks of its own, so that its counts are separate.
type section struct {
	name    string
	within  *section   // the section in which it was begun; nil: none
	inner   []*section // the sections that were begun in it
	entered uint64
	calls   []calls // one for each precompile

	blocks map[uint64]*block
	parts  []*block // first parts of blocks that did not run to their end
	jumps  [cachedJumps]struct {
		pc    uint64
		block *block
	}
	settled map[int]Counts // by function: counts of blocks that were freed
	seen    []uint64       // one bit for each function with counts; the first bit is for code without a function
}

// calls counts the calls of a precompile and their units of work.
type calls struct{ calls, units uint64 }

// Limits of sections.
const (
	mostSections = 64
	longestName  = 64 // bytes
)

// mostDecoded is the maximum number of instructions in blocks. Beyond it all blocks are freed and decoded again. A
// block itself takes the memory of blockTakes instructions.
const (
	mostDecoded = 4 << 20
	blockTakes  = 8
)

// mostSeen is the maximum number of functions for which all sections together have counts. Each takes some
// 250 bytes.
const mostSeen = 2 * mostSymbols

// countFunction records that a section has counts of a function. It returns false if all sections together
// have counts of too many functions.
func (m *machine) countFunction(s *section, function int) bool {
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

// begin executes the call that begins a section. The section's name is the n bytes at addr.
func (m *machine) begin(t *thread, addr, n uint64) bool {
	raw := make([]byte, min(n, longestName))
	if kind := m.mem.read(addr, raw); kind != 0 {
		return m.refuse(kind, "the name of a section")
	}
	name := string(raw)
	if n == 0 || n > longestName || strings.ContainsFunc(name, func(c rune) bool { return c <= ' ' || c == '/' || c > '~' }) {
		return m.refuse(BadCall, fmt.Sprintf("a section named %q, of %d bytes; accepted: 1 to %d printable ASCII characters, without spaces and slashes", name, n, longestName))
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

// end executes the call that ends a section: the thread continues in the enclosing section.
func (m *machine) end(t *thread) bool {
	if t.section.within == nil {
		return m.refuse(BadCall, "the end of a section that has not begun")
	}
	t.section = t.section.within
	return true
}

// settle adds the instructions of all blocks, multiplied by how often they ran, to the counts, and frees the
// blocks.
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

// tally returns the counts of a section and the sections in it.
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
	for _, f := range slices.Sorted(maps.Keys(by)) { // in a fixed order: names must be demangled in the same order in each run
		c := by[f]
		t.Functions = append(t.Functions, Function{m.names.name(f), c})
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

// result collects the counts of all sections.
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

// path returns the section's name, after those of its enclosing sections.
func (s *section) path() string {
	if s.within == nil || s.within.within == nil {
		return s.name
	}
	return s.within.path() + "/" + s.name
}
