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
	"github.com/zkbench/zkbench/internal/testing/must"
)

// forge solves H(first, 2) = last with some hints replaced.
func forge(t *testing.T, form Form, first, last fr.Element, opts ...solver.Option) error {
	t.Helper()
	circuit := must.Get(New(form, 1))(t)
	system := circuittest.Compile(t, scs.NewBuilder[constraint.U64], circuit)
	w := circuittest.Witness(t, &Circuit{First: first, Others: []frontend.Variable{2}, Last: last})
	return system.IsSolved(w, append([]solver.Option{solver.WithHints(Hints()...)}, opts...)...)
}

// TestNotCanonical: a prover who decomposes first + r, the same element, gets another hash: of
// Barretenberg's curve, whose order is above r, and of the halves. No limb that he names helps.
// TestConstraints has what does, where a statement is left out.
func TestNotCanonical(t *testing.T) {
	first, second := fr.NewElement(11), fr.NewElement(2)
	x, more := big.NewInt(11), new(big.Int).Add(big.NewInt(11), fr.Modulus())
	for _, form := range Forms() {
		if form == Tables && testing.Short() {
			continue
		}
		honest := form.hash(&first, &second)
		must.Do(t, forge(t, form, first, honest), form, "the honest prover")
		// The hash of first + r, as the native sum would have it.
		last := hashOfInteger(t, form, more)
		if last.Equal(&honest) {
			t.Errorf("%s: 11 and 11 + r have one hash", form)
		}
		c := cuts()[form]
		digits, limbs := c.digitsOf(more, x, nil, nil), (fr.Bits+c.limb-1)/c.limb
		for named := range limbs {
			name := circuittest.Change(gate.FirstDifference, func(in, out []*big.Int) {
				if in[1+len(out)].Cmp(big.NewInt(2)) != 0 { // the limbs are not those of the other input
					for i := range out {
						out[i].SetInt64(int64(max(0, 1-max(i-named, named-i))))
					}
				}
			})
			must.Fail(t, forge(t, form, first, last, digits, name), must.ErrAny, "%s: the digits of 11 + r for 11, limb %d named", form, named)
		}
		must.Fail(t, forge(t, form, first, last, digits), must.ErrAny, "%s: the digits of 11 + r for 11", form)
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
