package zkvm

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/stark/air"
)

// notSearched has the tables in which what a row sends does not follow from what it receives, or whose rows are too long to be searched,
// with what shows that they are right.
var notSearched = map[string]string{
	"zeros":     "a row chooses the next cell of the list and the time before the first access; TestPlanted has wrong lists, and TestRangesOfSteps",
	"regions":   "likewise",
	"data":      "a row chooses the time before the first access, and its other messages are of fixed columns; TestPlanted",
	"bridges":   "a row chooses the later time, and keeps all else; TestPlanted has earlier times and other cells, and TestRangesOfSteps",
	"registers": "messages are of fixed columns, and of what is found at the end; TestPlanted and TestPlantedStreams",
	"program":   "all but counts is fixed",
	"constants": "all but counts is fixed",
	"halves":    "all but counts is fixed",
	"ands":      "all but counts is fixed",
	"powers":    "all but counts is fixed",
	"input":     "the prover chooses the input, which the digest binds; TestBrokenAlone and TestInputBytes",
	"sponge":    "a row is a permutation of Poseidon, which package stark/poseidon tests; TestBrokenAlone",
}

// setting is a shape and a prime for searches.
type setting struct {
	shape
	prime uint64
	words int // how many words are operands, or 0 for all
}

// settings returns the settings in which a table is searched. In the smaller shape, the operands are all words of 4 bits. The prime
// must be greater than all codes of a family, and than what sides of an equation can be. For words of 8 bits it is h² - h + 1
// with h = 2^4, as the field's order is with h = 2^32. Products have sums that reach this, but those of RV64 do not nearly reach the
// field's order. So their prime is the next one that they do not reach.
func settings(name string) []setting {
	tiny, small := shape{limb: 2, half: 1, byte: 1}, shape{limb: 4, half: 2, byte: 1}
	some := testsize.Pick(5, 6, 16)
	switch name {
	case "words", "narrow words": // whose words have 8 bytes
		return []setting{{small, 241, 0}}
	case "logic", "output": // likewise
		return []setting{{small, 241, 16}}
	case "calls":
		return []setting{{small, 241, 2 * some}}
	case "jumps", "shifts": // which have one operand
		return []setting{{tiny, 71, 0}, {small, 241, 16}}
	case "products", "divisions":
		return []setting{{tiny, 71, 0}, {small, 257, some}}
	}
	return []setting{{tiny, 71, 0}, {small, 241, some}}
}

// scenarios returns scenarios of a table in random order: all of them, but in short tests.
func (x *setting) scenarios(of table) []scenario {
	c := &cases{shape: x.shape, table: of, random: rand.New(rand.NewPCG(3, 4))}
	for word := range c.mask() + 1 {
		c.words = append(c.words, word)
	}
	if x.words > 0 {
		// 0, 1 and -1, the least and the greatest number are among them.
		c.words = []uint64{0, 1, c.mask(), c.mask()/2 + 1, c.mask() / 2}
		for len(c.words) < x.words {
			c.words = append(c.words, c.word())
		}
	}
	rowCases[of.name()](c)
	c.random.Shuffle(len(c.all), func(i, j int) { c.all[i], c.all[j] = c.all[j], c.all[i] })
	return c.all[:min(len(c.all), testsize.Pick(50, len(c.all), len(c.all)))]
}

// searched is a table, ready for searches.
type searched struct {
	shape
	table     table
	program   *air.Program
	publics   []uint64
	field     *field
	ranges    []int // of the columns, in bits
	scenarios []scenario
	lookups   map[string][][]uint64 // the tuples of fixed tables
	complete  row                   // nothing of it is known
	begins    polynomial            // how often a row asks for what it begins with: an instruction's state, or a committed byte
}

