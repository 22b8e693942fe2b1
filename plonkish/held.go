package plonkish

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
)

// UnheldError reports a cell or a public value that could be any number; Build refuses such a circuit. Either
// a gate or a lookup reads a cell that holds no value, or nothing reads the public value. The error wraps
// zkbench.ErrParams. Row numbers count all rows of the circuit. The first rows are those of the public
// values, one for each.
type UnheldError struct {
	Row       int // for a public value, its number
	Column    string
	Behind    bool   // the cell would be in the row after the last, which does not exist
	Reader    string // the gate or lookup that reads the cell; "" for a public value
	ReaderRow int    // the reader's row: Row, or the one before it
}

func (e *UnheldError) Error() string {
	switch {
	case e.Reader == "":
		return fmt.Sprintf("%v: public value %d: no gate and no lookup reads it, so any number would do", e.Unwrap(), e.Row)
	case e.Behind:
		return fmt.Sprintf("%v: row %d, after the last one: %q of row %d reads its column %q; add that row", e.Unwrap(), e.Row, e.Reader, e.ReaderRow, e.Column)
	}
	return fmt.Sprintf("%v: row %d: column %q holds no value, but %q of row %d reads it; give it a Var (Zero for 0) or a free value",
		e.Unwrap(), e.Row, e.Column, e.Reader, e.ReaderRow)
}

// Unwrap returns zkbench.ErrParams.
func (*UnheldError) Unwrap() error { return zkbench.ErrParams }

// part is an Expr that rows of a gate or of a lookup must satisfy.
type part struct {
	reader       string
	gate, lookup int // index in the arithmetization; -1: none
	index        int // in the lookup's tuple
	expr         Expr
	params       []int           // that it reads
	forms        map[uint64]form // by those of params that are not 0
}

// form is a part without what is multiplied by parameters of 0.
type form struct {
	reads []variable
	alone bool // it is the cell that it reads
}

// readers maps a cell to the parts that read it.
type readers map[variable][]*part

func (a *Arithmetization) readers() readers {
	r := make(readers)
	add := func(p *part) {
		p.forms = make(map[uint64]form)
		variables := compile(p.expr).variables()
		for _, v := range variables {
			if v.kind == param {
				p.params = append(p.params, v.index)
			}
		}
		for _, v := range variables {
			if v.kind == cell || v.kind == nextCell {
				r[v] = append(r[v], p)
			}
		}
	}
	for i, g := range a.Gates {
		for _, t := range g.Terms {
			add(&part{reader: g.Name, gate: i, lookup: -1, expr: t.Zero})
		}
	}
	for i, l := range a.Lookups {
		for j, e := range l.Tuple {
			add(&part{reader: l.Name, gate: -1, lookup: i, index: j, expr: e})
		}
	}
	return r
}

// formIn returns the part's form in rows of a kind. There are many kinds, but few forms.
func (p *part) formIn(f *fixed) form {
	var key uint64
	for i, param := range p.params {
		if !f.params[param].IsZero() {
			key |= 1 << i
		}
	}
	if known, ok := p.forms[key]; ok && len(p.params) <= 64 {
		return known
	}
	e := evaluate(compile(p.expr), f.used())
	now := form{reads: compile(e).variables(), alone: e.node != nil && e.op == opVariable}
	p.forms[key] = now
	return now
}

// reader returns the name of what reads a cell in rows of a kind, or "" if nothing does. The cell is held if
// a lookup has it as a part by itself and the table has only 0 there, because then the table says what the
// cell is.
func (r readers) reader(f *fixed, v variable, tables []*Table) (name string, held bool) {
	for _, p := range r[v] {
		if p.gate >= 0 && p.gate != f.gate || p.lookup >= 0 && f.tables[p.lookup] == 0 {
			continue
		}
		now := p.formIn(f)
		if !slices.Contains(now.reads, v) {
			continue
		}
		name = p.reader
		if p.lookup >= 0 && now.alone && tables[f.tables[p.lookup]-1].isZero(p.index) {
			held = true
		}
	}
	return name, held
}

// isZero reports whether all of a column is 0. A column that the table does not have is.
func (t *Table) isZero(column int) bool {
	return column >= len(t.Columns) || !slices.ContainsFunc(t.Columns[column], func(e fr.Element) bool { return !e.IsZero() })
}

// checkAfterLast returns an *UnheldError if the last row reads the one after it.
func (b *Builder) checkAfterLast() error {
	last := len(b.rows) - 1
	if last < 0 {
		return nil
	}
	r := b.arith.readers()
	for column, name := range b.arith.Columns {
		if reader, _ := r.reader(&b.kinds[b.rows[last]], variable{nextCell, column}, b.tables); reader != "" {
			at := len(b.public) + last
			return &UnheldError{Row: at + 1, Column: name, Behind: true, Reader: reader, ReaderRow: at}
		}
	}
	return nil
}

