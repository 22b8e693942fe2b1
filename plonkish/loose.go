package plonkish

import (
	"slices"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
)

// CellName names a cell of a circuit by its row and column.
type CellName struct {
	Row    int
	Column string
}

// Loose finds cells that the circuit does not determine. Such a cell can change, and other cells with it,
// without breaking a constraint to first order. That is, every term of a gate stays 0, and every lookup
// stays at its row of the table. Public values and the inputs stay the same. If the inputs decide the
// witness to first order, Loose returns no cells, even if there are other solutions far away.
//
// Cells that no gate and no lookup reads are left out. If cells are wired together, Loose names only the
// first of them. Loose tests the constraints for one value of the challenge. So it also returns cells that
// are determined only because constraints must hold for every challenge.
//
// Loose returns Check's error if the circuit is not satisfied, and zkbench.ErrParams if no gate and no lookup
// reads one of the inputs. It uses linear algebra over the cells' gradients, for circuits of some thousands
// of rows.
func (c *Circuit) Loose(inputs ...Var) ([]CellName, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if err := c.checkRead(inputs); err != nil {
		return nil, err
	}
	c = c.guess()
	v := c.unknowns(inputs)
	seen := make([]bool, len(v.names)) // in a gate or a lookup
	rows := make(map[int]gradient)     // by their last unknown, which has factor 1
	for row, k := range c.rows {
		f := &c.kinds[k]
		v.row = row
		for _, e := range f.exprs(c.arith) {
			p := compile(e)
			for _, x := range p.variables() {
				if i := v.unknown(x); i >= 0 {
					seen[i] = true
				}
			}
			eliminate(rows, evaluate(p, v).gradient)
		}
	}
	var loose []CellName
	for i := range v.names {
		if _, ok := rows[i]; seen[i] && !ok {
			loose = append(loose, v.names[i])
		}
	}
	return loose, nil
}

// ReadOnce finds cells that only one term or one lookup reads. Such a cell constrains nothing else, so a
// wire may be missing. ReadOnce leaves out public values and the values in known, which are the inputs and
// the results of the circuit. If cells are wired together, ReadOnce names only the first of them. It returns
// zkbench.ErrParams if no gate and no lookup reads a known value, which happens if a row was forgotten.
func (c *Circuit) ReadOnce(known ...Var) ([]CellName, error) {
	if err := c.checkRead(known); err != nil {
		return nil, err
	}
	v := c.unknowns(known)
	times := make([]int, len(v.names))
	count := func(read ...Expr) {
		seen := make(map[int]bool)
		for _, e := range read {
			for _, x := range compile(e).variables() {
				if i := v.unknown(x); i >= 0 && !seen[i] {
					seen[i] = true
					times[i]++
				}
			}
		}
	}
	for row, k := range c.rows {
		v.row = row
		f := c.kinds[k]
		for _, e := range (&fixed{gate: f.gate, params: f.params}).exprs(c.arith) {
			count(e)
		}
		for i, t := range f.tables {
			if t == 0 {
				continue
			}
			tuple := (&fixed{gate: -1, params: f.params, tables: append(make([]int, i), t)}).exprs(c.arith)
			count(tuple...)
			for j, e := range tuple {
				if columns := c.tables[t-1].Columns; j >= len(columns) || constant(columns[j]) {
					count(e) // the table says what it is, whatever the rest of the tuple
				}
			}
		}
	}
	var once []CellName
	for i, n := range times {
		if n == 1 {
			once = append(once, v.names[i])
		}
	}
	return once, nil
}

func constant(column []fr.Element) bool {
	return !slices.ContainsFunc(column, func(e fr.Element) bool { return e != column[0] })
}

// gradient holds the factors of unknowns, none of them 0, in ascending order of the unknowns.
type gradient []factor

type factor struct {
	unknown int
	fr.Element
}

