package stark

import (
	"fmt"
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/ext"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/internal/field"
	"github.com/zkbench/zkbench/stark/internal/koalabear"
	"github.com/zkbench/zkbench/stark/internal/tree"
)

const (
	stepRows = 8
	cellRows = 2 * stepRows
)

// fixedTables returns a program of eight steps and the cells that it reads and writes once. The statement
// sends two cells. Every step computes the next one from two, as their sum or product, and the statement
// receives the last. A column of the program says which operation it is, and three say which cells. A column
// of the cells has the address, and one says how often each is read or written.
func fixedTables(change func(steps, cells [][]uint64)) []*air.Table {
	steps, cells := make([][]uint64, 4), make([][]uint64, 2)
	times := make([]uint64, cellRows)
	times[0]++
	times[1]++
	times[stepRows+1]++
	for i := range uint64(stepRows) {
		for j, v := range []uint64{i % 3 & 1, i, i + 1, i + 2} {
			steps[j] = append(steps[j], v)
			if j > 0 {
				times[v]++
			}
		}
	}
	for i := range uint64(cellRows) {
		cells[0] = append(cells[0], i)
	}
	cells[1] = times
	if change != nil {
		change(steps, cells)
	}
	return []*air.Table{
		{Name: "steps", Columns: 3, Fixed: steps, State: func(b *air.Builder) {
			product, x, y, z := b.Fixed(0), b.Here(0), b.Here(1), b.Here(2)
			b.Zero(air.Everywhere, "sum", air.Constant(1).Sub(product).Mul(z.Sub(x.Add(y))))
			b.Zero(air.Everywhere, "product", product.Mul(z.Sub(x.Mul(y))))
			for i := range 3 {
				b.Ask("cell", air.Constant(1), b.Fixed(1+i), b.Here(i))
			}
		}},
		{Name: "cells", Columns: 1, Fixed: cells, State: func(b *air.Builder) {
			b.Answer("cell", b.Fixed(1), b.Fixed(0), b.Here(0))
		}},
	}
}

// fixedTraces returns traces of the program that begins with 3 and 4, with changed cells.
func fixedTraces(change func(table int, c *Cells)) ([]Trace, Statement) {
	values := []uint64{3, 4}
	for i := range stepRows {
		x, y := values[i], values[i+1]
		if i%3&1 == 1 {
			values = append(values, x*y)
		} else {
			values = append(values, x+y)
		}
	}
	trace := tracesOf(change)
	all := []Trace{
		trace(0, stepRows, func(c *Cells) {
			for i := range stepRows {
				for j := range 3 {
					c.Set(i, j, values[i+j])
				}
			}
		}),
		trace(1, cellRows, func(c *Cells) {
			for i, v := range values {
				c.Set(i, 0, v)
			}
		}),
	}
	return all, Statement{Forms: []Form{{stepRows, cellRows}}, Messages: []Message{
		{"cell", -1, []uint64{0, values[0]}}, {"cell", -1, []uint64{1, values[1]}}, {"cell", -1, []uint64{stepRows + 1, values[stepRows+1]}},
	}, Context: []byte("fixed")}
}

// TestFixed: tables with fixed columns are proved over all fields and hashes, and what is proved depends on
// no executor, and on no other proof of the system.
func TestFixed(t *testing.T) {
	t.Parallel()
	for _, stack := range []int{0, 1, 3} {
		for _, c := range []Config{
			{Goldilocks, Keccak, smallParams(2)},
			{Goldilocks, Poseidon, smallParams(2)},
			{Goldilocks, Poseidon, smallParams(3)},
			{KoalaBear, Keccak, smallParams(4)},
			{KoalaBear, Keccak, smallParams(6)},
		} {
			c.Params.Stack = stack
			t.Run(fmt.Sprintf("%s/%s/degree=%d/stack=%d", c.Field, c.Hash, c.Params.Degree, stack), func(t *testing.T) {
				t.Parallel()
				s := must.Get(New(c, fixedTables(nil)...))(t)
				traces, about := fixedTraces(nil)
				must.Do(t, s.Check(t.Context(), executor.Serial(), traces, about))
				first := must.Get(s.Prove(t.Context(), executor.Serial(), traces, about, Options{}))(t)
				must.Do(t, s.Verify(first, about))
				again := must.Get(New(c, fixedTables(nil)...))(t)
				for _, s := range []*System{s, again} {
					proof := must.Get(s.Prove(t.Context(), executor.Pool(), traces, about, Options{}))(t)
					if string(proof) != string(first) {
						t.Error("a proof depends on the executor, or on proofs before it")
					}
				}
			})
		}
	}
}

