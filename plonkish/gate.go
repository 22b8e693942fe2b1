package plonkish

import (
	"fmt"
	"slices"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
)

// Term is one requirement of a gate: the value of the polynomial in the field Zero must be 0 in every row
// that has the gate.
type Term struct {
	Name string
	Zero Expr
}

// Gate is a list of terms that rows with this gate must satisfy.
type Gate struct {
	Name  string
	Terms []Term
}

func (g *Gate) clone() *Gate { return &Gate{g.Name, slices.Clone(g.Terms)} }

// equal reports whether two gates have the same name and the same terms.
func (g *Gate) equal(other *Gate) bool {
	return g == other || g != nil && other != nil && g.Name == other.Name && slices.Equal(g.Terms, other.Terms)
}

// vanishes reports whether all terms are 0 if all parameters are, whatever the cells hold.
func (g *Gate) vanishes() bool {
	for _, t := range g.Terms {
		if c, ok := evaluate(compile(t.Zero), withoutParams{}).constant(); !ok || !c.IsZero() {
			return false
		}
	}
	return true
}

// withoutParams is the algebra of Exprs in which parameters are 0.
type withoutParams struct{}

func (withoutParams) variable(v variable) Expr {
	if v.kind == param {
		return Expr{}
	}
	return varExpr(v.kind, v.index)
}
func (withoutParams) constant(c fr.Element) Expr { return Const(c) }
func (withoutParams) apply(o op, x, y Expr) Expr { return simplified(o, x, y) }

// reads returns the variables of all terms.
func (g *Gate) reads() []variable {
	var all []variable
	for _, t := range g.Terms {
		all = append(all, compile(t.Zero).variables()...)
	}
	return all
}

// fixes returns the column of a cell that the gate says is 0, if it says nothing else in rows of these
// parameters.
func (g *Gate) fixes(params []fr.Element) (column int, ok bool) {
	column = -1
	for _, t := range g.Terms {
		p := compile(evaluate(compile(t.Zero), withParams(params)))
		read := p.variables()
		at := func(x int64) fr.Element { return evaluate(p, atCell(x)) }
		switch c := at(0); {
		case len(read) == 0 && c.IsZero():
			continue
		case len(read) != 1 || read[0].kind != cell || !c.IsZero() || column >= 0:
			return 0, false
		}
		degree := evaluate(p, leadings(func(variable) leading { return leading{degree: 1} })).degree
		if one := at(1); degree != 1 || one.IsZero() {
			return 0, false
		}
		column = read[0].index
	}
	return column, column >= 0
}

// withParams is the algebra of Exprs in which parameters are known.
type withParams []fr.Element

func (w withParams) variable(v variable) Expr {
	if v.kind == param {
		return Const(w[v.index])
	}
	return varExpr(v.kind, v.index)
}
func (withParams) constant(c fr.Element) Expr { return Const(c) }
func (withParams) apply(o op, x, y Expr) Expr { return simplified(o, x, y) }

// atCell is the algebra of values in which all variables have this value.
type atCell int64

func (a atCell) variable(variable) fr.Element         { return *new(fr.Element).SetInt64(int64(a)) }
func (atCell) constant(c fr.Element) fr.Element       { return c }
func (atCell) apply(o op, x, y fr.Element) fr.Element { return apply(o, x, y) }

// Arithmetization defines what circuits are made of: columns, gates and lookups. NewBuilder and ReadVerifyingKey
// copy it, so later changes to it or to its gates have no effect on circuits and keys.
type Arithmetization struct {
	Name     string
	Columns  []string // names of the columns
	Permuted int      // the first Permuted columns have cells that can be wired to others
	Late     int      // the last Late columns depend on Challenge (Builder.Late); none of them is permuted
	Params   int      // number of fixed elements of a row, besides its gate
	Gates    []*Gate
	Lookups  []Lookup // lookups that a row can use, besides its gate
}

// clone returns a copy that shares nothing with a that can change. Exprs are immutable.
func (a *Arithmetization) clone() Arithmetization {
	c := *a
	c.Columns, c.Gates, c.Lookups = slices.Clone(a.Columns), slices.Clone(a.Gates), slices.Clone(a.Lookups)
	for i, g := range c.Gates {
		if g != nil { // check refuses it
			c.Gates[i] = g.clone()
		}
	}
	for i := range c.Lookups {
		c.Lookups[i].Tuple = slices.Clone(c.Lookups[i].Tuple)
	}
	return c
}

func (a *Arithmetization) check() error {
	bad := func(format string, args ...any) error {
		return fmt.Errorf("%w: arithmetization %q: "+format, append([]any{zkbench.ErrParams, a.Name}, args...)...)
	}
	if a.Permuted < 1 || a.Permuted > len(a.Columns) {
		return bad("%d permuted of %d columns, accepted are 1 to %d", a.Permuted, len(a.Columns), len(a.Columns))
	}
	if most := len(a.Columns) - a.Permuted; a.Late < 0 || a.Late > most {
		return bad("%d late columns, accepted are up to %d that are not permuted", a.Late, most)
	}
	if a.Params < 0 {
		return bad("%d parameters, accepted are 0 and more", a.Params)
	}
	names := make(map[string]bool)
	reads := func(name string, variables []variable) error {
		switch {
		case name == Wiring:
			return bad("a gate or lookup is called %q, which is the name of wires", name)
		case names[name]:
			return bad("two gates or lookups are called %q", name)
		}
		names[name] = true
		for _, v := range variables {
			what, limit := "column", len(a.Columns)
			switch v.kind {
			case param:
				what, limit = "parameter", a.Params
			case scalar:
				if a.Late == 0 {
					return bad("%q reads the challenge, but no column is late", name)
				}
				continue
			}
			if v.index < 0 || v.index >= limit {
				return bad("%q reads %s %d of %d", name, what, v.index, limit)
			}
		}
		return nil
	}
	for _, g := range a.Gates {
		if g == nil {
			return bad("a gate that is nil")
		}
		if err := reads(g.Name, g.reads()); err != nil {
			return err
		}
	}
	for _, l := range a.Lookups {
		if err := reads(l.Name, l.reads()); err != nil {
			return err
		}
		if len(l.Tuple) < 1 || len(l.Tuple) > maxTuple {
			return bad("lookup %q has %d parts, accepted are 1 to %d", l.Name, len(l.Tuple), maxTuple)
		}
	}
	return nil
}