func newSearched(t *testing.T, number int, at setting) *searched {
	m := newMachine(at.shape)
	x := &searched{shape: at.shape, table: m.all()[number], program: must.Get(m.tables()[number].Compile())(t)}
	x.scenarios, x.ranges = at.scenarios(x.table), slices.Clone(x.table.shapeOf().bits)
	if calls := m.calls; x.table == table(calls) {
		// The number of a call and the address of the input are RV64's.
		x.ranges[calls.number.hi], x.ranges[calls.result.hi] = free, free
	}
	x.publics = m.statement(nil, 0, 0, digest{length: inputLength}, digest{length: outputLength}).Publics
	x.field = newField(at.prime, x.publics)
	rows := func(fixed [][]uint64) (rows [][]uint64) {
		for i := range fixed[0] {
			var row []uint64
			for _, column := range fixed {
				row = append(row, column[i]%at.prime)
			}
			rows = append(rows, row)
		}
		return rows
	}
	halves, ands := m.ranges.fixed(m.shape), m.ands.fixed(m.shape)
	x.lookups = map[string][][]uint64{
		busHalf: rows(halves[:1]), busSign: rows(halves),
		busBytes: rows(ands[:2]), busAnd: rows(ands),
		busPower: rows(m.powers.fixed(m.shape)),
	}
	r := x.field.ring
	steps := air.Evaluate(x.program, r)
	for _, c := range x.program.Constraints {
		x.complete.zero = append(x.complete.zero, steps[c.Step])
	}
	for i, message := range x.program.Messages {
		s := &sent{number: i, bus: message.Bus, asks: message.Asks > 0, times: steps[message.Multiplicity]}
		if s.asks {
			s.times = r.Sub(polynomial{}, s.times)
		}
		for _, step := range message.Tuple {
			s.tuple = append(s.tuple, steps[step])
			s.columns |= steps[step].columns
		}
		if x.lookups[s.bus] != nil {
			x.complete.lookups = append(x.complete.lookups, s)
		} else {
			x.complete.links = append(x.complete.links, s)
		}
	}
	x.begins = x.complete.links[0].times
	return x
}

// small returns an element of the field that stands for a small number, modulo the prime.
func (f *field) small(e goldilocks.Element) uint64 {
	if e < goldilocks.Modulus/2 {
		return uint64(e) % f.prime
	}
	return f.prime - 1 - uint64(goldilocks.Modulus-1-e)%f.prime
}

// search returns a search for rows that do something else than a scenario's. It fails if the row that is filled does not
// satisfy the table.
func (x *searched) search(t *testing.T, c *scenario) *search {
	t.Helper()
	fail := func(what string) {
		t.Fatalf("%s: %s: %s", x.table.name(), c.what, what)
	}
	w := &writer{shape: x.shape, counts: newCounts(x.shape, &Program{instructions: make([]decoded, 1<<(2*x.limb)), constants: make([]fixedWord, 1)}, 0)}
	for range x.program.Columns {
		w.cells = append(w.cells, make([]uint64, 1))
	}
	c.fill(w)
	for i, column := range w.cells {
		if x.ranges[i] != free && column[0]>>x.ranges[i] != 0 {
			fail("the range of " + x.table.shapeOf().names[i])
		}
	}
	steps := air.Evaluate(x.program, rowOf{columns: w.cells, publics: x.publics})
	for _, constraint := range x.program.Constraints {
		if steps[constraint.Step] != 0 {
			fail(constraint.Name)
		}
	}
	s := &search{field: x.field, tuples: make(map[string][][]uint64), ranges: x.ranges}
	for _, known := range []map[string][][]uint64{x.lookups, c.more} {
		for bus, tuples := range known {
			s.tuples[bus] = slices.Clip(tuples)
		}
	}
	for _, message := range x.program.Messages {
		times := steps[message.Multiplicity]
		if message.Asks > 0 {
			times = goldilocks.Element(0).Sub(times)
		}
		expect := []uint64{x.field.small(times)}
		for _, step := range message.Tuple {
			expect = append(expect, x.field.small(steps[step]))
		}
		tuple := expect[1:]
		if x.lookups[message.Bus] == nil {
			s.expect = append(s.expect, expect)
			if message.Asks > 0 && times != 0 {
				s.tuples[message.Bus] = append(s.tuples[message.Bus], slices.Clone(tuple))
			}
		} else if times != 0 && !slices.ContainsFunc(x.lookups[message.Bus], func(known []uint64) bool { return slices.Equal(known, tuple) }) {
			fail(fmt.Sprintf("the tables of %s do not have %d", message.Bus, tuple))
		}
	}
	if c.refused != nil {
		s.refuse(c.refused)
	}
	return s
}

