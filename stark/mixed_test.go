package stark

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks/ext"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/internal/field"
	"github.com/zkbench/zkbench/stark/internal/tree"
)

// Heights of the tables with fixed columns among mixedTables.
const (
	squareRows = 16
	pickedRows = 4
)

// mixedForms are forms of mixedTables. Words are as long as those of fixed columns in the first two, and longer
// in the others, because of the first table or of the last one.
var mixedForms = []Form{{2, squareRows, pickedRows, 2}, {16, squareRows, pickedRows, 8}, {64, squareRows, pickedRows, 8}, {8, squareRows, pickedRows, 128}}

// picked are the numbers whose squares a table of mixedTables asks for, and whether it asks.
var picked = [][2]uint64{{3, 1}, {0, 0}, {7, 1}, {15, 1}}

// mixedTables returns two tables with fixed columns between two without. The first one counts modulo 16 and asks for
// the square of each number. The second one answers from fixed columns, and adds up more of them, as many as wide
// says. The third one asks for squares of fixed numbers. The last one counts.
func mixedTables(wide int, change func(squares, picks [][]uint64)) []*air.Table {
	squares, picks := make([][]uint64, 2+wide), make([][]uint64, 5)
	for row := range uint64(squareRows) {
		squares[0], squares[1] = append(squares[0], row), append(squares[1], row*row)
		for i := range wide {
			squares[2+i] = append(squares[2+i], row*uint64(i)+1)
		}
	}
	for row, p := range picked {
		for i, v := range []uint64{p[0], p[0] * p[0], uint64(row + 5), uint64(9 - row), p[1]} {
			picks[i] = append(picks[i], v)
		}
	}
	if change != nil {
		change(squares, picks)
	}
	return []*air.Table{
		{Name: "walk", Columns: 3, State: func(b *air.Builder) {
			a, square, wraps := b.Here(0), b.Here(1), b.Here(2)
			b.Zero(air.First, "begins", a)
			b.Zero(air.Everywhere, "wraps", wraps.Bool())
			b.Zero(air.Transition, "counts", b.Next(0).Sub(a).Plus(-1).Add(wraps.Times(16)))
			b.Zero(air.Last, "ends", square.Sub(b.Public(0)))
			b.Ask("square", air.Constant(1), a, square)
		}},
		{Name: "squares", Columns: 2, Fixed: squares, State: func(b *air.Builder) {
			sum := b.Here(1)
			for i := range wide {
				sum = sum.Sub(b.Fixed(2 + i))
			}
			b.Zero(air.Everywhere, "sum", sum)
			b.Answer("square", b.Here(0), b.Fixed(0), b.Fixed(1))
		}},
		{Name: "picks", Columns: 1, Fixed: picks, State: func(b *air.Builder) {
			b.Zero(air.Everywhere, "sum", b.Here(0).Sub(b.Fixed(2)).Sub(b.Fixed(3).Mul(b.Fixed(0))))
			b.Ask("square", b.Fixed(4), b.Fixed(0), b.Fixed(1))
		}},
		{Name: "counter", Columns: 1, State: func(b *air.Builder) {
			b.Zero(air.First, "begins", b.Here(0))
			b.Zero(air.Transition, "counts", b.Next(0).Sub(b.Here(0)).Plus(-1))
			b.Zero(air.Last, "ends", b.Here(0).Sub(b.Public(1)))
		}},
	}
}

// mixedTraces returns traces of mixedTables of a form, with changed cells.
func mixedTraces(form Form, wide int, change func(table int, c *Cells)) ([]Trace, Statement) {
	trace := tracesOf(change)
	count := func(rows int) uint64 { return uint64(rows-1) % squareRows }
	return []Trace{
		trace(0, form[0], func(c *Cells) {
			for row := range form[0] {
				a := uint64(row % squareRows)
				c.Set(row, 0, a)
				c.Set(row, 1, a*a)
				c.Set(row, 2, a/(squareRows-1))
			}
		}),
		trace(1, form[1], func(c *Cells) {
			times := make([]uint64, form[1])
			for row := range form[0] {
				times[row%squareRows]++
			}
			for _, p := range picked {
				times[p[0]] += p[1]
			}
			for row, n := range times {
				c.Set(row, 0, n)
				for i := range wide {
					add(c, row, 1, uint64(row*i+1))
				}
			}
		}),
		trace(2, form[2], func(c *Cells) {
			for row, p := range picked {
				c.Set(row, 0, uint64(row+5)+uint64(9-row)*p[0])
			}
		}),
		trace(3, form[3], func(c *Cells) {
			for row := range form[3] {
				c.Set(row, 0, uint64(row))
			}
		}),
	}, Statement{Forms: []Form{form}, Publics: []uint64{count(form[0]) * count(form[0]), uint64(form[3] - 1)}, Context: []byte("mixed")}
}

