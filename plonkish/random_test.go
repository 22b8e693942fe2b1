package plonkish

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// randomArithmetization has a gate that says what its first column is by all else of a row and the next.
func randomArithmetization(rng *rand.Rand) Arithmetization {
	columns := 2 + rng.IntN(6)
	a := Arithmetization{Name: "random", Permuted: 1 + rng.IntN(columns), Params: rng.IntN(3)}
	for i := range columns {
		a.Columns = append(a.Columns, fmt.Sprintf("c%d", i))
	}
	var expr func(depth int) Expr
	expr = func(depth int) Expr {
		switch what := rng.IntN(4); {
		case depth > 0 && what < 2:
			return expr(depth - 1).Mul(expr(rng.IntN(depth)))
		case depth > 0 && what == 2:
			return expr(depth - 1).Add(expr(rng.IntN(depth)))
		case depth > 0:
			return expr(depth - 1).Sub(expr(rng.IntN(depth)))
		case what == 0:
			return Next(1 + rng.IntN(columns-1))
		case what == 1 && a.Params > 0:
			return Param(rng.IntN(a.Params))
		case what == 2:
			return Int(int64(rng.IntN(4)) - 1)
		}
		return Cell(1 + rng.IntN(columns-1))
	}
	for i := range 1 + rng.IntN(3) {
		a.Gates = append(a.Gates, &Gate{fmt.Sprintf("g%d", i), []Term{{"c0", expr(1 + rng.IntN(4)).Sub(Cell(0))}}})
	}
	for i := range rng.IntN(3) {
		l := Lookup{fmt.Sprintf("l%d", i), []Expr{Cell(1 + rng.IntN(columns-1))}}
		if rng.IntN(2) == 0 {
			l.Tuple = append(l.Tuple, Next(1+rng.IntN(columns-1)))
		}
		a.Lookups = append(a.Lookups, l)
	}
	return a
}

// below3 are pairs of what cells of random circuits hold.
var below3 = func() *Table {
	t := &Table{Name: "below 3", Columns: make([][]fr.Element, 2)}
	for i := range int64(9) {
		t.Columns[0], t.Columns[1] = append(t.Columns[0], element(i/3)), append(t.Columns[1], element(i%3))
	}
	return t
}()

// randomCircuit has rows of random kinds, which hold.
func randomCircuit(t *testing.T, a Arithmetization, rng *rand.Rand) *Circuit {
	b := NewBuilder(a)
	rows := 1 + rng.IntN(14)
	cells, kinds := make([][]fr.Element, rows+1), make([]Kind, rows)
	for i := range cells {
		cells[i] = make([]fr.Element, len(a.Columns))
		for j := range cells[i] {
			if i < rows {
				cells[i][j] = element(int64(rng.IntN(3)))
			}
		}
	}
	for i := range kinds {
		params := make([]fr.Element, a.Params)
		for j := range params {
			params[j] = element(int64(rng.IntN(3)))
		}
		var gate *Gate
		if g := rng.IntN(len(a.Gates) + 1); g < len(a.Gates) {
			gate = a.Gates[g]
			// c0 is what is left of the term where it is 0.
			row := reader{Circuit: &Circuit{
				kinds: []fixed{{params: params}}, rows: []Kind{0, 0}, free: make([][]fr.Element, len(a.Columns)),
			}}
			for j := range row.free {
				row.free[j] = []fr.Element{cells[i][j], cells[i+1][j]}
			}
			row.free[0][0].SetZero()
			cells[i][0] = row.evaluate(compile(gate.Terms[0].Zero))
		}
		kinds[i] = b.Kind(gate, params...)
		for l := range a.Lookups {
			if rng.IntN(2) == 0 {
				kinds[i] = b.LookUp(kinds[i], l, below3)
			}
		}
	}
	// A public value on which nothing depends is refused.
	isRead := slices.ContainsFunc(b.arith.readers()[variable{cell, a.Permuted - 1}], func(p *part) bool {
		return p.depends(&b.kinds[kinds[0]], 0, map[[2]int]bool{{a.Permuted - 1, 0}: true})
	})
	for i, k := range append(kinds, 0) {
		var vars []Var
		for j := range a.Permuted {
			vars = append(vars, b.Var(cells[i][j]))
		}
		if i == 0 && isRead {
			b.Equal(vars[a.Permuted-1], b.Public(cells[0][a.Permuted-1]))
		}
		b.Row(k, vars, cells[i][a.Permuted:]...)
	}
	return must.Get(b.Build())(t)
}

// TestRandomArithmetizations: whatever an arithmetization is, a circuit of it is proved, and what Check refuses, with one
// cell changed, both verifiers do.
func TestRandomArithmetizations(t *testing.T) {
	tried, refused := 0, 0
	for seed := range uint64(testsize.Pick(20, 100, 1000)) {
		rng := rand.New(rand.NewPCG(seed, 99))
		c := randomCircuit(t, randomArithmetization(rng), rng)
		must.Do(t, c.Check(), fmt.Sprint("seed ", seed))
		s := statement{ProvingKey: setup(t, c), Circuit: c, public: c.Public()}
		proof := must.Get(s.Prove(t.Context(), executor.Serial(), c, Options{Context: bound}))(t)
		must.Do(t, agree(t, s.Verifying(), proof, s.public, bound), fmt.Sprint("seed ", seed))
		for range 3 {
			row, column := c.public+rng.IntN(len(c.rows)-c.public), rng.IntN(len(c.arith.Columns))
			changed := c.withValues(func(c *Circuit) {
				e := c.cell(column, row)
				c.setCell(column, row, *e.Add(&e, ptr(element(100))))
			})
			want, got := changed.Check(), agree(t, s.Verifying(), forge(t, &s, changed, nil), s.public, bound)
			if (want == nil) != (got == nil) {
				t.Errorf("seed %d, row %d, column %d: Check: %v, Verify: %v", seed, row, column, want, got)
			}
			if tried++; want != nil {
				refused++
				must.Fail(t, got, zkbench.ErrProof, "seed %d", seed)
			}
		}
	}
	if refused < tried/4 {
		t.Errorf("%d of %d changes are refused: nothing was tried", refused, tried)
	}
}
