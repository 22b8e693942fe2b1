package plonkish

import (
	"crypto/sha256"
	"fmt"
	"slices"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
)

// UnheldError names a cell or a public value for which any number would do, so that Build refuses it.
// It is a zkbench.ErrParams. Rows are those of the circuit: the first are those of public values.
type UnheldError struct {
	Row       int // of a public value its number
	Column    string
	Behind    bool   // the row is the one behind the last
	Reader    string // the gate or lookup that reads the cell; "": a public value that none reads
	ReaderRow int    // the reader's row: Row, or the one before it
}

func (e *UnheldError) Error() string {
	switch {
	case e.Reader == "":
		return fmt.Sprintf("%v: public value %d: no gate and no lookup reads it, so that any number would do", e.Unwrap(), e.Row)
	case e.Behind:
		return fmt.Sprintf("%v: row %d, behind the last one: %q of row %d reads its column %q; accepted is a row more", e.Unwrap(), e.Row, e.Reader, e.ReaderRow, e.Column)
	}
	return fmt.Sprintf("%v: row %d: column %q holds no value, and %q of row %d reads it; accepted are a Var, Zero's for 0, or a free cell that is given",
		e.Unwrap(), e.Row, e.Column, e.Reader, e.ReaderRow)
}

// Unwrap returns zkbench.ErrParams.
func (*UnheldError) Unwrap() error { return zkbench.ErrParams }

// part is an Expr that rows of a gate or of a lookup are about.
type part struct {
	reader       string
	gate, lookup int // index in the arithmetization; -1: none
	index        int // in the lookup's tuple
	expr         Expr
	params       []int           // that it reads
	forms        map[uint64]form // by those of params that are not 0
}

// form is a part without what parameters that are 0 multiply.
type form struct {
	reads []variable
	alone bool // it is the cell that it reads
}

// readers are the parts of an arithmetization by the cells that they read.
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

// in returns the part's form in rows of a kind. Kinds are many, and forms few.
func (p *part) in(f *fixed) form {
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

// reader returns the name of what reads a cell in rows of a kind, "" if nothing does. If a lookup has the
// cell as a part by itself, and its table has only 0 there, the table says what the cell is: it is held.
func (r readers) reader(f *fixed, v variable, tables []*Table) (name string, held bool) {
	for _, p := range r[v] {
		if p.gate >= 0 && p.gate != f.gate || p.lookup >= 0 && f.tables[p.lookup] == 0 {
			continue
		}
		now := p.in(f)
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

// isZero tells whether all of a column is 0, as what a table does not have is.
func (t *Table) isZero(column int) bool {
	return column >= len(t.Columns) || !slices.ContainsFunc(t.Columns[column], func(e fr.Element) bool { return !e.IsZero() })
}

// behindLast returns an *UnheldError if the last row reads the one after it.
func (b *Builder) behindLast() error {
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

// held returns an *UnheldError if a gate or a lookup reads a cell that nothing holds, or if none reads a
// public value.
func (c *Circuit) held(given func(row int) (free int, late bool)) error {
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

// isRead tells whether what a gate or a lookup says depends on a cell of a permuted column, and those that are wired
// to it. A term that names the cell need not: its parameters may be such that it vanishes, or the cell may stand in it
// twice. So terms are evaluated where all other cells are drawn, with two numbers for these: polynomials that
// differ are taken for one with a chance of their degree in 2^254.
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

// depends tells whether the part's value in a row of a kind depends on the number that wired cells have.
func (p *part) depends(f *fixed, row int, wired map[[2]int]bool) bool {
	if p.gate >= 0 && p.gate != f.gate || p.lookup >= 0 && f.tables[p.lookup] == 0 {
		return false
	}
	program := compile(p.expr)
	one := evaluate(program, atPoint{params: f.params, wired: wired, row: row})
	other := evaluate(program, atPoint{params: f.params, wired: wired, row: row, other: true})
	return !one.Equal(&other)
}

// reads tells whether a gate or a lookup names a cell with parameters that are not 0.
func (c *Circuit) reads(r readers, column, row int) bool {
	reader, _ := r.reader(c.kindOf(row), variable{cell, column}, c.tables)
	if reader == "" && row > 0 {
		reader, _ = r.reader(c.kindOf(row-1), variable{nextCell, column}, c.tables)
	}
	return reader != ""
}

// atPoint is the algebra of Exprs at a point that is drawn, of which the wired cells have one of two numbers.
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

// drawnNumber is a number that nothing in a circuit has to do with.
func drawnNumber(kind, index int) (e fr.Element) {
	sum := sha256.Sum256(fmt.Appendf(nil, "zkbench/v1/plonkish held %d %d", kind, index))
	e.SetBytes(sum[:])
	return e
}

// areRead returns a zkbench.ErrParams for a value that no gate and no lookup reads.
func (c *Circuit) areRead(values []Var) error {
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
			return fmt.Errorf("%w: value %d: no gate and no lookup reads it, so that any number would do", zkbench.ErrParams, v)
		}
	}
	return nil
}

// kindOf is the kind of a row.
func (c *Circuit) kindOf(row int) *fixed { return &c.kinds[c.rows[row]] }