// mixedConfigs returns configurations for mixedTables, with stacks of all kinds: in short tests one with each field and
// hash.
func mixedConfigs() (all []Config) {
	for _, stack := range []int{0, 1, 3} {
		for _, c := range []Config{
			{Goldilocks, Keccak, smallParams(2)},
			{Goldilocks, Poseidon, smallParams(3)},
			{KoalaBear, Keccak, smallParams(4)},
		} {
			c.Params.Stack = stack
			all = append(all, c)
		}
	}
	if testing.Short() {
		return []Config{all[0], all[4], all[8]}
	}
	return all
}

// TestMixed: one system with fixed columns in some tables proves all its forms, and what it proves depends on no
// executor, no other proof of the system, and not on how much of it is in memory. A proof is one of its form.
func TestMixed(t *testing.T) {
	t.Parallel()
	for _, c := range mixedConfigs() {
		for _, wide := range []int{0, 40} { // without, few elements share a leaf; with, stacks are made tile by tile
			t.Run(fmt.Sprintf("%s/%s/degree=%d/stack=%d/wide=%d", c.Field, c.Hash, c.Params.Degree, c.Params.Stack, wide), func(t *testing.T) {
				t.Parallel()
				s, again := must.Get(New(c, mixedTables(wide, nil)...))(t), must.Get(NewOn(t.Context(), executor.Pool(), c, mixedTables(wide, nil)...))(t)
				if s.Digest() != again.Digest() {
					t.Error("a digest depends on the executor")
				}
				for _, form := range mixedForms {
					traces, about := mixedTraces(form, wide, nil)
					must.Do(t, s.Check(t.Context(), executor.Serial(), traces, about))
					proof := must.Get(s.Prove(t.Context(), executor.Serial(), traces, about, Options{}))(t)
					must.Do(t, s.Verify(proof, about))
					golden.Equal(t, "the form", form, must.Get(s.Form(proof))(t))
					golden.Equal(t, "a proof of another system on another executor", proof, must.Get(again.Prove(t.Context(), executor.Pool(), traces, about, Options{Lean: true}))(t))
					for _, lean := range []bool{false, true} {
						golden.Equal(t, "a proof in other memory", proof, s.ProveLean(t, lean, traces, about, Options{}))
					}
					for _, other := range mixedForms {
						if slices.Equal(form, other) {
							continue
						}
						about.Forms = []Form{other}
						must.Fail(t, s.Verify(proof, about), zkbench.ErrProof, "a proof of %d as one of %d", form, other)
					}
				}
			})
		}
	}
}

// TestMixedPoints: of a system in which some tables have fixed columns, the points of shorter words are powers of those
// of longer ones, and their cosets have no point in common with each other and with the group of any table's rows.
func TestMixedPoints(t *testing.T) {
	t.Parallel()
	for _, c := range []Config{{Goldilocks, Keccak, smallParams(2)}, {KoalaBear, Keccak, smallParams(4)}} {
		switch y := must.Get(New(c, mixedTables(0, nil)...))(t).engine.(type) {
		case *system[cell, ext.Quadratic]:
			testMixedPoints(t, y, c.Params)
		case *system[bear, quartic]:
			testMixedPoints(t, y, c.Params)
		}
	}
}

func testMixedPoints[E field.Element[E], X field.Extension[E, X]](t *testing.T, y *system[E, X], params Params) {
	f, one := y.field, y.field.New(1)
	known := make(map[int][]E)
	for size := range 7 {
		l := &layout{statement: &statement{nested: true, params: params}, size: size}
		seen := make(map[E]bool)
		for i := range 1 << size {
			seen[field.Power(one, f.Root(size), uint64(i))] = true
		}
		for c := range 1 << params.LogBlowup {
			for i := range 1 << size {
				x := pointOf(f, l, c, size, i)
				if seen[x] {
					t.Fatalf("%s, 2^%d points: point %d of coset %d is another's", f.Name(), size, i, c)
				}
				seen[x] = true
				known[size] = append(known[size], x)
				for short := range size {
					if at := leafOf(c<<size|i, size, short); known[short][at] != squares(x, size-short) {
						t.Fatalf("%s, 2^%d points: point %d of coset %d is not above point %d of 2^%d", f.Name(), size, i, c, at, short)
					}
					if pointOf(f, l, c, short, i&(1<<short-1)) != squares(x, size-short) {
						t.Fatalf("%s, 2^%d points: coset %d is not folded to one of 2^%d", f.Name(), size, c, short)
					}
				}
			}
		}
	}
}

