package pairing

import (
	"errors"
	"fmt"
	"math/big"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fp"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark/constraint/solver"
	"github.com/consensys/gnark/frontend"

	"github.com/zkbench/zkbench/circuits/internal/circuittest"
	"github.com/zkbench/zkbench/internal/testing/forgery"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// evaluated evaluates a circuit on a plain tower, with values in place of wires. What it asserts is
// that which circuits on other arithmetic assert, with what these do to compare two elements left to
// them: package bigint's is held there, and gnark's by gnark.
type evaluated struct {
	nativeField
	switches *circuittest.Switches
	api      *valuesAPI
}

func (e *evaluated) field(frontend.API) (baseField[*big.Int], error) { return e, nil }

func (e *evaluated) read(_ baseField[*big.Int], in *frontend.Variable) *big.Int { return valueOf(*in) }

func (e *evaluated) err(baseField[*big.Int]) error {
	if e.unassigned || e.free || e.api.failed {
		return fmt.Errorf("unassigned %v, free %v, bits refused %v", e.unassigned, e.free, e.api.failed)
	}
	return nil
}

func (e *evaluated) value(v *fp.Element) frontend.Variable { return bigOf(v) }

func (e *evaluated) AssertEqual(a, b *big.Int) {
	if e.switches.Mode("equal", false) != circuittest.LeftOut {
		e.nativeField.AssertEqual(a, b)
	}
}

// Select is linear in the bit, as circuits have it.
func (e *evaluated) Select(bit frontend.Variable, a, b *big.Int) *big.Int {
	v := new(big.Int).Sub(a, b)
	return e.reduce(v.Mul(v, valueOf(bit)).Add(v, b))
}

func valueOf(v frontend.Variable) *big.Int {
	switch v := v.(type) {
	case *big.Int:
		return v
	case int:
		return big.NewInt(int64(v))
	case fr.Element:
		return v.BigInt(new(big.Int))
	}
	panic(fmt.Sprintf("a value of type %T", v))
}

// valuesAPI is what circuits on a plain tower call of gnark's API, to cut their secrets into bits, on
// values.
type valuesAPI struct {
	frontend.API
	switches *circuittest.Switches
	bits     solver.Hint // in place of the hint; nil: the hint
	failed   bool
}

func (v *valuesAPI) sum(terms ...*big.Int) *big.Int {
	s := new(big.Int)
	for _, t := range terms {
		s.Add(s, t)
	}
	return s.Mod(s, fr.Modulus())
}

func (v *valuesAPI) Add(a, b frontend.Variable, more ...frontend.Variable) frontend.Variable {
	s := v.sum(valueOf(a), valueOf(b))
	for _, m := range more {
		s = v.sum(s, valueOf(m))
	}
	return s
}

func (v *valuesAPI) Mul(a, b frontend.Variable, _ ...frontend.Variable) frontend.Variable {
	return v.sum(new(big.Int).Mul(valueOf(a), valueOf(b)))
}

func (v *valuesAPI) AssertIsEqual(a, b frontend.Variable) {
	if v.switches.Mode("equal", false) != circuittest.LeftOut && valueOf(a).Cmp(valueOf(b)) != 0 {
		v.failed = true
	}
}

func (v *valuesAPI) AssertIsBoolean(a frontend.Variable) {
	if v.switches.Mode("boolean", false) != circuittest.LeftOut && valueOf(a).BitLen() > 1 {
		v.failed = true
	}
}

func (v *valuesAPI) Compiler() frontend.Compiler { return valuesCompiler{api: v} }

// valuesCompiler runs hints.
type valuesCompiler struct {
	frontend.Compiler
	api *valuesAPI
}

func (valuesCompiler) FieldBitLen() int { return fr.Bits }

func (c valuesCompiler) NewHint(h solver.Hint, n int, inputs ...frontend.Variable) (out []frontend.Variable, err error) {
	in, values := make([]*big.Int, len(inputs)), make([]*big.Int, n)
	for i := range in {
		in[i] = valueOf(inputs[i])
	}
	for i := range values {
		values[i] = new(big.Int)
		out = append(out, values[i])
	}
	if c.api.bits != nil {
		h = c.api.bits
	}
	return out, h(fr.Modulus(), in, values)
}

// evaluate says why a relation does not hold of a statement with some of its statements left out, and
// what it states.
func evaluate(r Relation, s *Statement, bits solver.Hint, modes map[circuittest.Statement]circuittest.Mode) ([]circuittest.Statement, error) {
	switches := circuittest.NewSwitches(modes)
	api := &valuesAPI{switches: switches, bits: bits}
	e := &evaluated{switches: switches, api: api}
	var c frontend.Circuit
	switch r {
	case Tripartite:
		a := (&exchange[frontend.Variable, *big.Int]{arithmetic: e}).Assign(s).(*exchange[frontend.Variable, *big.Int])
		a.arithmetic, c = e, a
	case Pairing:
		a := (&single[frontend.Variable, *big.Int]{arithmetic: e}).Assign(s).(*single[frontend.Variable, *big.Int])
		a.arithmetic, c = e, a
	case Scalars:
		a := (&scalars[frontend.Variable, *big.Int]{arithmetic: e}).Assign(s).(*scalars[frontend.Variable, *big.Int])
		a.arithmetic, c = e, a
	default:
		return nil, errors.New("no relation on a plain tower")
	}
	err := c.Define(api)
	return switches.Statements(), err
}

// twisted1 is (ωx, y) for a cube root ω of one: a point of the curve with the same y.
func twisted1(p bn254.G1Affine) bn254.G1Affine {
	var omega fp.Element
	third := new(big.Int).Sub(fp.Modulus(), big.NewInt(1))
	third.Div(third, big.NewInt(3))
	for g := uint64(2); omega.IsZero() || omega.IsOne(); g++ {
		omega.SetUint64(g).Exp(omega, third)
	}
	p.X.Mul(&p.X, &omega)
	return p
}

func negated(p bn254.G1Affine) bn254.G1Affine {
	p.Neg(&p)
	return p
}

// TestConstraints holds each statement of the relations on a plain tower by a forgery: by keys and
// values that agree with all others.
func TestConstraints(t *testing.T) {
	// keys has all parties' points changed, and the key that they lead to.
	keys := func(change func(p bn254.G1Affine) bn254.G1Affine) func(s *Statement) {
		return func(s *Statement) {
			for i := range s.P {
				s.P[i] = change(s.P[i])
			}
			k, err := pairOf(change(s.Shifted), s.Q[2])
			must.Do(t, err)
			s.K = k
		}
	}
	const secret = 3
	// The bits are those of the secret; the input is another.
	bits := func(q *big.Int, in, out []*big.Int) error {
		v := in[0]
		if v.Cmp(big.NewInt(99)) == 0 {
			v = big.NewInt(secret)
		}
		for i := range out {
			out[i].SetUint64(uint64(v.Bit(i)))
		}
		return nil
	}
	type planted struct {
		change    func(s *Statement)
		redundant string
	}
	another := planted{change: func(s *Statement) { s.Secrets[0] = fr.NewElement(99) }}
	chosen := planted{redundant: "each bit chooses points, and the choice of gnark's API asserts that it is one"}
	forgeries := map[Relation]map[string]planted{
		Tripartite: {
			"assertKey/AssertBits/boolean":    chosen,
			"assertKey/AssertBits/equal":      another,
			"assertKey/assertEqualG1/equal":   {change: keys(twisted1)},
			"assertKey/assertEqualG1/equal 2": {change: keys(negated)},
			"assertEqual12/equal":             {change: func(s *Statement) { s.K.Mul(&s.K, &s.K) }},
		},
		Pairing: {"assertEqual12/equal": {change: func(s *Statement) { s.Pair = s.K }}},
		Scalars: {
			"assertKey/AssertBits/boolean":    chosen,
			"assertKey/AssertBits/equal":      another,
			"assertKey/assertEqualG1/equal":   {change: func(s *Statement) { s.P[0] = twisted1(s.P[0]) }},
			"assertKey/assertEqualG1/equal 2": {change: func(s *Statement) { s.P[0] = negated(s.P[0]) }},
			"assertEqualG1/equal":             {change: func(s *Statement) { s.Shifted = twisted1(s.Shifted) }},
			"assertEqualG1/equal 2":           {change: func(s *Statement) { s.Shifted = negated(s.Shifted) }},
		},
	}
	right := func() *Statement {
		return must.Get(NewStatement([Parties]fr.Element{fr.NewElement(secret), fr.NewElement(4), fr.NewElement(5)}))(t)
	}
	var all []forgery.Constraint
	for _, r := range []Relation{Tripartite, Pairing, Scalars} {
		statements, err := evaluate(r, right(), nil, nil)
		must.Do(t, err, r)
		for name := range forgeries[r] {
			found := false
			for _, s := range statements {
				found = found || s.Name == name
			}
			if !found {
				t.Errorf("%s: a forgery of %q, which the circuit does not state", r, name)
			}
		}
		for _, s := range statements {
			c := forgery.Constraint{Name: fmt.Sprintf("%s: %s", r, s.Name)}
			if f, found := forgeries[r][s.Name]; found {
				if c.Redundant = f.redundant; f.change != nil {
					c.Planted = func(leftOut bool) error {
						forged := right()
						f.change(forged)
						modes := map[circuittest.Statement]circuittest.Mode{}
						if leftOut {
							modes[s] = circuittest.LeftOut
						}
						_, err := evaluate(r, forged, bits, modes)
						return err
					}
				}
			}
			all = append(all, c)
		}
	}
	forgery.Check(t, "circuits/pairing", all)
}
