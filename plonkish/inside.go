package plonkish

import (
	"fmt"
	"path"
	"runtime"
	"slices"
	"strings"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/plonkish/internal/inside"
)

// The access of this module's tests, which package inside has.
type (
	builderAccess = inside.BuilderAccess
	circuitAccess = inside.CircuitAccess
)

func (b *Builder) noteSites() { b.sites = make([]string, len(b.rows)) }

func (b *Builder) plant(v uint32, value fr.Element) {
	if int(v) < len(b.values) {
		b.values[v] = value
	}
	if b.planted == nil {
		b.planted = make(map[Var]fr.Element)
	}
	b.planted[Var(v)] = value
}

// site returns the lines of this package and those below it that add a row, the outermost first.
func site() string {
	const here = "github.com/zkbench/zkbench/plonkish"
	callers := make([]uintptr, 32)
	frames := runtime.CallersFrames(callers[:runtime.Callers(3, callers)])
	var lines []string
	for {
		f, more := frames.Next()
		if !strings.HasPrefix(f.Function, here) || strings.HasSuffix(f.File, "_test.go") {
			break
		}
		lines = append(lines, fmt.Sprintf("%s:%d", path.Base(f.File), f.Line))
		if !more {
			break
		}
	}
	slices.Reverse(lines)
	return strings.Join(lines, ">")
}

// inside returns the circuit as constraints on values. inside.Look describes them.
func (c *Circuit) inside() *inside.Circuit {
	in := &inside.Circuit{Columns: len(c.arith.Columns), Unknown: slices.Repeat([]int{-1}, len(c.arith.Columns)*len(c.rows))}
	number := func(column, row int) int { return column*len(c.rows) + row }
	r, terms := c.arith.readers(), c.arith.termVariables()
	var wires []inside.Constraint
	for column := range c.arith.Columns {
		for row := range c.rows {
			if in.Unknown[number(column, row)] >= 0 {
				continue
			}
			cycle := c.cycle(column, row)
			var wired []inside.Constraint
			for _, cell := range cycle {
				at := number(cell[0], cell[1])
				in.Unknown[at] = len(in.Values)
				public := cell[0] == 0 && cell[1] < c.public
				if public || c.reads(r, cell[0], cell[1]) {
					name := "wire of " + c.arith.Columns[cell[0]]
					if site := c.site(cell[1]); site != "" {
						name = site + name
					} else {
						name += terms.shape(c, cell[0], cell[1])
					}
					if public {
						name = "public value"
					}
					wired = append(wired, inside.Constraint{Line: name, Name: name, Row: cell[1], Cell: at})
				}
			}
			in.Values = append(in.Values, c.cell(column, row))
			if len(wired) > 1 {
				wires = append(wires, wired...)
			}
		}
	}
	type origin struct{ term, lookup int }
	var origins []origin
	programs, ofKinds := make(map[Expr]program), make(map[Kind]map[Expr]program) // compiled once
	compiled := func(e Expr) program {
		p, ok := programs[e]
		if !ok {
			p = compile(e)
			programs[e] = p
		}
		return p
	}
	for row, kind := range c.rows {
		f := c.kindOf(row)
		if ofKinds[kind] == nil {
			ofKinds[kind] = make(map[Expr]program)
		}
		poly := func(e Expr) (p inside.Poly) {
			of, ok := ofKinds[kind][e]
			if !ok {
				of = compile(evaluate(compiled(e), withParams(f.params)))
				ofKinds[kind][e] = of
			}
			for _, s := range of {
				step := inside.Step{Op: inside.Op(s.op), X: s.x, Y: s.y, Value: s.value}
				if s.op == opVariable {
					at := row
					if s.variable.kind == nextCell {
						at++
					}
					step.X = number(s.variable.index, at)
				}
				p = append(p, step)
			}
			return p
		}
		used := func(exprs ...Expr) (all []int) {
			for _, e := range exprs {
				for _, v := range compiled(e).variables() {
					if v.kind == param && !f.params[v.index].IsZero() && !slices.Contains(all, v.index) {
						all = append(all, v.index)
					}
				}
			}
			slices.Sort(all)
			return all
		}
		add := func(k inside.Constraint, o origin, exprs ...Expr) {
			k.Row, k.Cell = row, -1
			k.Line = c.site(row) + k.Line
			k.Name = k.Line
			if some := used(exprs...); len(some) > 0 {
				k.Line += fmt.Sprintf(" %v", some)
				k.Name += " " + named(f.params, some)
			}
			in.Constraints, origins = append(in.Constraints, k), append(origins, o)
		}
		if f.gate >= 0 {
			g := c.arith.Gates[f.gate]
			for i, t := range g.Terms {
				zero := poly(t.Zero)
				if len(zero.Cells()) > 0 {
					add(inside.Constraint{Line: g.Name + ": " + t.Name, Zero: zero}, origin{i, -1}, t.Zero)
				}
			}
		}
		for i, t := range f.tables {
			if t == 0 {
				continue
			}
			l, k := c.arith.Lookups[i], inside.Constraint{Table: c.tables[t-1].Columns, TableName: c.tables[t-1].Name}
			k.Line = l.Name + ": " + c.tables[t-1].Name
			for _, e := range l.Tuple {
				k.Tuple = append(k.Tuple, poly(e))
			}
			add(k, origin{-1, i}, l.Tuple...)
		}
	}
	in.Constraints = append(in.Constraints, wires...)
	in.Check = func(values []fr.Element, constraint int, leftOut bool) error {
		d, k := c.holding(in.Unknown, values), &in.Constraints[constraint]
		switch {
		case k.Cell >= 0:
			d.setOwn(k.Cell/len(c.rows), k.Row, values[len(values)-1], leftOut)
		case leftOut:
			d.leaveOut(k.Row, origins[constraint].term, origins[constraint].lookup)
		}
		return d.Check()
	}
	return in
}