// plus returns g + c h.
func (g gradient) plus(c *fr.Element, h gradient) gradient {
	sum := make(gradient, 0, len(g)+len(h))
	for len(g) > 0 || len(h) > 0 {
		switch {
		case len(h) == 0 || len(g) > 0 && g[0].unknown < h[0].unknown:
			sum, g = append(sum, g[0]), g[1:]
			continue
		case len(g) == 0 || h[0].unknown < g[0].unknown:
			sum = append(sum, factor{unknown: h[0].unknown})
		default:
			sum, g = append(sum, g[0]), g[1:]
		}
		last := &sum[len(sum)-1]
		var e fr.Element
		last.Add(&last.Element, e.Mul(c, &h[0].Element))
		if h = h[1:]; last.IsZero() {
			sum = sum[:len(sum)-1]
		}
	}
	return sum
}

// eliminate reduces g by rows, and adds the remainder to rows if it is not 0.
func eliminate(rows map[int]gradient, g gradient) {
	for len(g) > 0 {
		last := g[len(g)-1]
		row, ok := rows[last.unknown]
		if !ok {
			var inverse fr.Element
			inverse.Inverse(&last.Element)
			rows[last.unknown] = gradient{}.plus(&inverse, g)
			return
		}
		last.Neg(&last.Element)
		g = g.plus(&last.Element, row)
	}
}

// unknowns is the algebra of values with their gradients, in one row.
type unknowns struct {
	reader
	number [][]int // by column and row; -1: none
	names  []CellName
}

// dual is a value and its gradient.
type dual struct {
	value fr.Element
	gradient
}

func (c *Circuit) unknowns(inputs []Var) *unknowns {
	v := &unknowns{reader: reader{Circuit: c}, number: make([][]int, len(c.arith.Columns))}
	for j := range v.number {
		v.number[j] = slices.Repeat([]int{-2}, len(c.rows)) // not yet known
	}
	for row := range c.rows {
		for j := range v.number {
			if v.number[j][row] != -2 {
				continue
			}
			number := len(v.names)
			cycle := c.cycle(j, row)
			if slices.ContainsFunc(cycle, func(cell [2]int) bool { return c.known(cell[0], cell[1], inputs) }) {
				number = -1
			} else {
				v.names = append(v.names, CellName{row, c.arith.Columns[j]})
			}
			for _, cell := range cycle {
				v.number[cell[0]][cell[1]] = number
			}
		}
	}
	return v
}

// cycle returns the cells, as column and row, that are wired to a cell, and that cell first.
func (c *Circuit) cycle(column, row int) [][2]int {
	all := [][2]int{{column, row}}
	if column >= len(c.cells) {
		return all
	}
	for {
		next := int(c.sigma[column][row])
		column, row = next/c.n, next%c.n
		if column == len(c.cells) {
			column = 0 // a public value, which is that cell
		}
		if all[0] == [2]int{column, row} {
			return all
		}
		all = append(all, [2]int{column, row})
	}
}

// known reports whether a cell is public or holds an input.
func (c *Circuit) known(column, row int, inputs []Var) bool {
	if column >= len(c.cells) {
		return false
	}
	v := c.cells[column][row]
	return column == 0 && row < c.public || slices.Contains(inputs, v)
}

// unknown returns the number of a variable, or -1 if it is known.
func (v *unknowns) unknown(x variable) int {
	row := v.row
	if x.kind == nextCell {
		row++
	}
	if x.kind == param || x.kind == scalar || row >= len(v.rows) {
		return -1
	}
	return v.number[x.index][row]
}

func (v *unknowns) variable(x variable) dual {
	d := dual{value: v.value(x)}
	if i := v.unknown(x); i >= 0 {
		d.gradient = gradient{{i, fr.One()}}
	}
	return d
}

func (*unknowns) constant(e fr.Element) dual { return dual{value: e} }

func (*unknowns) apply(o op, x, y dual) dual {
	z, one := dual{value: apply(o, x.value, y.value)}, fr.One()
	switch o {
	case opAdd:
		z.gradient = x.plus(&one, y.gradient)
	case opSub:
		one.Neg(&one)
		z.gradient = x.plus(&one, y.gradient)
	default:
		z.gradient = gradient{}.plus(&y.value, x.gradient).plus(&x.value, y.gradient)
	}
	return z
}
