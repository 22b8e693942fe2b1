package plonkish

import (
	"math/big"
	"slices"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/internal/arith/poly"
)

// Challenges, as the identity's variables of kind scalar.
const (
	alpha = iota // separates the terms
	beta         // of the permutation
	gamma
	delta // the running product's first value, which public values decide
	eta   // of the parts of a tuple
	rho   // of the fractions of lookups
	drawn // what late columns depend on
	challenges
)

// layout is what prover and verifier of a key share: the identity that a circuit's columns satisfy in all
// rows, and what is opened to check it at one point.
type layout struct {
	arith *Arithmetization
	n     int
	root  fr.Element // of order n
	used  uses

	identity  program
	terms     []Expr     // of the identity; term i has the factor α^i
	committed []variable // columns that the identity reads, fixed or not
	opened    []variable // values that a proof has: columns at ζ, nextCells and the product at ωζ
	linear    []variable // of committed, those that are not opened at ζ
	pieces    int        // of the quotient, each of n coefficients
	extra     bool       // and the last one has another
}

// uses says which parts of an arithmetization a circuit has rows of.
type uses struct {
	gates     []bool
	selectors []bool // of gates: parameters are not enough to switch it off
	params    []bool
	lookups   []bool
	width     int // of the tables
}

// uses returns uses in which no part is used.
func (a *Arithmetization) uses() uses {
	return uses{
		gates: make([]bool, len(a.Gates)), selectors: make([]bool, len(a.Gates)),
		params: make([]bool, a.Params), lookups: make([]bool, len(a.Lookups)),
	}
}

func (c *Circuit) uses() uses {
	u := c.arith.uses()
	inUse := make([]bool, len(c.kinds))
	for _, k := range c.rows {
		inUse[k] = true
	}
	for k, f := range c.kinds {
		if !inUse[k] {
			continue
		}
		if f.gate >= 0 {
			u.gates[f.gate] = true
		}
		for i, p := range f.params {
			u.params[i] = u.params[i] || !p.IsZero()
		}
		for i, t := range f.tables {
			u.lookups[i] = u.lookups[i] || t > 0
		}
	}
	for i, g := range c.arith.Gates {
		u.selectors[i] = !g.vanishes()
		for _, v := range g.reads() {
			for k, f := range c.kinds {
				if v.kind == param && inUse[k] && f.gate != i && !f.params[v.index].IsZero() {
					u.selectors[i] = true
				}
			}
		}
	}
	for _, t := range c.tables {
		u.width = max(u.width, len(t.Columns))
	}
	return u
}

// newLayout builds the identity from gates, wiring, lookups and the ends of the running product.
func newLayout(a *Arithmetization, n int, u uses) *layout {
	l := &layout{arith: a, n: n, used: u, root: poly.Root(n)}
	terms := l.gates()
	terms = append(terms, l.permutation()...)
	terms = append(terms, l.lookupTerms(l.unblinded)...)
	l.terms, l.identity = terms, compile(weighedSum(terms))
	l.open()
	degree := evaluate(l.identity, leadings(func(v variable) leading { return leading{degree: l.degree(v)} })).degree - n
	l.pieces, l.extra = degree/n, degree%n == 0
	if !l.extra {
		l.pieces++
	}
	return l
}

// weighedSum returns the sum of terms, each times a power of α, the first times 1.
func weighedSum(terms []Expr) (sum Expr) {
	for _, t := range slices.Backward(terms) {
		sum = sum.Mul(varExpr(scalar, alpha)).Add(t)
	}
	return sum
}

// label returns k_j = 5^j, the factor of column j. 5 generates the field's multiplicative group, so no two
// cosets of the domain meet.
func label(j int) fr.Element {
	k, five := fr.One(), fr.NewElement(5)
	for range j {
		k.Mul(&k, &five)
	}
	return k
}

func power(x fr.Element, e int) (y fr.Element) {
	y.Exp(x, big.NewInt(int64(e)))
	return y
}

// gates returns the terms of gates, each times its selector. The selector is left out if the gate's own
// parameters are enough to switch it off.
func (l *layout) gates() []Expr {
	var terms []Expr
	for i, g := range l.arith.Gates {
		if !l.used.gates[i] {
			continue
		}
		s := Int(1)
		if l.used.selectors[i] {
			s = varExpr(selector, i)
		}
		for _, t := range g.Terms {
			terms = append(terms, s.Mul(evaluate(compile(t.Zero), usedParams(l.used.params))))
		}
	}
	return terms
}

// usedParams is the algebra of Exprs in which parameters that no row has are 0.
type usedParams []bool

