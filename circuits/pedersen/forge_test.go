package pedersen

import (
	"math/big"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254/twistededwards"
	"github.com/consensys/gnark/constraint"
	"github.com/consensys/gnark/constraint/solver"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/scs"

	"github.com/zkbench/zkbench/circuits/internal/circuittest"
	"github.com/zkbench/zkbench/circuits/internal/gate"
	"github.com/zkbench/zkbench/hash/pedersen"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/internal/testsize"
)

// forge solves H(first, 2) = last with some hints replaced.
func forge(t *testing.T, form Form, first, last fr.Element, opts ...solver.Option) error {
	t.Helper()
	circuit := must.Get(New(form, 1))(t)
	system := circuittest.Compile(t, scs.NewBuilder[constraint.U64], circuit)
	w := circuittest.Witness(t, &Circuit{First: first, Others: []frontend.Variable{2}, Last: last})
	return system.IsSolved(w, append([]solver.Option{solver.WithHints(Hints()...)}, opts...)...)
}

// TestNotCanonical: a prover who decomposes first + r, the same element, gets another
// hash: of Barretenberg's curve, whose order is above r, and of the halves.
func TestNotCanonical(t *testing.T) {
	first, second := fr.NewElement(11), fr.NewElement(2)
	more := func(hint solver.Hint, outputs int) solver.Option {
		return solver.OverrideHint(solver.GetHintID(hint), func(q *big.Int, in, out []*big.Int) error {
			if len(out) == outputs && in[0].Cmp(big.NewInt(11)) == 0 {
				in = []*big.Int{new(big.Int).Add(in[0], q)}
			}
			return hint(q, in, out)
		})
	}
	for _, test := range []struct {
		form Form
		opt  solver.Option
	}{
		{Edwards, more(gate.Bits, 254)},
		{Grumpkin, more(SignedDigits, 255)},
		{Tables, more(Digits, pedersen.Windows(tableWidth))},
	} {
		if test.form == Tables && testing.Short() {
			continue
		}
		honest := test.form.hash(&first, &second)
		must.Do(t, forge(t, test.form, first, honest), test.form, "the honest prover")
		// The hash of first + r, as the native sum would have it.
		last := hashOfInteger(t, test.form, new(big.Int).Add(big.NewInt(11), fr.Modulus()))
		if last.Equal(&honest) {
			t.Errorf("%s: 11 and 11 + r have one hash", test.form)
		}
		must.Fail(t, forge(t, test.form, first, last, test.opt), must.ErrAny, "%s: the digits of 11 + r for 11", test.form)
	}
}

// TestDigitsStayInTheirTable: a digit that is too large, with the next one less, has the
// same sum, and is a row of no table.
func TestDigitsStayInTheirTable(t *testing.T) {
	testsize.Full(t)
	first, second := fr.NewElement(5+128*7), fr.NewElement(2)
	carried := solver.OverrideHint(solver.GetHintID(Digits), func(q *big.Int, in, out []*big.Int) error {
		if err := Digits(q, in, out); err != nil {
			return err
		}
		if len(out) == pedersen.Windows(tableWidth) && out[0].Int64() == 5 {
			out[0].SetInt64(5 + entries)
			out[1].SetInt64(6)
		}
		return nil
	})
	// For a digit that is too large: the point that would make the sum right, or the row
	// of the next table that the digit would reach.
	for _, next := range []bool{false, true} {
		points := solver.OverrideHint(solver.GetHintID(Points), func(q *big.Int, in, out []*big.Int) error {
			for j := range in[1:] {
				e, window := in[1+j].Int64(), j
				if e >= entries && next {
					e, window = e-entries, j+1
				}
				p := pedersen.Half(int(in[0].Int64()))
				p.ScalarMultiplication(&p, new(big.Int).Lsh(big.NewInt(2*e-(entries-1)), uint(tableWidth*window)))
				p.X.BigInt(out[2*j])
				p.Y.BigInt(out[2*j+1])
			}
			return nil
		})
		counts := solver.OverrideHint(solver.GetHintID(Multiplicities), func(q *big.Int, in, out []*big.Int) error {
			if err := Multiplicities(q, in, out); err != nil {
				return err
			}
			if next {
				out[entries+5].Add(out[entries+5], big.NewInt(1))
			}
			return nil
		})
		// What the sum comes to: the digit 133 is worth 2·133 - 127, or (2·5 - 127)·128.
		twice := big.NewInt(2 * (5 + 128*7))
		if next {
			twice.Add(twice, big.NewInt((2*5-127)*128-(2*133-127)))
		}
		last := grumpkinOfHalves(twice)
		if honest := Tables.hash(&first, &second); last.Equal(&honest) == next {
			t.Fatal("the test's own sum is wrong")
		}
		must.Fail(t, forge(t, Tables, first, last, carried, points, counts), must.ErrAny, "a digit of table 0 reaches into table 1 (next table's point: %v)", next)
	}
}

// hashOfInteger is H(x, 2) for an integer x that need not be below r.
func hashOfInteger(t *testing.T, form Form, x *big.Int) fr.Element {
	t.Helper()
	if form == Edwards {
		var sum twistededwards.PointAffine
		sum.Y.SetOne()
		low := new(big.Int).And(x, new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), pedersen.HalfBits), big.NewInt(1)))
		for i, e := range []*big.Int{low, new(big.Int).Rsh(x, pedersen.HalfBits), big.NewInt(2)} {
			p := pedersen.EdwardsGenerator(i)
			p.ScalarMultiplication(&p, e)
			sum.Add(&sum, &p)
		}
		return sum.X
	}
	return grumpkinOfHalves(new(big.Int).Lsh(x, 1))
}

// grumpkinOfHalves is H(twice/2, 2) on Grumpkin.
func grumpkinOfHalves(twice *big.Int) fr.Element {
	p := pedersen.Half(0)
	p.ScalarMultiplication(&p, twice)
	second := pedersen.Half(1)
	second.ScalarMultiplication(&second, big.NewInt(4))
	p.Add(&p, &second)
	offset := pedersen.Offset()
	p.Add(&p, &offset)
	return fr.Element(p.X)
}