// TestMixedForgeries: a prover that says of a fixed column what it is not is seen, wherever it is said, in words that
// are longer than those of fixed columns, and as long.
func TestMixedForgeries(t *testing.T) {
	attacks(t, testMixedForgeries[bear, quartic], testMixedForgeries[cell, ext.Quadratic], testMixedForgeries[cell, ext.Cubic])
}

func testMixedForgeries[E field.Element[E], X field.Extension[E, X]](t *testing.T) {
	c := configOf[E, X](attackParams)
	s := must.Get(New(c, mixedTables(0, nil)...))(t)
	type (
		forger  = prover[E, X]
		before  = map[string]func(p *forger)
		attempt = forgery[E, X]
	)
	end := func(do func(p *forger)) before { return before{"end": do} }
	// The square of this number is said to be another one. A table with fixed columns asks for it too.
	const number = 7
	wrong := func(table int, c *Cells) {
		for row := number; table == 0 && row < c.Rows(); row += squareRows {
			add(c, row, 1, 1)
		}
	}
	for _, form := range []Form{mixedForms[1], mixedForms[3]} {
		ends := func(about *Statement) {
			if (form[0]-1)%squareRows == number {
				about.Publics[0]++
			}
		}
		for name, f := range map[string]attempt{
			"nothing":       {},
			"a wrong value": {change: wrong, statement: ends, says: "answered as often"},
			"a value that makes the identity hold": {
				change: func(table int, c *Cells) {
					if table == 2 {
						add(c, 1, 0, 1)
					}
				},
				before: before{"send values": func(p *forger) {
					var none X
					solve(p, 2, &p.proof.values[ofFixed][2][0][2], none)
				}},
				says: "folded into it",
			},
			"values of columns exchanged": {
				before: before{"send values": func(p *forger) {
					v := p.proof.values[ofFixed][1][0]
					v[0], v[1] = v[1], v[0]
				}},
				says: "constraints",
			},
			"another leaf": {before: end(func(p *forger) {
				leaf := p.proof.leaves[ofFixed][1]
				leaf[0] = leaf[0].Add(p.field.New(1))
			}), says: "lead to the cap"},
			"stacks exchanged": {before: end(func(p *forger) {
				leaf := p.proof.leaves[ofFixed][0]
				leaf[0], leaf[1] = leaf[1], leaf[0]
			}), says: "lead to the cap"},
			"leaves exchanged": {before: end(func(p *forger) {
				all := p.proof.leaves[ofFixed]
				all[0], all[1] = all[1], all[0]
			}), says: "lead to the cap"},
			"another path": {before: end(func(p *forger) { p.proof.paths[ofFixed][0][0] ^= 1 }), says: "lead to the cap"},
			"the leaves beside the right ones": {before: reopened[E, X](t, ofFixed, func(_ *layout, leaf int) int {
				return leaf ^ 1
			}), says: "lead to the cap"},
			"leaves of other cosets": {before: reopened[E, X](t, ofFixed, func(l *layout, leaf int) int {
				return leaf ^ 1<<l.leaves(ofFixed)
			}), says: "lead to the cap"},
			"another height of fixed columns": {before: end(func(p *forger) { p.proof.rows[1]-- }), says: "tables of ["},
			"a height that would be another table's": {before: end(func(p *forger) {
				p.proof.rows[2], p.proof.rows[3] = p.proof.rows[3], p.proof.rows[2]
			}), says: "tables of ["},
		} {
			traces, about := mixedTraces(form, 0, f.change)
			proof, about := forcedOf(t, s, traces, about, f)
			if name == "nothing" {
				must.Do(t, verified(t, s, proof, about), name)
				continue
			}
			refused(t, s, proof, about, fmt.Sprintf("%d: %s", form, name), f.says)
		}
		// A system of other fixed columns in place of this one, whose digest is said to be the same.
		other := must.Get(New(c, mixedTables(0, func(squares, picks [][]uint64) { squares[1][number]++; picks[1][2]++ })...))(t)
		if other.Digest() == s.Digest() {
			t.Error("a digest does not depend on fixed columns")
		}
		other.digest = s.digest
		traces, about := mixedTraces(form, 0, wrong)
		ends(&about)
		proof := must.Get(other.Prove(t.Context(), executor.Serial(), traces, about, Options{}))(t)
		must.Do(t, other.Verify(proof, about))
		refused(t, s, proof, about, "other fixed columns", "lead to the cap")
	}
}

