package stark

import (
	"context"
	"testing"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/ext"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark/internal/field"
	"github.com/zkbench/zkbench/stark/internal/koalabear"
)

// ProveForced proves traces, whether or not they satisfy the tables. It supports KoalaBear with degree 4 and
// Goldilocks with degree 2.
func (s *System) ProveForced(t *testing.T, traces []Trace, about Statement) []byte {
	t.Helper()
	if y, ok := s.engine.(*system[goldilocks.Element, ext.Quadratic]); ok {
		return proveForced(t, y, s.statement, traces, about)
	}
	return proveForced(t, s.engine.(*system[koalabear.Element, koalabear.Quartic]), s.statement, traces, about)
}

func proveForced[E field.Element[E], X field.Extension[E, X]](t *testing.T, y *system[E, X], s *statement, traces []Trace, about Statement) []byte {
	t.Helper()
	p := must.Get(y.prover(context.Background(), executor.Serial(), s, traces, about, Options{}))(t)
	for _, step := range []func() error{p.commitColumns, p.sums, p.quotients, p.open, p.batch, p.queries} {
		must.Do(t, step())
	}
	return p.encode()
}

// ProveLean proves like a proof that is lean, or like one that is not.
func (s *System) ProveLean(t *testing.T, lean bool, traces []Trace, about Statement, options Options) []byte {
	t.Helper()
	type proves interface {
		proveLean(t *testing.T, lean bool, s *statement, traces []Trace, about Statement, options Options) []byte
	}
	return s.engine.(proves).proveLean(t, lean, s.statement, traces, about, options)
}

func (y *system[E, X]) proveLean(t *testing.T, lean bool, s *statement, traces []Trace, about Statement, options Options) []byte {
	t.Helper()
	p := must.Get(y.prover(t.Context(), executor.Serial(), s, traces, about, options))(t)
	p.layout.lean = lean
	must.Do(t, p.run())
	return p.encode()
}

// FixedTables and FixedTraces export tables with fixed columns to tests. MixedTables and MixedTraces are of some tables
// with fixed columns and some without, of any of MixedForms. ImageTables are such tables, of which some have an image.
var (
	FixedTables = fixedTables
	FixedTraces = fixedTraces
	MixedTables = mixedTables
	MixedTraces = mixedTraces
	MixedForms  = mixedForms
	ImageTables = imageTables
)

// Shown returns the number of elements in the leaves of each phase.
func (s *System) Shown(f Form) (all []int) {
	l, err := s.layoutOf(f)
	if err != nil {
		panic(err)
	}
	for phase := range phases {
		all = append(all, l.shown(phase))
	}
	return all
}

// Numbers returns how many elements of the extension each message of a proof has.
func (s *System) Numbers(f Form) (all []int) {
	l, err := s.layoutOf(f)
	if err != nil {
		panic(err)
	}
	for _, g := range l.groups {
		if len(g) > 0 {
			all = append(all, 1)
		}
	}
	for phase, shapes := range l.phases {
		for t, shape := range shapes {
			n := shape.width
			for i := range shape.width {
				if l.next[phase][t][i>>shape.stack] {
					n++
				}
			}
			all = append(all, n)
		}
	}
	return append(all, 1<<l.final())
}

// StatementOf returns a statement that accepts only the form of traces.
func StatementOf(traces []Trace, about Statement) Statement {
	var f Form
	for _, t := range traces {
		f = append(f, t.Rows)
	}
	about.Forms = []Form{f}
	return about
}

// Agrees reports whether a column with these cells has the value that a valid proof of a statement opens.
// Anyone who has the proof can check a guess in this way. It supports KoalaBear with degree 4.
func (s *System) Agrees(t *testing.T, proof []byte, about Statement, table, column int, cells []uint64) bool {
	t.Helper()
	y := s.engine.(*system[koalabear.Element, koalabear.Quartic])
	f := y.field
	l, p, err := y.decode(s.statement, proof, must.Get(y.claim(s.statement, about))(t))
	must.Do(t, err)
	c := y.begin(s.statement, p.rows, must.Get(y.claim(s.statement, about))(t))
	one := (&verifier[koalabear.Element, koalabear.Quartic]{field: f}).one()
	c.Digests("columns", p.caps[ofColumns])
	drawSums(c, one, l.longest)
	absorbSums(c, p)
	if l.leaf(ofSums) > 0 {
		c.Digests("sums", p.caps[ofSums])
	}
	c.Challenge("alpha", false)
	c.Digests("quotients", p.caps[ofQuotients])
	at := c.Challenge("point", true)
	// Σ cell ω^i (y^n - 1) / (n (y - ω^i))
	n := len(cells)
	vanishing := field.Power(one, at, uint64(n)).Sub(one).MulBase(f.New(uint64(n)).Inverse())
	var sum koalabear.Quartic
	place := f.New(1)
	for _, v := range cells {
		sum = sum.Add(vanishing.MulBase(place.Mul(f.New(v))).Mul(at.Sub(one.MulBase(place)).Inverse()))
		place = place.Mul(f.Root(l.rows[table]))
	}
	return sum == p.values[ofColumns][table][0][column]
}
