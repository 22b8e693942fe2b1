package pedersen

import (
	"maps"
	"math/big"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark/constraint/solver"
	"github.com/consensys/gnark/frontend"

	"github.com/zkbench/zkbench/circuits/internal/circuittest"
	"github.com/zkbench/zkbench/circuits/internal/gate"
	"github.com/zkbench/zkbench/hash/pedersen"
	"github.com/zkbench/zkbench/internal/testing/forgery"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// cut is how a form cuts a scalar into digits.
type cut struct {
	hint    solver.Hint // of the digits
	outputs int         // of the hint, for a whole scalar
	limb    int         // bits of a limb that AssertBelow compares
	path    string      // of the statements
}

func cuts() map[Form]cut {
	return map[Form]cut{
		Edwards:  {gate.Bits, 2 * pedersen.HalfBits, edwardsWidth * edwardsLimb, "hashEdwards/"},
		Grumpkin: {SignedDigits, 3 * pedersen.Windows(plainWidth), plainWidth * plainLimb, "hashGrumpkin/"},
		Tables:   {Digits, pedersen.Windows(tableWidth), tableWidth * tableLimb, "hash/"},
	}
}

// digitsOf has the prover cut y for the input x, and change what comes of it. Other calls of the hint
// are left to others; nil: to the hint.
func (c cut) digitsOf(y, x *big.Int, change func(out []*big.Int), others solver.Hint) circuittest.Option {
	if others == nil {
		others = c.hint
	}
	return solver.OverrideHint(solver.GetHintID(c.hint), func(q *big.Int, in, out []*big.Int) error {
		if len(out) != c.outputs || in[0].Cmp(x) != 0 {
			return others(q, in, out)
		}
		if err := c.hint(q, []*big.Int{y}, out); err != nil {
			return err
		}
		if change != nil {
			change(out)
		}
		for _, v := range out {
			v.Mod(v, q)
		}
		return nil
	})
}

// assignment is of H(x, 2), the result left open.
func assignment(x *big.Int) frontend.Circuit {
	return &Circuit{First: x, Others: []frontend.Variable{2}, Last: 0}
}

// forgeries are those of what all forms state: the hash of x by the digits of x + r, which are the
// same element, and of x by those of another element.
func (c cut) forgeries(form Form) map[string]circuittest.Forgery {
	r := fr.Modulus()
	lowest := new(big.Int).Mod(r, new(big.Int).Lsh(big.NewInt(1), uint(c.limb))) // r's limb
	few := big.NewInt(5)
	// x + r has a lowest limb of zero, and one more in the next.
	carrying := new(big.Int).Lsh(big.NewInt(1), uint(c.limb))
	carrying.Sub(carrying, lowest)
	// plusR is a prover who cuts x + r and names limbs.
	plusR := func(x *big.Int, named []int64, more ...circuittest.Option) circuittest.Forgery {
		opts := append(more, c.digitsOf(new(big.Int).Add(x, r), x, nil, nil))
		if named != nil {
			opts = append(opts, circuittest.Change(gate.FirstDifference, func(in, out []*big.Int) {
				limb := in[1+len(out)]
				if limb.Cmp(new(big.Int).Mod(new(big.Int).Add(x, r), new(big.Int).Lsh(big.NewInt(1), uint(c.limb)))) != 0 {
					return // of the other input
				}
				for i := range out {
					if out[i].SetInt64(0); i < len(named) {
						out[i].SetInt64(named[i])
					}
				}
			}))
		}
		return circuittest.Forgery{Assignment: assignment(x), Options: opts}
	}
	nothing := circuittest.Change(circuittest.Free, func(_, out []*big.Int) { out[0].SetUint64(0) })
	below := c.path + "assertScalar/AssertBelow/"
	out := map[string]circuittest.Forgery{
		"Define/equal":                {Assignment: assignment(few)},
		c.path + "assertScalar/equal": {Assignment: assignment(few), Options: []circuittest.Option{c.digitsOf(big.NewInt(77), few, nil, nil)}},
		below + "boolean":             plusR(few, []int64{-1, 2}), // the gap is -(-6) + 2(-1) = 4
		below + "equal":               plusR(few, []int64{0}),
		// A limb is named that is less, below one that is more.
		below + "AssertProductZero/equal":   plusR(carrying, []int64{1}),
		below + "AssertProductZero/product": plusR(carrying, []int64{1}, nothing),
		below + "MulOffset/gate":            plusR(carrying, nil, nothing),
	}
	if form == Tables {
		out[below+"hash/equal"] = plusR(few, nil)
		out[below+"limbs/product"] = plusR(few, nil, c.gapProduct())
		out[below+"MulOffset/product"] = plusR(carrying, nil, nothing)
		return out
	}
	out[below+"MulOffset/product"] = plusR(few, nil, nothing)
	for name, low := range map[string]func(gap *big.Int) *big.Int{
		"boolean": func(gap *big.Int) *big.Int { return gap },
		"equal":   func(*big.Int) *big.Int { return new(big.Int) },
	} {
		bits := c.gapBits(low)
		if form == Edwards { // whose digits are of the same hint
			out[below+"AssertBits/"+name] = circuittest.Forgery{Assignment: assignment(few), Options: []circuittest.Option{c.digitsOf(new(big.Int).Add(few, r), few, nil, bits)}}
			continue
		}
		out[below+"AssertBits/"+name] = plusR(few, nil, solver.OverrideHint(solver.GetHintID(gate.Bits), bits))
	}
	// The first digits are none, and make the same sum as those of x.
	first := func(x int64, digits ...*big.Int) circuittest.Forgery {
		v := big.NewInt(x)
		return circuittest.Forgery{Assignment: assignment(v), Options: []circuittest.Option{c.digitsOf(v, v, func(out []*big.Int) {
			for i, d := range digits {
				out[i].Set(d)
			}
		}, nil)}}
	}
	zero, one, two, three := new(big.Int), big.NewInt(1), big.NewInt(2), big.NewInt(3)
	if form == Edwards {
		out[below+"MulOffset/product 2"] = plusR(carrying, nil, nothing)
		out["hashEdwards/boolean"] = first(1, big.NewInt(-1), one)
		return out
	}
	out["hashGrumpkin/signedWindow/AssertSign/equal"] = first(5, three, zero, zero)
	out["hashGrumpkin/signedWindow/boolean"] = first(6, one, two, zero)
	out["hashGrumpkin/signedWindow/boolean 2"] = first(5, one, zero, new(big.Int).ModInverse(two, r))
	return out
}

// gapBits gives a gap that is out of range bits that are none: the lowest is low of it.
func (c cut) gapBits(low func(gap *big.Int) *big.Int) solver.Hint {
	return func(q *big.Int, in, out []*big.Int) error {
		if len(out) != c.limb || in[0].BitLen() <= c.limb {
			return gate.Bits(q, in, out)
		}
		for _, v := range out {
			v.SetUint64(0)
		}
		out[0].Set(low(in[0]))
		return nil
	}
}

// gapProduct has the second digit of a gap of -6 make up for those that a gap has no place for.
func (c cut) gapProduct() circuittest.Option {
	gap := new(big.Int).Sub(fr.Modulus(), big.NewInt(6))
	low := new(big.Int).Mod(gap, new(big.Int).Lsh(big.NewInt(1), uint(c.limb)))
	second := new(big.Int).Rsh(low, tableWidth)
	second.Mod(second, big.NewInt(entries)).Lsh(second, tableWidth)
	return circuittest.Change(circuittest.Free, func(in, out []*big.Int) {
		if in[0].Cmp(second) == 0 {
			out[0].Add(out[0], gap).Sub(out[0], low)
		}
	})
}

// matrix is that of a form, without the statements of other forms.
func matrix(t *testing.T, form Form, builders ...string) *circuittest.Matrix {
	t.Helper()
	m := &circuittest.Matrix{
		Name: string(form), Circuit: &Circuit{form: form, Others: make([]frontend.Variable, 1)}, Hints: Hints(), Builders: builders,
		Forgeries: cuts()[form].forgeries(form), Output: "Define/equal",
		WithResult: func(a frontend.Circuit, result []*big.Int) frontend.Circuit {
			c := *a.(*Circuit)
			c.Last = result[0]
			return &c
		},
	}
	// Its limbs are those of r but for the lowest.
	var first, second fr.Element
	first.SetInt64(-2)
	second.SetInt64(2)
	m.Honest = &Circuit{First: first, Others: []frontend.Variable{second}, Last: form.hash(&first, &second)}
	return m
}

// TestConstraints holds each statement of the circuits by a forgery, and of those with tables each
// look-up and each value that the challenges depend on.
func TestConstraints(t *testing.T) {
	testsize.Full(t) // for the circuits with tables
	all := append(matrix(t, Edwards).Constraints(t), matrix(t, Grumpkin).Constraints(t)...)
	tables := matrix(t, Tables, "scs")
	maps.Copy(tables.Forgeries, lookupForgeries())
	all = append(append(all, tables.Constraints(t)...), droppings(t)...)
	open, whole := tables.Open(t, "scs"), circuittest.Compile(t, circuittest.Builders()["scs"], tables.Circuit)
	for _, l := range learners() {
		all = append(all, forgery.Constraint{Name: "tables: prove/" + l.name, Planted: func(leftOut bool) error { return l.planted(t, open, whole, leftOut) }})
	}
	forgery.Check(t, "circuits/pedersen", all)
}