// recorded is a proof of proximity that records its positions.
type recorded[E any] struct {
	proximityProver[E]
	places []int
}

func (r *recorded[E]) query() (places []int, err error) {
	r.places, err = r.proximityProver.query()
	return r.places, err
}

// reopened returns what opens other leaves of a phase's tree than the queries ask for.
func reopened[E field.Element[E], X field.Extension[E, X]](t *testing.T, phase int, other func(l *layout, leaf int) int) map[string]func(p *prover[E, X]) {
	r := &recorded[E]{}
	return map[string]func(p *prover[E, X]){
		PhaseQueries: func(p *prover[E, X]) {
			r.proximityProver = p.proximity
			p.proximity = r
		},
		"end": func(p *prover[E, X]) {
			l := p.layout
			shown := groupsOf(r.places, l.size, l.leaves(phase))
			for i := range shown {
				shown[i] = other(l, shown[i])
			}
			slices.Sort(shown)
			lower := make(tree.Lower)
			p.proof.leaves[phase] = must.Get(p.trees[phase].Again(t.Context(), executor.Serial(), lower, shown, func(leaf int) []E {
				must.Do(t, p.bring(p.extended[phase], leaf>>l.leaves(phase)))
				return p.leaf(phase, leaf)
			}))(t)
			p.proof.paths[phase] = p.trees[phase].Path(shown, lower)
		},
	}
}

// TestMixedRows: Check and Prove name the row and the constraint that a fixed cell turns on, beside tables without.
func TestMixedRows(t *testing.T) {
	t.Parallel()
	s := mustSystem(t, attackParams, mixedTables(2, nil)...)
	for _, c := range []struct {
		table, row, column int
		want               string
	}{
		{0, 5, 0, `table "walk", row 4: counts`},
		{0, 5, 1, `bus "square": the tuple of table "walk", row `},
		{1, 3, 0, `bus "square": the tuple of table "walk", row 3 is answered`},
		{1, 3, 1, `table "squares", row 3: sum`},
		{2, 2, 0, `table "picks", row 2: sum`},
		{3, 4, 0, `table "counter", row 3: counts`},
	} {
		traces, about := mixedTraces(mixedForms[2], 2, func(table int, cells *Cells) {
			if table == c.table {
				add(cells, c.row, c.column, 1)
			}
		})
		_, err := s.Prove(t.Context(), executor.Serial(), traces, about, Options{})
		for _, err := range []error{err, s.Check(t.Context(), executor.Pool(), traces, about)} {
			must.Fail(t, err, zkbench.ErrWitness, "%s", c.want)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %s", err, c.want)
			}
		}
	}
}

// TestMixedCounts: what a proof takes, and what package security is told, counts the words of fixed columns, and their
// tree at its own length.
func TestMixedCounts(t *testing.T) {
	t.Parallel()
	s := mustSystem(t, attackParams, mixedTables(0, nil)...)
	form := mixedForms[3]
	// Stacks of two columns at least, of degree 4, with four cosets: words have 2^8 elements, those of fixed columns 2^5.
	cells := 8*(3+4+4) + squareRows*(2+2+4+4) + pickedRows*(1+5+4+4) + 128*(1+4)
	sum := cells*4*5 + (3*4*2*256+4*2*32)*32 + 4*256*3*4*4
	golden.Equal(t, "memory", uint64(sum+sum/4), must.Get(s.Memory(form))(t))
	// Stacks of low tables hold all their columns of a kind, and those of the last table two. The columns of the first and
	// of the last table are read in the next row, and so are sums.
	golden.Equal(t, "functions", (2+1+1+2)+(2+2+2)+(1+1+1+2)+(1+1), must.Get(s.Security(form, 0))(t).Functions)
}
