package pedersen

import (
	"errors"
	"fmt"
	"math/big"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/std/hash/mimc"

	"github.com/zkbench/zkbench/circuits/internal/gate"
	"github.com/zkbench/zkbench/hash/pedersen"
)

// The windows of the circuit with tables. A digit e below 2^7 is looked up as a whole.
const (
	tableWidth = 7
	tableLimb  = 6 // windows of a limb that is compared
	entries    = 1 << tableWidth
)

// lookups is a log-derivative argument (2022/1530). There is a table of points for each scalar and window,
// and a table of plain digits. The queries (table, e, x, y) are rows of the tables, with multiplicities m,
// exactly if
//
//	Σ_rows m/(β - row) = Σ_queries 1/(β - query),  (t, e, x, y) = e + γx + γ²y + γ³t,
//
// for β and γ drawn after all of these are fixed. The table's number is a term of its own, so a digit that is
// too large does not reach into the next table.
type lookups struct {
	tables  [][]row
	queries []query
	fixed   []frontend.Variable // what the challenge must follow
	digits  []frontend.Variable // by query, for the multiplicities
}

// row is a table's row; its index is the digit. If y is nil, it is a row of plain digits.
type row struct{ x, y *big.Int }

type query struct {
	table   int
	e, x, y frontend.Variable // x, y nil: a plain digit
}

// lookUp adds a query. x and y are nil for tables of plain digits.
func (l *lookups) lookUp(table int, e, x, y frontend.Variable) {
	l.queries = append(l.queries, query{table, e, x, y})
	l.fixed = append(l.fixed, e)
	l.digits = append(l.digits, e)
	if x != nil {
		l.fixed = append(l.fixed, x, y)
	}
}

// prove adds the argument to the circuit.
func (l *lookups) prove(api frontend.API) error {
	committer, ok := api.(frontend.Committer)
	if !ok {
		return errors.New("lookups need a constraint system with commitments")
	}
	inputs := []frontend.Variable{len(l.tables)}
	total := 0
	for _, t := range l.tables {
		inputs = append(inputs, len(t))
		total += len(t)
	}
	for i, q := range l.queries {
		inputs = append(inputs, q.table, l.digits[i])
	}
	m, err := api.Compiler().NewHint(Multiplicities, total, inputs...)
	if err != nil {
		return err
	}
	beta, err := committer.Commit(append(l.fixed, m...)...)
	if err != nil {
		return err
	}
	hash, err := mimc.NewMiMC(api)
	if err != nil {
		return err
	}
	hash.Write(beta)
	gamma := hash.Sum()
	gamma2 := api.Mul(gamma, gamma)
	gamma3 := api.Mul(gamma2, gamma)

	// β - γ³t, for each table t.
	shifted := make([]frontend.Variable, len(l.tables))
	for t := range shifted {
		shifted[t] = api.Sub(beta, api.Mul(gamma3, t+1))
	}
	var sum frontend.Variable = 0
	for _, q := range l.queries {
		den := api.Sub(shifted[q.table], q.e)
		if q.x != nil {
			den = api.Sub(den, api.Mul(gamma, q.x), api.Mul(gamma2, q.y))
		}
		sum = api.Sub(sum, api.Inverse(den))
	}
	next := 0
	for t, rows := range l.tables {
		for e, r := range rows {
			den := api.Add(shifted[t], -e)
			if r.y != nil {
				den = api.Sub(api.Sub(shifted[t], api.Mul(gamma, r.x), e), api.Mul(gamma2, r.y))
			}
			sum = api.Add(sum, api.DivUnchecked(m[next], den))
			next++
		}
	}
	api.AssertIsEqual(sum, 0)
	return nil
}

// Multiplicities computes a hint for the form Tables: how often each row of the lookup tables is looked up.
// The hint's inputs are the number of tables, the tables' lengths, and the table and digit of each query. A
// digit that is too large for its table has no row there. The hint does not count such a digit, so the lookup
// argument fails.
func Multiplicities(_ *big.Int, inputs, outputs []*big.Int) error {
	n := int(inputs[0].Int64())
	starts := make([]int, n+1)
	for t := range n {
		starts[t+1] = starts[t] + int(inputs[1+t].Int64())
	}
	if starts[n] != len(outputs) {
		return fmt.Errorf("%d multiplicities of %d rows", len(outputs), starts[n])
	}
	counts := make([]int64, len(outputs))
	for q := inputs[1+n:]; len(q) > 1; q = q[2:] {
		t := int(q[0].Int64())
		if e := q[1]; e.IsInt64() && e.Int64() < int64(starts[t+1]-starts[t]) {
			counts[starts[t]+int(e.Int64())]++
		}
	}
	for i, c := range counts {
		outputs[i].SetInt64(c)
	}
	return nil
}