// mustSystem returns a system over KoalaBear.
func mustSystem(t *testing.T, params Params, tables ...*air.Table) *System {
	t.Helper()
	return must.Get(New(Config{KoalaBear, Keccak, params}, tables...))(t)
}

// TestFixedColumns: a system is one of its fixed columns alone. Their digest binds proofs to them, and without it
// the cap that verifiers have.
func TestFixedColumns(t *testing.T) {
	t.Parallel()
	s := mustSystem(t, attackParams, fixedTables(nil)...)
	traces, about := fixedTraces(nil)
	proof := must.Get(s.Prove(t.Context(), executor.Serial(), traces, about, Options{}))(t)
	for name, change := range map[string]func(steps, cells [][]uint64){
		"an operation":                func(steps, _ [][]uint64) { steps[0][7] = 0 },
		"an address":                  func(steps, _ [][]uint64) { steps[1][7] = 3 },
		"a cell that is not read":     func(_, cells [][]uint64) { cells[0][cellRows-1]++ },
		"times that it is read":       func(_, cells [][]uint64) { cells[1][5]++ },
		"operands exchanged":          func(steps, _ [][]uint64) { steps[1], steps[2] = steps[2], steps[1] },
		"addresses and times":         func(_, cells [][]uint64) { cells[0], cells[1] = cells[1], cells[0] },
		"rows of the program":         func(steps, _ [][]uint64) { steps[0][0], steps[0][1] = steps[0][1], steps[0][0] },
		"addresses by one more":       func(steps, cells [][]uint64) { shift(steps[1:]); shift(cells[:1]) },
		"another program of one kind": func(steps, _ [][]uint64) { copy(steps[0], []uint64{0, 1, 1, 1, 1, 1, 1, 1}) },
	} {
		other := mustSystem(t, attackParams, fixedTables(change)...)
		if other.Digest() == s.Digest() {
			t.Errorf("%s: one digest", name)
		}
		must.Fail(t, other.Verify(proof, about), zkbench.ErrProof, "%s", name)
		other.digest = s.digest
		err := other.Verify(proof, about)
		must.Fail(t, err, zkbench.ErrProof, "%s, of one digest", name)
		if err == nil || !strings.Contains(err.Error(), "lead to the cap") {
			t.Errorf("%s, of one digest: %v", name, err)
		}
	}
	// A table's columns in place of another's; and what leaves the cap as it is: a column of zeros more, and
	// zeros in another number of rows.
	table := func(name string, fixed ...[]uint64) *air.Table {
		return &air.Table{Name: name, Columns: 1, Fixed: fixed, State: func(b *air.Builder) { b.Zero(air.Everywhere, "zero", b.Here(0)) }}
	}
	some, zeros := []uint64{1, 2, 3, 4}, make([]uint64, 4)
	seen := make(map[[64]byte]string)
	caps := make(map[tree.Digest]int)
	for name, tables := range map[string][]*air.Table{
		"some and zeros":    {table("a", some), table("b", zeros)},
		"zeros and some":    {table("a", zeros), table("b", some)},
		"some, zeros twice": {table("a", some), table("b", zeros, zeros)},
		"some, two zeros":   {table("a", some), table("b", zeros[:2])},
		"no fixed columns":  {table("a"), table("b")},
		"some and none":     {table("a", some), table("b")},
		"none and some":     {table("a"), table("b", some)},
		"some, zeros, none": {table("a", some, zeros), table("b")},
	} {
		s := mustSystem(t, attackParams, tables...)
		if other, is := seen[s.Digest()]; is {
			t.Errorf("%s and %s have one digest", name, other)
		}
		seen[s.Digest()] = name
		if top := s.engine.(*system[koalabear.Element, koalabear.Quartic]).fixed.top; top != nil {
			caps[top[0]]++
		}
	}
	golden.Equal(t, "caps", 3, len(caps)) // the last three have one, because a column that is missing in a stack counts as zeros
}

func shift(columns [][]uint64) {
	for _, c := range columns {
		for i := range c {
			c[i]++
		}
	}
}

// TestFixedForgeries: a prover who says of a fixed column what it is not is seen, wherever it is said.
func TestFixedForgeries(t *testing.T) {
	attacks(t, testFixedForgeries[bear, quartic], testFixedForgeries[cell, ext.Quadratic], testFixedForgeries[cell, ext.Cubic])
}

