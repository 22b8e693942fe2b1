package plonkish

import (
	"errors"
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// forge proves past the honest prover's checks. Before each phase, or after the last one, change
// may do as it likes.
func forge(t *testing.T, s *statement, c *Circuit, change map[string]func(p *prover)) []byte {
	t.Helper()
	p, err := s.newProver(t.Context(), executor.Serial(), c, Options{Context: bound})
	if err != nil {
		t.Fatal(err)
	}
	for _, phase := range []struct {
		name string
		run  func() error
	}{{PhaseCommit, p.commit}, {PhasePermutation, p.permutation}, {PhaseLookup, p.lookup}, {PhaseQuotient, p.quotient}, {PhaseOpen, p.open}} {
		if f := change[phase.name]; f != nil {
			f(p)
		}
		if err := phase.run(); err != nil {
			t.Fatal(err)
		}
	}
	if f := change[""]; f != nil {
		f(p)
	}
	return p.proof.encode()
}

// withValues is the circuit with other values in its cells.
func (c *Circuit) withValues(change func(c *Circuit)) *Circuit {
	d := *c
	d.values = slices.Clone(c.values)
	d.cells, d.free = nil, nil
	for _, column := range c.cells {
		d.cells = append(d.cells, slices.Clone(column))
	}
	for _, column := range c.free {
		d.free = append(d.free, slices.Clone(column))
	}
	change(&d)
	return &d
}

// setCell gives a cell a value of its own, whatever it is wired to.
func (c *Circuit) setCell(column, row int, e fr.Element) {
	if column < len(c.cells) {
		c.cells[column][row] = Var(len(c.values))
		c.values = append(c.values, e)
	} else {
		c.free[column-len(c.cells)][row] = e
	}
	if early := len(c.arith.Columns) - c.arith.Late; column >= early {
		c.late = append(slices.Clip(c.late), lateRows{row, row + 1, func(_ fr.Element, cells [][]fr.Element) { cells[column-early][0] = e }})
	}
}

// tied tells whether a gate or a lookup reads a cell, or a wire ties it to another.
func (c *Circuit) tied(column, row int) bool {
	if column < len(c.cells) && c.sigma[column][row] != uint32(column*c.n+row) {
		return true
	}
	reads := func(k Kind, v variable) bool {
		f := &c.kinds[k]
		var all []Expr
		for i, t := range f.tables {
			if t > 0 {
				all = append(all, c.arith.Lookups[i].Tuple...)
			}
		}
		if f.gate >= 0 {
			for _, t := range c.arith.Gates[f.gate].Terms {
				all = append(all, t.Zero)
			}
		}
		return slices.ContainsFunc(all, func(e Expr) bool {
			return slices.Contains(compile(evaluate(compile(e), f.used())).variables(), v)
		})
	}
	return reads(c.rows[row], variable{cell, column}) || row > 0 && reads(c.rows[row-1], variable{nextCell, column})
}

// TestForgedWitnesses: every single cell changed breaks a gate or a wire, Check says which, the
// prover refuses it by that name, and a proof that is made all the same is rejected.
func TestForgedWitnesses(t *testing.T) {
	for _, s := range statements(t) {
		t.Run(s.name, func(t *testing.T) {
			cells := 0
			for row := range s.rows {
				for column := range s.arith.Columns {
					some := testsize.Pick(4, 1, 1)
					if s.name == "plonk, 2^6" {
						some = 7 // all rows are of one kind
					}
					if (row*3+column)%some != 0 || !s.tied(column, row) {
						continue
					}
					cells++
					c := s.withValues(func(c *Circuit) {
						e := c.cell(column, row)
						c.setCell(column, row, *e.Add(&e, ptr(element(100))))
					})
					var unsatisfied *UnsatisfiedError
					err := c.Check()
					if !errors.As(err, &unsatisfied) || !errors.Is(err, zkbench.ErrWitness) {
						t.Errorf("row %d, column %d: %v", row, column, err)
						continue
					}
					if _, err := s.Prove(t.Context(), executor.Serial(), c, Options{}); err == nil || err.Error() != unsatisfied.Error() {
						t.Errorf("row %d, column %d: the prover says %v, Check %v", row, column, err, unsatisfied)
					}
					if err := s.VerifyInsecure(forge(t, &s, c, nil), s.public, bound); !errors.Is(err, zkbench.ErrProof) {
						t.Errorf("row %d, column %d: forged: %v", row, column, err)
					}
				}
			}
			if cells < s.Rows()/testsize.Pick(6, 3, 3) {
				t.Errorf("%d cells of %d rows", cells, s.Rows())
			}
		})
	}
}

// rowsOf are the values of a column that is committed to.
func rowsOf(t *testing.T, p *prover, v variable) []fr.Element {
	t.Helper()
	one, column := fr.One(), p.form.FromElements(p.columns[v])
	domain := must.Get(p.form.NewDomain(p.n))(t)
	if err := domain.NTT(p.ctx, p.ex, column, 0, &one); err != nil {
		t.Fatal(err)
	}
	column.BitReverse()
	return column.Elements()
}

// anew is a prover that before a phase commits to a column with values of the cheat's choice, and
// goes on from there with a transcript that says so.
func anew(t *testing.T, v variable, change func(values []fr.Element)) func(p *prover) {
	return func(p *prover) {
		values := rowsOf(t, p, v)
		change(values)
		changed := slices.Clone(values) // commitRows loses them
		if err := p.commitRows(slices.Index(p.layout.witness(), v), v, values); err != nil {
			t.Fatal(err)
		}
		p.rounds = p.newRounds(p.public, bound)
		p.rounds.early(p.proof, &p.scalars)
		p.rounds.columns(p.proof, &p.scalars)
		if v.kind >= product {
			p.rounds.running(p.proof, &p.scalars)
		} else {
			p.multiplicities = changed
		}
	}
}

// TestForgedProofs are what a cheat would try, in the order of a proof.
func TestForgedProofs(t *testing.T) {
	b := NewBuilder(Plonk())
	chain(b, 9, 2)
	c, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	s := statement{name: "plonk", ProvingKey: setup(t, c), Circuit: c, public: c.Public()}
	if err := s.VerifyInsecure(forge(t, &s, c, nil), s.public, bound); err != nil {
		t.Fatal("nothing forged:", err)
	}

	// A false result: a last value that is not the sum, and a public value to match.
	wrong := c.withValues(func(c *Circuit) {
		e := c.values[c.cells[0][1]]
		c.setCell(0, 1, *e.Add(&e, ptr(element(1))))
	})
	z := variable{product, 0}
	// shift adds to one coefficient of a column after it was committed to.
	shift := func(v variable) func(p *prover) {
		return func(p *prover) {
			p.columns[v][0].Add(&p.columns[v][0], ptr(element(1)))
		}
	}
	ownSelector := func(p *prover) {
		k, d := *p.ProvingKey, *p.structure // the key has them, too
		d.kinds = slices.Clone(d.kinds)
		for i := range d.kinds {
			params := slices.Clone(d.kinds[i].params)
			params[0].Add(&params[0], ptr(element(1)))
			d.kinds[i].params = params
		}
		k.structure, k.columns, p.ProvingKey = &d, nil, &k
		p.turner.ProvingKey = &k
	}
	end := c.n - blinded
	for name, cheat := range map[string]struct {
		circuit *Circuit
		change  map[string]func(p *prover)
	}{
		"a wrong result": {wrong, nil},
		"a public value that is another's": {c, map[string]func(p *prover){PhasePermutation: func(p *prover) {
			p.public = slices.Clone(p.public)
			p.public[1].Add(&p.public[1], ptr(element(1)))
		}}},
		"a witness changed after its commitment": {c, map[string]func(p *prover){PhaseQuotient: shift(variable{cell, 1})}},
		"z changed after its commitment":         {c, map[string]func(p *prover){PhaseQuotient: shift(z)}},
		"z of another value in the first row": {c, map[string]func(p *prover){PhaseQuotient: anew(t, z, func(v []fr.Element) {
			v[0].Add(&v[0], ptr(element(1)))
		})}},
		"z all 0": {wrong, map[string]func(p *prover){PhaseQuotient: anew(t, z, func(v []fr.Element) {
			for i := range v[:end+1] {
				v[i] = element(-1)
			}
		})}},
		"z that jumps to 1 where it ends": {wrong, map[string]func(p *prover){PhaseQuotient: anew(t, z, func(v []fr.Element) { v[end] = fr.Element{} })}},
		"z that jumps to 1 a row before":  {wrong, map[string]func(p *prover){PhaseQuotient: anew(t, z, func(v []fr.Element) { v[end-1], v[end] = fr.Element{}, fr.Element{} })}},
		"a selector of one's own":         {wrong, map[string]func(p *prover){PhaseQuotient: ownSelector}},
		"quotient pieces exchanged": {c, map[string]func(p *prover){PhaseOpen: func(p *prover) {
			p.proof.quotient[0], p.proof.quotient[1] = p.proof.quotient[1], p.proof.quotient[0]
		}}},
		"quotient pieces shifted against each other": {wrong, map[string]func(p *prover){PhaseOpen: func(p *prover) {
			p.pieces[0], p.pieces[1], p.pieces[2] = p.pieces[1], p.pieces[2], p.pieces[0]
		}}},
		"a quotient for a point that is known before": {wrong, map[string]func(p *prover){PhaseOpen: func(p *prover) {
			p.pieces[0][0].Add(&p.pieces[0][0], ptr(element(5)))
		}}},
		"an opening at another point": {c, map[string]func(p *prover){PhaseOpen: func(p *prover) { p.zeta.Double(&p.zeta) }}},
		"a value that is not the polynomial's": {c, map[string]func(p *prover){"": func(p *prover) {
			p.proof.values[0].Add(&p.proof.values[0], ptr(element(1)))
		}}},
		"the first commitment of the opening after its challenge": {c, map[string]func(p *prover){"": func(p *prover) {
			p.proof.opening[0].Add(&p.proof.opening[0], &p.one)
		}}},
	} {
		t.Run(name, func(t *testing.T) {
			if err := agree(t, s.Verifying(), forge(t, &s, cheat.circuit, cheat.change), s.public, bound); !errors.Is(err, zkbench.ErrProof) {
				t.Error(err)
			}
		})
	}

	// Both public values exchanged in the statement, with a circuit that has them so.
	t.Run("a proof of others' values", func(t *testing.T) {
		b := NewBuilder(Plonk())
		chain(b, 9, 3)
		other, err := b.Build()
		if err != nil {
			t.Fatal(err)
		}
		proof := forge(t, &s, other, nil)
		if err := agree(t, s.Verifying(), proof, other.Public(), bound); err != nil {
			t.Error("of its own values:", err)
		}
		if err := agree(t, s.Verifying(), proof, s.public, bound); !errors.Is(err, zkbench.ErrProof) {
			t.Error(err)
		}
	})
}

// TestForgedLookups are cheats of the running sum and its parts.
func TestForgedLookups(t *testing.T) {
	m, run, part := variable{multiplicity, 0}, variable{sum, 0}, variable{sum, 1}
	plus := func(row int, by int64) func(v []fr.Element) {
		return func(v []fr.Element) { v[row].Add(&v[row], ptr(element(by))) }
	}
	for _, s := range statements(t) {
		if len(s.tables) == 0 || len(s.arith.Columns) < 4 || s.name == "one lookup" && testsize.Pick(true, false, false) {
			continue
		}
		end, rows := s.n-blinded, tableRows(s.tables)
		free := element(1000)
		outside := s.withValues(func(c *Circuit) { c.setCell(3, 3, free); c.setCell(2, c.Rows()-3, free) })
		cheats := map[string]struct {
			circuit *Circuit
			change  map[string]func(p *prover)
		}{
			"a value that no table has":    {outside, nil},
			"one lookup counted twice":     {s.Circuit, map[string]func(p *prover){PhasePermutation: anew(t, m, plus(0, 1))}},
			"one lookup not counted":       {s.Circuit, map[string]func(p *prover){PhasePermutation: anew(t, m, plus(rows-1, -1))}},
			"a multiplicity behind tables": {outside, map[string]func(p *prover){PhasePermutation: anew(t, m, plus(rows, 1))}},
			"one in a random row":          {outside, map[string]func(p *prover){PhasePermutation: anew(t, m, plus(end, 1))}},
			"a sum that begins elsewhere": {s.Circuit, map[string]func(p *prover){PhaseQuotient: anew(t, run, func(v []fr.Element) {
				for i := range v[:end+1] {
					plus(i, 1)(v)
				}
			})}},
			"a sum that jumps to its end":   {outside, map[string]func(p *prover){PhaseQuotient: anew(t, run, func(v []fr.Element) { v[end] = fr.Element{} })}},
			"a sum of zeros":                {outside, map[string]func(p *prover){PhaseQuotient: anew(t, run, func(v []fr.Element) { clear(v[:end+1]) })}},
			"a sum that goes on, unblinded": {outside, map[string]func(p *prover){PhaseQuotient: anew(t, run, func(v []fr.Element) { clear(v[end:]) })}},
		}
		if _, ok := slices.BinarySearchFunc(s.layout.witness(), part, func(a, b variable) int { return (int(a.kind)-int(b.kind))*100 + a.index - b.index }); ok {
			cheats["a part of the sum that is another's"] = struct {
				circuit *Circuit
				change  map[string]func(p *prover)
			}{s.Circuit, map[string]func(p *prover){PhaseQuotient: anew(t, part, plus(2, 1))}}
		}
		for name, cheat := range cheats {
			t.Run(s.name+"/"+name, func(t *testing.T) {
				if err := agree(t, s.Verifying(), forge(t, &s, cheat.circuit, cheat.change), s.public, bound); !errors.Is(err, zkbench.ErrProof) {
					t.Error(err)
				}
			})
		}

		// A row of another table of the same shape: 1 and 3 is 1, and 1 xor 3 is 2.
		t.Run(s.name+"/another table", func(t *testing.T) {
			b := NewBuilder(bitwise(1))
			one, three := b.Var(element(1)), b.Var(element(3))
			b.Row(b.LookUp(0, 0, xor4), []Var{one, three, b.Var(element(1))})
			b.Row(b.LookUp(0, 0, and4), []Var{one, three, b.Var(element(1))})
			c, err := b.Build()
			if err != nil {
				t.Fatal(err)
			}
			st := statement{ProvingKey: setup(t, c), Circuit: c}
			var unsatisfied *UnsatisfiedError
			if err := c.Check(); !errors.As(err, &unsatisfied) || unsatisfied.Row != 0 || unsatisfied.Gate != "triple" || unsatisfied.Term != "xor" {
				t.Error(err)
			}
			if err := st.VerifyInsecure(forge(t, &st, c, nil), nil, bound); !errors.Is(err, zkbench.ErrProof) {
				t.Error(err)
			}
		})
	}
}

// TestEveryValueIsClaimed: each value of a proof is one that a commitment is opened to.
func TestEveryValueIsClaimed(t *testing.T) {
	for _, s := range statements(t) {
		claims := make([]int, len(s.opened))
		for _, c := range s.claims() {
			for _, i := range []int{c.here, c.next} {
				if i >= 0 {
					claims[i]++
				}
			}
		}
		golden.Equal(t, s.name+": claims of each value", slices.Repeat([]int{1}, len(claims)), claims)
	}
}