// tabled computes hashes with the tables of one circuit.
type tabled struct {
	lookups
	first point
}

func newTabled() *tabled {
	n := pedersen.Windows(tableWidth)
	first := pedersen.Start(tableWidth)
	t := &tabled{first: constant(&first)}
	for i := range pedersen.Inputs {
		for j := range n {
			t.tables = append(t.tables, tableOf(i, j))
		}
	}
	t.tables = append(t.tables, make([]row, entries)) // plain digits
	return t
}

// tableOf returns the table of a scalar's window. The row of digit e is d = 2e - 127 times the window's
// point.
func tableOf(scalar, window int) []row {
	odd := pedersen.OddMultiples(scalar, tableWidth, window, entries/2)
	rows := make([]row, entries)
	for k := range odd { // d = ±(2k + 1)
		x, y := odd[k].X.BigInt(new(big.Int)), odd[k].Y.BigInt(new(big.Int))
		rows[entries/2+k] = row{x, y}
		rows[entries/2-1-k] = row{x, new(big.Int).Sub(fr.Modulus(), y)}
	}
	return rows
}

// hash computes Barretenberg's pedersen_hash of two elements.
func (t *tabled) hash(api frontend.API, inputs [pedersen.Inputs]frontend.Variable) (frontend.Variable, error) {
	n := pedersen.Windows(tableWidth)
	sum := t.first
	for i, v := range inputs {
		digits, err := api.Compiler().NewHint(Digits, n, v)
		if err != nil {
			return nil, err
		}
		points, err := api.Compiler().NewHint(Points, 2*n, append([]frontend.Variable{i}, digits...)...)
		if err != nil {
			return nil, err
		}
		for j, e := range digits {
			x, y := points[2*j], points[2*j+1]
			t.lookUp(i*n+j, e, x, y)
			sum = sum.add(api, gate.Offset{V: x, K: new(big.Int)}, y)
		}
		err = assertScalar(api, v, limbs(api, digits, tableWidth, tableLimb), tableWidth*tableLimb, func(gap frontend.Variable) error {
			parts, err := api.Compiler().NewHint(Digits, tableLimb, gap)
			if err != nil {
				return err
			}
			for _, e := range parts {
				t.lookUp(len(t.tables)-1, e, nil, nil)
			}
			api.AssertIsEqual(limbs(api, parts, tableWidth, tableLimb)[0], gap)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return sum.x, nil
}

// limbs combines n digits of width bits in each limb.
func limbs(api frontend.API, digits []frontend.Variable, width, n int) (limbs []frontend.Variable) {
	for j, e := range digits {
		if j%n == 0 {
			limbs = append(limbs, e)
			continue
		}
		weight := new(big.Int).Lsh(big.NewInt(1), uint(width*(j%n)))
		limbs[len(limbs)-1] = api.Add(limbs[len(limbs)-1], api.Mul(e, weight))
	}
	return limbs
}

// Digits computes a hint for the form Tables: the seven-bit digits of a number, the lowest first.
func Digits(_ *big.Int, inputs, outputs []*big.Int) error {
	mask := big.NewInt(entries - 1)
	for j := range outputs {
		outputs[j].Rsh(inputs[0], uint(tableWidth*j)).And(outputs[j], mask)
	}
	return nil
}

// Points computes a hint for the form Tables: for each digit of a scalar, the point that a lookup table
// contains for this digit. The hint's inputs are the index of the scalar and its digits.
func Points(_ *big.Int, inputs, outputs []*big.Int) error {
	i := int(inputs[0].Int64())
	for j, e := range inputs[1:] {
		if !e.IsInt64() || e.Int64() >= entries {
			return fmt.Errorf("digit %d of %d bits", j, e.BitLen())
		}
		d := 2*e.Int64() - (entries - 1)
		p := pedersen.Half(i)
		shift := new(big.Int).Lsh(big.NewInt(d), uint(tableWidth*j))
		p.ScalarMultiplication(&p, shift)
		p.X.BigInt(outputs[2*j])
		p.Y.BigInt(outputs[2*j+1])
	}
	return nil
}