func testFixedForgeries[E field.Element[E], X field.Extension[E, X]](t *testing.T) {
	s := must.Get(New(configOf[E, X](attackParams), fixedTables(nil)...))(t)
	type before = map[string]func(p *prover[E, X])
	// The last step makes another cell than it should, which the statement receives.
	wrong := func(table int, c *Cells) {
		if table == 0 {
			c.Set(stepRows-1, 2, 5)
		} else {
			c.Set(stepRows+1, 0, 5)
		}
	}
	receive := func(about *Statement) { about.Messages[2].Tuple = []uint64{stepRows + 1, 5} }
	for name, f := range map[string]forgery[E, X]{
		"nothing": {},
		"a wrong step": {
			change: wrong, statement: receive,
			says: "constraints",
		},
		"a value that makes the identity hold": {
			change: wrong, statement: receive, before: before{"send values": func(p *prover[E, X]) {
				var none X
				solve(p, 0, &p.proof.values[ofFixed][0][0][0], none)
			}},
			says: "folded into it",
		},
		"values of columns exchanged": {
			before: before{"send values": func(p *prover[E, X]) {
				v := p.proof.values[ofFixed][0][0]
				v[1], v[2] = v[2], v[1]
			}},
			says: "constraints",
		},
		"another leaf": {
			before: before{"end": func(p *prover[E, X]) {
				leaf := p.proof.leaves[ofFixed][3]
				leaf[0] = leaf[0].Add(p.field.New(1))
			}},
			says: "lead to the cap",
		},
		"stacks exchanged": {
			before: before{"end": func(p *prover[E, X]) {
				leaf := p.proof.leaves[ofFixed][0]
				leaf[0], leaf[1] = leaf[1], leaf[0]
			}},
			says: "lead to the cap",
		},
		"leaves exchanged": {
			before: before{"end": func(p *prover[E, X]) {
				leaves := p.proof.leaves[ofFixed]
				leaves[0], leaves[1] = leaves[1], leaves[0]
			}},
			says: "lead to the cap",
		},
		"another path": {
			before: before{"end": func(p *prover[E, X]) { p.proof.paths[ofFixed][0][0] ^= 1 }},
			says:   "lead to the cap",
		},
		"another height": {
			before: before{"end": func(p *prover[E, X]) { p.proof.rows[0]++ }},
			says:   "tables of [16",
		},
		"heights exchanged": {
			before: before{"end": func(p *prover[E, X]) { p.proof.rows[0], p.proof.rows[1] = p.proof.rows[1], p.proof.rows[0] }},
			says:   "tables of [16",
		},
	} {
		traces, about := fixedTraces(f.change)
		proof, about := forcedOf(t, s, traces, about, f)
		if name == "nothing" {
			must.Do(t, verified(t, s, proof, about), name)
			continue
		}
		refused(t, s, proof, about, name, f.says)
	}
}