func (u usedParams) variable(v variable) Expr {
	if v.kind == param && !u[v.index] {
		return Expr{}
	}
	return varExpr(v.kind, v.index)
}
func (usedParams) constant(c fr.Element) Expr { return Const(c) }
func (usedParams) apply(o op, x, y Expr) Expr { return simplified(o, x, y) }

// permutation returns the terms of the wiring. In all rows but the blinded ones, z (w_j + β k_j X + γ)... =
// z' (w_j + β σ_j + γ)...; z is δ in the first row and 1 in the first blinded one. Between groups of columns
// the product is a column of its own.
func (l *layout) permutation() []Expr {
	var terms []Expr
	z := varExpr(product, 0).Add(Int(1))
	now, groups := z, l.groups()
	for i, g := range groups {
		next := varExpr(nextProduct, 0)
		if i < len(groups)-1 {
			next = varExpr(product, i+1)
		}
		next = next.Add(Int(1))
		terms = append(terms, l.unblinded(now.Mul(g.left).Sub(next.Mul(g.right))))
		now = next
	}
	return append(terms, varExpr(first, 0).Mul(z.Sub(varExpr(scalar, delta))), varExpr(last, 0).Mul(varExpr(product, 0)))
}

// unblinded takes an Expr that is 0 in all rows but the blinded ones, and makes it 0 there too.
func (l *layout) unblinded(e Expr) Expr {
	for i := l.n - blinded; i < l.n; i++ {
		e = e.Mul(varExpr(point, 0).Sub(Const(power(l.root, i))))
	}
	return e
}

// wireGroup is a group of permuted columns: in each row the running product is multiplied by left and divided
// by right.
type wireGroup struct{ left, right Expr }

// Up to four columns are one group, and the quotient has four pieces. More columns form groups of three, and
// three pieces, so that the degree does not grow with the number of columns.
const oneGroup, ofGroups = 4, 3

func (a *Arithmetization) groupSize() int {
	if a.Permuted <= oneGroup {
		return a.Permuted
	}
	return ofGroups
}

func (l *layout) groups() (all []wireGroup) {
	b, c := varExpr(scalar, beta), varExpr(scalar, gamma)
	size := l.arith.groupSize()
	for j := range l.arith.Permuted {
		if j%size == 0 {
			all = append(all, wireGroup{Int(1), Int(1)})
		}
		g, w := &all[len(all)-1], Cell(j)
		g.left = g.left.Mul(w.Add(b.Mul(Const(label(j))).Mul(varExpr(point, 0))).Add(c))
		g.right = g.right.Mul(w.Add(b.Mul(varExpr(sigma, j))).Add(c))
	}
	return all
}

// open decides what is opened. Cells are opened at ζ, and what is read in the next row at ωζ. It opens
// further columns at ζ until the identity there is linear in the rest.
func (l *layout) open() {
	opened, read := make(map[variable]bool), make(map[variable]bool)
	for _, v := range l.identity.variables() {
		read[v] = true
		if v.kind == cell || v.kind.next() {
			opened[v] = true
		}
		// What is read in the next row alone is a column too.
		if here := v.here(); v.kind.column() && !slices.Contains(l.committed, here) {
			l.committed = append(l.committed, here)
		}
	}
	for more := true; more; {
		more = false
		evaluate(l.identity, unopened{opened, &more})
	}
	order := func(x, y variable) int {
		return (int(x.kind)-int(y.kind))*maxSize + x.index - y.index
	}
	for v := range opened {
		l.opened = append(l.opened, v)
	}
	slices.SortFunc(l.opened, order)
	slices.SortFunc(l.committed, order)
	for _, v := range l.committed {
		if read[v] && !opened[v] {
			l.linear = append(l.linear, v)
		}
	}
}

// unopened is the algebra of sets of columns that are not opened. A product of two such sets opens the
// smaller one, and the second if they are equally large.
type unopened struct {
	opened map[variable]bool
	more   *bool
}

func (f unopened) variable(v variable) []variable {
	if !v.kind.column() || f.opened[v] {
		return nil
	}
	return []variable{v}
}
func (f unopened) constant(fr.Element) []variable { return nil }

func (f unopened) apply(o op, x, y []variable) []variable {
	if o == opMul && len(x) > 0 && len(y) > 0 {
		*f.more = true
		if len(x) < len(y) {
			x, y = y, x
		}
		for _, v := range y {
			f.opened[v] = true
		}
		return x
	}
	all := slices.Clone(x)
	for _, v := range y {
		if !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	return all
}

// degree returns the formal degree of a variable, that of a polynomial through n values.
func (l *layout) degree(v variable) int {
	switch v.kind {
	case scalar:
		return 0
	case point:
		return 1
	}
	return l.n - 1
}