// checkHeld returns an *UnheldError if a gate or a lookup reads a cell that holds no value, or if none reads
// a public value.
func (c *Circuit) checkHeld(given func(row int) (free int, late bool)) error {
	r, late := c.arith.readers(), len(c.arith.Columns)-c.arith.Late
	for row := range c.rows {
		free, filled := given(row)
		for column := range c.arith.Columns {
			if column < len(c.cells) && c.cells[column][row] != 0 ||
				len(c.cells) <= column && column < len(c.cells)+free || column >= late && filled {
				continue
			}
			name, at, held := "", row, false
			if row > 0 {
				name, held = r.reader(c.kindOf(row-1), variable{nextCell, column}, c.tables)
				at = row - 1
			}
			if here, zero := r.reader(c.kindOf(row), variable{cell, column}, c.tables); here != "" {
				name, at, held = here, row, held || zero
			}
			if name != "" && !held {
				return &UnheldError{Row: row, Column: c.arith.Columns[column], Reader: name, ReaderRow: at}
			}
		}
	}
	for i := range c.public {
		if !c.isRead(r, 0, i) {
			return &UnheldError{Row: i, Column: c.arith.Columns[0]}
		}
	}
	return nil
}

// isRead reports whether a gate or a lookup depends on a cell of a permuted column, or on a cell wired to it.
// A term that names the cell need not depend on it: the parameters may make the term vanish, or the cell may
// cancel out. So isRead evaluates terms at random values of all other cells, with two numbers for these
// cells. Two different polynomials agree there with a probability of at most their degree / 2^254.
func (c *Circuit) isRead(r readers, column, row int) bool {
	wired := make(map[[2]int]bool)
	cycle := c.cycle(column, row)
	for _, at := range cycle {
		wired[at] = true
	}
	depends := func(v variable, row int) bool {
		return slices.ContainsFunc(r[v], func(p *part) bool { return p.depends(c.kindOf(row), row, wired) })
	}
	return slices.ContainsFunc(cycle, func(at [2]int) bool {
		return depends(variable{cell, at[0]}, at[1]) || at[1] > 0 && depends(variable{nextCell, at[0]}, at[1]-1)
	})
}

// depends reports whether the part's value in a row of a kind depends on the number that the wired cells
// hold.
func (p *part) depends(f *fixed, row int, wired map[[2]int]bool) bool {
	if p.gate >= 0 && p.gate != f.gate || p.lookup >= 0 && f.tables[p.lookup] == 0 {
		return false
	}
	program := compile(p.expr)
	one := evaluate(program, atPoint{params: f.params, wired: wired, row: row})
	other := evaluate(program, atPoint{params: f.params, wired: wired, row: row, other: true})
	return !one.Equal(&other)
}

// reads reports whether a gate or a lookup names a cell, with parameters that are not 0.
func (c *Circuit) reads(r readers, column, row int) bool {
	reader, _ := r.reader(c.kindOf(row), variable{cell, column}, c.tables)
	if reader == "" && row > 0 {
		reader, _ = r.reader(c.kindOf(row-1), variable{nextCell, column}, c.tables)
	}
	return reader != ""
}

// atPoint is the algebra of Exprs at a random point. The wired cells have one of two numbers.
type atPoint struct {
	params []fr.Element
	wired  map[[2]int]bool // by column and row
	row    int
	other  bool
}

func (a atPoint) variable(v variable) fr.Element {
	row := a.row
	switch v.kind {
	case param:
		return a.params[v.index]
	case nextCell:
		row++
		fallthrough
	case cell:
		if a.wired[[2]int{v.index, row}] {
			return drawnNumber(-1, map[bool]int{true: 1}[a.other])
		}
	}
	return drawnNumber(int(v.kind), v.index)
}
func (atPoint) constant(c fr.Element) fr.Element       { return c }
func (atPoint) apply(o op, x, y fr.Element) fr.Element { return apply(o, x, y) }

// drawnNumber returns a number that is unrelated to any circuit.
func drawnNumber(kind, index int) (e fr.Element) {
	sum := sha256.Sum256(fmt.Appendf(nil, "zkbench/v1/plonkish held %d %d", kind, index))
	e.SetBytes(sum[:])
	return e
}

// checkRead returns zkbench.ErrParams if no gate and no lookup reads one of the values.
func (c *Circuit) checkRead(values []Var) error {
	r, read := c.arith.readers(), make(map[Var]bool)
	for j, column := range c.cells {
		for row, v := range column {
			if !read[v] && slices.Contains(values, v) {
				read[v] = c.isRead(r, j, row)
			}
		}
	}
	for _, v := range values {
		if v == 0 || !read[v] {
			return fmt.Errorf("%w: value %d: no gate and no lookup reads it, so any number would do", zkbench.ErrParams, v)
		}
	}
	return nil
}

// kindOf returns the kind of a row.
func (c *Circuit) kindOf(row int) *fixed { return &c.kinds[c.rows[row]] }