// refuse changes what answers the row so that no row is right.
func (s *search) refuse(change change) {
	s.expect = nil
	for bus, tuples := range s.tuples {
		s.tuples[bus] = nil
		for _, tuple := range tuples {
			tuple = slices.Clone(tuple)
			change(bus, tuple)
			s.tuples[bus] = append(s.tuples[bus], tuple)
		}
	}
}

// late returns searches for which a cell that is accessed was accessed before at the time of the access itself. No row is right then.
func (x *searched) late(t *testing.T) (all []*search) {
	links := x.complete.links
	for i := range x.scenarios {
		c := &x.scenarios[i]
		if c.refused != nil {
			continue
		}
		expect := x.search(t, c).expect
		for j := range expect[1:] {
			was, now := expect[j], expect[j+1]
			if links[j].asks && links[j].bus == busCell && was[0] == 1 && links[j+1].bus == busCell && now[0] == 1 && slices.Equal(was[1:3], now[1:3]) {
				s := x.search(t, c)
				s.refuse(func(bus string, cell []uint64) {
					if bus == busCell && slices.Equal(cell, was[1:]) {
						cell[len(cell)-1] = now[len(now)-1]
					}
				})
				all = append(all, s)
			}
		}
		if len(all) > 30 {
			break
		}
	}
	return all
}

// forSearched runs a test for each table that is searched, in each of its settings.
func forSearched(t *testing.T, f func(t *testing.T, all []*searched)) {
	for i, table := range newMachine(rv64).all() {
		name := table.name()
		if notSearched[name] != "" {
			continue
		}
		t.Run("table="+name, func(t *testing.T) {
			t.Parallel()
			if rowCases[name] == nil {
				t.Fatal("no scenarios")
			}
			var all []*searched
			for _, at := range settings(name) {
				all = append(all, newSearched(t, i, at))
			}
			f(t, all)
		})
	}
}

// somePadding is the number of scenarios that are searched for rows that do not begin. What answers them does not matter to most tables.
const somePadding = 6

// TestRowsAreFunctions looks for rows that send something else than follows from what they receive: the instruction of the program and
// the content of its cells. It also looks for rows with columns outside their ranges, and for accesses that are not later than those before.
func TestRowsAreFunctions(t *testing.T) {
	forSearched(t, func(t *testing.T, all []*searched) {
		for _, x := range all {
			padding, begun := x.field.decide(x.complete, x.begins, 0), x.field.decide(x.complete, x.begins, 1)
			for i := range x.scenarios {
				c := &x.scenarios[i]
				s := x.search(t, c)
				if s.find(begun) {
					t.Fatalf("words of %d bits: another row for %s", 2*x.limb, c.what)
				}
				if s.goal = outside; s.find(begun) {
					t.Fatalf("words of %d bits: a column outside its range for %s", 2*x.limb, c.what)
				}
				if s.goal, s.expect = otherSent, nil; i < somePadding && s.find(padding) {
					t.Fatalf("words of %d bits: a row that does not begin sends something", 2*x.limb)
				}
			}
			for _, s := range x.late(t) {
				if s.find(begun) {
					t.Fatalf("words of %d bits: an access that is not later than the one before", 2*x.limb)
				}
			}
		}
	})
}