// termVariables holds the variables that an arithmetization's gates read, by gate and term.
type termVariables [][][]variable

func (a *Arithmetization) termVariables() (all termVariables) {
	for _, g := range a.Gates {
		var terms [][]variable
		for _, t := range g.Terms {
			terms = append(terms, compile(t.Zero).variables())
		}
		all = append(all, terms)
	}
	return all
}

// shape tells wires of a column apart if all rows come from one source line. It lists the parameters that are
// not 0 of the terms that read the cell, in its own row and in the row before.
func (all termVariables) shape(c *Circuit, column, row int) string {
	params := func(row int, v variable) (some []int) {
		if row < 0 || c.kindOf(row).gate < 0 {
			return nil
		}
		f := c.kindOf(row)
		for _, term := range all[f.gate] {
			if !slices.Contains(term, v) {
				continue
			}
			for _, x := range term {
				if x.kind == param && !f.params[x.index].IsZero() && !slices.Contains(some, x.index) {
					some = append(some, x.index)
				}
			}
		}
		slices.Sort(some)
		return some
	}
	var shape string
	if here := params(row, variable{cell, column}); len(here) > 0 {
		shape += fmt.Sprintf(" %v", here)
	}
	if before := params(row-1, variable{nextCell, column}); len(before) > 0 {
		shape += fmt.Sprintf(", next of %v", before)
	}
	return shape
}

// named formats parameters and their values. A long value is shortened to its ends.
func named(params []fr.Element, some []int) string {
	var all []string
	for _, i := range some {
		e := params[i]
		minus := *new(fr.Element).Neg(&e)
		value := e.Text(16)
		switch {
		case e.IsUint64() && len(value) <= 12:
		case minus.IsUint64() && len(minus.Text(16)) <= 12:
			value = "-" + minus.Text(16)
		default:
			value = value[:6] + ".." + value[len(value)-6:]
		}
		all = append(all, fmt.Sprintf("%d:%s", i, value))
	}
	return fmt.Sprint(all)
}

// site returns the lines that add a row, if the Builder has recorded them. They begin the names of the row's
// constraints.
func (c *Circuit) site(row int) string {
	if row -= c.public; row >= 0 && row < len(c.sites) && c.sites[row] != "" {
		return c.sites[row] + ": "
	}
	return ""
}

// holding returns the circuit with other values in its cells.
func (c *Circuit) holding(unknown []int, values []fr.Element) *Circuit {
	d := *c
	d.values = append(make([]fr.Element, 1), values...)
	d.cells, d.free = make([][]Var, len(c.cells)), make([][]fr.Element, len(c.free))
	for column := range c.arith.Columns {
		for row := range c.rows {
			at := unknown[column*len(c.rows)+row]
			if column < len(c.cells) {
				d.cells[column] = append(d.cells[column], Var(1+at))
			} else {
				free := &d.free[column-len(c.cells)]
				*free = append(*free, values[at])
			}
		}
	}
	return &d
}

// leaveOut removes a term of the row's gate, or a lookup, from a row. Either term or lookup is -1.
func (c *Circuit) leaveOut(row, term, lookup int) {
	f := *c.kindOf(row)
	if term >= 0 {
		a, g := *c.arith, c.arith.Gates[f.gate].clone()
		g.Name += " less a term"
		g.Terms = slices.Delete(g.Terms, term, term+1)
		f.gate, a.Gates = len(a.Gates), append(slices.Clip(a.Gates), g)
		c.arith = &a
	} else {
		f.tables = slices.Clone(f.tables)
		f.tables[lookup] = 0
	}
	c.rows = slices.Clone(c.rows)
	c.rows[row] = Kind(len(c.kinds))
	c.kinds = append(slices.Clip(c.kinds), f)
}

// setOwn gives a cell a value of its own. If unwired, the cell is wired to no other; the first cell of a
// public value stays wired to that value.
func (c *Circuit) setOwn(column, row int, value fr.Element, unwired bool) {
	c.cells[column][row] = Var(len(c.values))
	c.values = append(c.values, value)
	if !unwired {
		return
	}
	here := uint32(column*c.n + row)
	if column == 0 && row < c.public {
		here = uint32(len(c.cells)*c.n + row)
	}
	for i, s := range c.sigma {
		if at := slices.Index(s, here); at >= 0 {
			c.sigma = slices.Clone(c.sigma)
			for j := range c.sigma {
				c.sigma[j] = slices.Clone(c.sigma[j])
			}
			c.sigma[i][at], c.sigma[column][row] = c.sigma[column][row], here
			break
		}
	}
}