// TestFixedRows: Check and Prove name the row and the constraint that a fixed cell turns on, and who sends what
// fixed cells do not let it.
func TestFixedRows(t *testing.T) {
	t.Parallel()
	s := mustSystem(t, attackParams, fixedTables(nil)...)
	for _, c := range []struct {
		table, row, column int
		want               string
	}{
		{0, 0, 2, `table "steps", row 0: sum`},
		{0, 1, 2, `table "steps", row 1: product`},
		{0, 2, 0, `table "steps", row 2: sum`},
		{0, stepRows - 1, 1, `table "steps", row 7: product`},
		{1, 4, 0, `bus "cell": the tuple of table `},
		{1, stepRows + 1, 0, `bus "cell": the tuple of table "cells", row 9 is answered 2 times more than it is asked for`},
	} {
		traces, about := fixedTraces(func(table int, cells *Cells) {
			if table == c.table {
				cells.Set(c.row, c.column, 77)
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
	// A cell that is neither read nor written may be anything.
	traces, about := fixedTraces(func(table int, cells *Cells) {
		if table == 1 {
			cells.Set(cellRows-1, 0, 77)
		}
	})
	must.Do(t, s.Check(t.Context(), executor.Serial(), traces, about))
}

// TestFixedLimits: fixed columns that are none or in zero knowledge are refused by name, and so are other heights than
// theirs.
func TestFixedLimits(t *testing.T) {
	t.Parallel()
	refused := func(name, want string, err error) {
		t.Helper()
		must.Fail(t, err, zkbench.ErrParams, "%s", name)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", name, err, want)
		}
	}
	for name, c := range map[string]struct {
		change func(tables []*air.Table)
		want   string
	}{
		"7 rows":       {func(tables []*air.Table) { tables[1].Fixed[1] = tables[1].Fixed[1][:7] }, `table "cells": fixed column 1`},
		"8 rows of 16": {func(tables []*air.Table) { tables[1].Fixed[1] = tables[1].Fixed[1][:8] }, `table "cells": fixed column 1`},
		"no row":       {func(tables []*air.Table) { tables[0].Fixed[0] = nil }, `table "steps": fixed column 0`},
		"no column":    {func(tables []*air.Table) { tables[1].Fixed = [][]uint64{} }, `table "cells": reads fixed column`},
		"nothing else": {func(tables []*air.Table) { tables[0].Columns = 0 }, `table "steps"`},
		"p":            {func(tables []*air.Table) { tables[1].Fixed[1][3] = koalabear.Modulus }, `table "cells", fixed column 1, row 3`},
	} {
		tables := fixedTables(nil)
		c.change(tables)
		_, err := New(Config{KoalaBear, Keccak, attackParams}, tables...)
		refused(name, c.want, err)
	}
	high := smallParams(4)
	high.Stack, high.LogBlowup = 8, 5
	column := make([]uint64, 1<<12) // with stacks of 2^8 and 2^5 cosets more than the 2^24 roots of unity
	_, err := New(Config{KoalaBear, Keccak, high}, &air.Table{Name: "high", Columns: 1, Fixed: [][]uint64{column}, State: func(b *air.Builder) {
		b.Zero(air.Everywhere, "equal", b.Here(0).Sub(b.Fixed(0)))
	}})
	refused("too high", `table "high" has 2^12 rows, accepted are 2^1 to 2^11`, err)
	tables := fixedTables(func(steps, _ [][]uint64) { steps[3][0] = goldilocks.Modulus })
	_, err = New(Config{Goldilocks, Poseidon, smallParams(2)}, tables...)
	refused("p of Goldilocks", `table "steps", fixed column 3, row 0`, err)
	params := attackParams
	params.ZeroKnowledge = true
	_, err = New(Config{KoalaBear, Keccak, params}, fixedTables(nil)...)
	refused("zero knowledge", `table "steps" has fixed columns`, err)

	s := mustSystem(t, attackParams, fixedTables(nil)...)
	for table, name := range []string{"steps", "cells"} {
		for _, rows := range []int{4, 32} {
			traces, about := fixedTraces(nil)
			traces[table].Rows = rows
			about = StatementOf(traces, about)
			want := fmt.Sprintf("table %q", name)
			_, err := s.Prove(t.Context(), executor.Serial(), traces, about, Options{})
			refused("prove", want, err)
			refused("check", want, s.Check(t.Context(), executor.Serial(), traces, about))
			heights := []int{stepRows, cellRows}
			heights[table] = rows
			_, err = s.Security(heights, 0)
			refused("security", want, err)
			_, err = s.Memory(heights)
			refused("memory", want, err)
		}
	}
	_, about := fixedTraces(nil)
	for _, heights := range [][]byte{{3, 3}, {4, 4}, {4, 3}, {3, 255}, {0, 4}} {
		must.Fail(t, s.Verify(append(heights, make([]byte, 1<<16)...), about), zkbench.ErrProof, "heights %v", heights)
	}
}

// TestFixedCounts: what a proof takes, and what package security is told, counts fixed columns.
func TestFixedCounts(t *testing.T) {
	t.Parallel()
	s := mustSystem(t, attackParams, fixedTables(nil)...)
	rows := []int{stepRows, cellRows}
	// As of other columns (TestMemory), with one tree more: of steps two sums and two pieces, of cells one and one.
	sum := (stepRows*(3+4+16)+cellRows*(1+2+8))*4*5 + 4*2*cellRows*(4*2*32+3*16)
	golden.Equal(t, "memory", uint64(sum+sum/4), must.Get(s.Memory(rows))(t))
	// Stacks are of 4 columns of steps and 2 of cells: of columns 1 and 1, of sums 2 and 2, of which φ's
	// are read in the next row, of pieces 2 and 2, of fixed columns 1 and 1.
	golden.Equal(t, "functions", 1+1+(2+1)+(2+2)+2+2+1+1, must.Get(s.Security(rows, 3))(t).Functions)
}
