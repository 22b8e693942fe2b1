package plonkish

import (
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/internal/testing/must"
)

// twoGates is the bitwise arithmetization with another gate.
func twoGates() Arithmetization {
	s := bitwise(1)
	s.Gates = append(s.Gates, Range())
	return s
}

// TestDigests: circuits that differ in one thing have different digests, by which a prover knows
// its key's circuit; and arithmetizations theirs, which are part of a key's.
func TestDigests(t *testing.T) {
	type parts struct {
		arith         Arithmetization
		gate          int
		param         int64
		table, second *Table
		kinds         func(a, b Kind) []Kind
		last          func(b *Builder, x, y Var) []Var
		public        func(b *Builder) Var
	}
	build := func(change func(p *parts)) *Circuit {
		p := parts{
			arith: twoGates(), param: 1, table: xor4, second: and4,
			kinds:  func(a, b Kind) []Kind { return []Kind{a, b, a} },
			last:   func(b *Builder, x, y Var) []Var { return []Var{x, y, x} },
			public: func(b *Builder) Var { return b.Public(element(1)) },
		}
		change(&p)
		b := NewBuilder(p.arith)
		x, y := p.public(b), b.Var(element(2))
		first := b.LookUp(b.Kind(p.arith.Gates[p.gate], element(p.param)), 0, p.table)
		for _, k := range p.kinds(first, b.LookUp(first, 0, p.second)) {
			b.Row(k, []Var{x, y, y, y}[:p.arith.Permuted], make([]fr.Element, len(p.arith.Columns)-p.arith.Permuted)...)
		}
		b.Row(0, p.last(b, x, y))
		return must.Get(b.Build())(t)
	}
	arith := func(change func(a *Arithmetization)) func(p *parts) {
		return func(p *parts) {
			gate, lookup := *p.arith.Gates[0], p.arith.Lookups[0]
			gate.Terms = append([]Term(nil), gate.Terms...)
			lookup.Tuple = append([]Expr(nil), lookup.Tuple...)
			p.arith.Gates, p.arith.Lookups = []*Gate{&gate, p.arith.Gates[1]}, []Lookup{lookup}
			change(&p.arith)
		}
	}
	table := func(columns ...[]fr.Element) func(p *parts) {
		return func(p *parts) { p.table = &Table{"t", columns} }
	}
	a, b := numbers(6, 1), numbers(6, 2)
	changes := map[string]func(p *parts){
		"nothing":                        func(*parts) {},
		"a parameter":                    func(p *parts) { p.param = 2 },
		"another gate":                   func(p *parts) { p.gate = 1 },
		"a row more":                     func(p *parts) { p.kinds = func(a, b Kind) []Kind { return []Kind{a, b, a, a} } },
		"a row's kind":                   func(p *parts) { p.kinds = func(a, b Kind) []Kind { return []Kind{a, a, b} } },
		"a row's gate":                   func(p *parts) { p.kinds = func(a, b Kind) []Kind { return []Kind{a, 0, a} } },
		"a wire":                         func(p *parts) { p.last = func(b *Builder, x, y Var) []Var { return []Var{x, y, y} } },
		"a wire missing":                 func(p *parts) { p.last = func(b *Builder, x, y Var) []Var { return []Var{x, y, b.Var(element(1))} } },
		"no public value":                func(p *parts) { p.public = func(b *Builder) Var { return b.Var(element(1)) } },
		"tables exchanged":               func(p *parts) { p.table, p.second = p.second, p.table },
		"one table":                      func(p *parts) { p.second = p.table },
		"another table":                  table(a, b),
		"its columns":                    table(b, a),
		"one column":                     table(a),
		"one row less":                   table(a[:5], b[:5]),
		"one value":                      table(a, append(numbers(5, 2), element(11))),
		"an arithmetization's name":      arith(func(a *Arithmetization) { a.Name = "other" }),
		"a column":                       arith(func(a *Arithmetization) { a.Columns = append(a.Columns, "e") }),
		"a permuted one":                 arith(func(a *Arithmetization) { a.Permuted++ }),
		"a late column":                  arith(func(a *Arithmetization) { a.Columns, a.Late = append(a.Columns, "e"), 1 }),
		"an arithmetization's parameter": arith(func(a *Arithmetization) { a.Params++ }),
		"a gate's name":                  arith(func(a *Arithmetization) { a.Gates[0].Name = "other" }),
		"a gate more":                    arith(func(a *Arithmetization) { a.Gates = append(a.Gates, And()) }),
		"a term's name":                  arith(func(a *Arithmetization) { a.Gates[0].Terms[0].Name = "other" }),
		"a term":                         arith(func(a *Arithmetization) { a.Gates[0].Terms[0].Zero = Cell(1) }),
		"a term's variable":              arith(func(a *Arithmetization) { a.Gates[0].Terms[0].Zero = Cell(2) }),
		"a term of the next row":         arith(func(a *Arithmetization) { a.Gates[0].Terms[0].Zero = Next(2) }),
		"a term's operation":             arith(func(a *Arithmetization) { a.Gates[0].Terms[0].Zero = Cell(1).Add(Cell(2)) }),
		"another operation":              arith(func(a *Arithmetization) { a.Gates[0].Terms[0].Zero = Cell(1).Sub(Cell(2)) }),
		"operands exchanged":             arith(func(a *Arithmetization) { a.Gates[0].Terms[0].Zero = Cell(2).Sub(Cell(1)) }),
		"a constant":                     arith(func(a *Arithmetization) { a.Gates[0].Terms[0].Zero = Cell(1).Sub(Int(1)) }),
		"another constant":               arith(func(a *Arithmetization) { a.Gates[0].Terms[0].Zero = Cell(1).Sub(Int(2)) }),
		"a term more":                    arith(func(a *Arithmetization) { a.Gates[0].Terms = append(a.Gates[0].Terms, Term{"more", Cell(1)}) }),
		"a lookup's name":                arith(func(a *Arithmetization) { a.Lookups[0].Name = "other" }),
		"a lookup more":                  arith(func(a *Arithmetization) { a.Lookups = append(a.Lookups, Lookup{"more", []Expr{Cell(0)}}) }),
		"a tuple":                        arith(func(a *Arithmetization) { a.Lookups[0].Tuple[0] = Cell(3) }),
		"a longer tuple":                 arith(func(a *Arithmetization) { a.Lookups[0].Tuple = append(a.Lookups[0].Tuple, Cell(3)) }),
	}
	circuits, keys := make(map[[32]byte]string), make(map[[64]byte]string)
	for name, change := range changes {
		c := build(change)
		if other, ok := circuits[c.digest]; ok {
			t.Errorf("%q and %q have one digest", name, other)
		}
		circuits[c.digest] = name
		k := setup(t, c)
		if other, ok := keys[k.digest]; ok {
			t.Errorf("%q and %q have keys of one digest", name, other)
		}
		keys[k.digest] = name
	}
	if c := build(changes["nothing"]); circuits[c.digest] != "nothing" {
		t.Error("two circuits that are the same have different digests")
	}
}
