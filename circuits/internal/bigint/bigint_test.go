package bigint

import (
	"crypto/rand"
	"fmt"
	"math/big"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark/constraint/solver"
	"github.com/consensys/gnark/frontend"

	"github.com/zkbench/zkbench/circuits/internal/circuittest"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

var methods = map[string]Method{"schoolbook": Schoolbook, "crt": CRT}

type inputs = [Limbs]frontend.Variable

// calculation asserts that what do makes of A and B is Result.
type calculation struct {
	A, B   inputs
	Bit    frontend.Variable
	Result inputs `gnark:",public"`
	method Method
	do     func(f *Field, a, b *Int, bit frontend.Variable) *Int
}

func (c *calculation) Define(api frontend.API) error {
	f, err := New(api, ecc.BN254.BaseField(), c.method)
	if err != nil {
		return err
	}
	api.AssertIsBoolean(c.Bit)
	f.AssertEqual(c.do(f, f.FromLimbs(c.A), f.FromLimbs(c.B), c.Bit), f.FromLimbs(c.Result))
	return f.Err()
}

func assign(a, b, result *big.Int, bit int) *calculation {
	return &calculation{A: Split(a), B: Split(b), Bit: bit, Result: Split(result)}
}

var operations = []struct {
	name string
	do   func(f *Field, a, b *Int, bit frontend.Variable) *Int
	want func(p, a, b *big.Int) *big.Int // before it is reduced, with bit 1
}{
	{"add", func(f *Field, a, b *Int, _ frontend.Variable) *Int { return f.Add(a, b) }, func(_, a, b *big.Int) *big.Int { return new(big.Int).Add(a, b) }},
	{"sub", func(f *Field, a, b *Int, _ frontend.Variable) *Int { return f.Sub(a, b) }, func(_, a, b *big.Int) *big.Int { return new(big.Int).Sub(a, b) }},
	{"neg", func(f *Field, a, _ *Int, _ frontend.Variable) *Int { return f.Neg(a) }, func(_, a, _ *big.Int) *big.Int { return new(big.Int).Neg(a) }},
	{"mul", func(f *Field, a, b *Int, _ frontend.Variable) *Int { return f.Mul(a, b) }, func(_, a, b *big.Int) *big.Int { return new(big.Int).Mul(a, b) }},
	{"scale", func(f *Field, a, _ *Int, _ frontend.Variable) *Int { return f.Scale(a, 9) }, func(_, a, _ *big.Int) *big.Int { return new(big.Int).Mul(a, big.NewInt(9)) }},
	{"select", func(f *Field, a, b *Int, bit frontend.Variable) *Int {
		return f.Select(bit, a, b)
	}, func(_, a, _ *big.Int) *big.Int { return a }},
	{"div", func(f *Field, a, b *Int, _ frontend.Variable) *Int { return f.Div(a, b) }, func(p, a, b *big.Int) *big.Int {
		return new(big.Int).Mul(a, new(big.Int).ModInverse(b, p))
	}},
	// Additions until limbs are too wide, products of what was not reduced.
	{"lazy", func(f *Field, a, b *Int, _ frontend.Variable) *Int {
		for range 24 {
			a = f.Sub(f.Add(a, a), b)
		}
		return f.Mul(a, f.Div(f.Sub(b, a), a))
	}, func(_, a, b *big.Int) *big.Int {
		a = new(big.Int).Set(a)
		for range 24 {
			a.Lsh(a, 1).Sub(a, b)
		}
		return new(big.Int).Sub(b, a)
	}},
}

// TestOperations: each operation, by both methods and on both builders, of random values,
// of the edges and of integers that are not reduced; a wrong result is refused.
func TestOperations(t *testing.T) {
	t.Parallel()
	p := ecc.BN254.BaseField()
	top := new(big.Int).Sub(p, big.NewInt(1))
	open := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), 254), big.NewInt(1)) // all bits, above p
	random := must.Get(rand.Int(rand.Reader, p))(t)
	for name, method := range methods {
		for builder, b := range circuittest.Builders() {
			for _, op := range operations {
				t.Run(fmt.Sprintf("%s/%s/%s", name, builder, op.name), func(t *testing.T) {
					system := circuittest.Compile(t, b, &calculation{method: method, do: op.do})
					for _, v := range [][2]*big.Int{{random, top}, {top, top}, {open, open}, {big.NewInt(0), big.NewInt(1)}, {big.NewInt(1), random}, {top, big.NewInt(2)}} {
						want := op.want(p, v[0], v[1])
						want.Mod(new(big.Int).Set(want), p)
						must.Do(t, circuittest.Solves(t, system, assign(v[0], v[1], want, 1), Hints()), v)
						wrong := new(big.Int).Xor(want, big.NewInt(1))
						must.Fail(t, circuittest.Solves(t, system, assign(v[0], v[1], wrong, 1), Hints()), must.ErrAny, "a wrong result of %x", v)
					}
				})
			}
		}
	}
}

// TestNothingIsFree: of no operation.
func TestNothingIsFree(t *testing.T) {
	t.Parallel()
	p := ecc.BN254.BaseField()
	a, b := new(big.Int).Rsh(p, 3), new(big.Int).Sub(p, big.NewInt(5))
	for name, method := range methods {
		for _, op := range operations {
			t.Run(name+"/"+op.name, func(t *testing.T) {
				want := op.want(p, a, b)
				want.Mod(want, p)
				circuittest.NothingFree(t, &calculation{method: method, do: op.do}, assign(a, b, want, 1), Hints(), 1)
			})
		}
	}
}

// TestEitherHalfIsNeeded: a product c + m mod p, whose quotient makes both sides equal
// modulo m: the lower columns; the circuit's prime, by carries that are out of range; or
// both, by a quotient that is. With m = 0 it is the right one.
func TestEitherHalfIsNeeded(t *testing.T) {
	t.Parallel()
	p, r := ecc.BN254.BaseField(), ecc.BN254.ScalarField()
	columns := new(big.Int).Lsh(big.NewInt(1), Limbs*Width)
	a, b := new(big.Int).Rsh(p, 1), new(big.Int).Sub(p, big.NewInt(7))
	factor := Split(b)[0].(*big.Int)
	quotient, residue := new(big.Int).DivMod(new(big.Int).Mul(a, b), p, new(big.Int))
	for name, m := range map[string]*big.Int{"nothing": new(big.Int), "columns": columns, "native": r, "both": new(big.Int).Mul(columns, r)} {
		more, wrong := new(big.Int).DivMod(new(big.Int).Add(residue, m), p, new(big.Int))
		residues := func(calls *int) solver.Hint {
			return func(_ *big.Int, _, out []*big.Int) error {
				*calls++
				put(out, wrong)
				return nil
			}
		}
		quotients := func(calls *int) solver.Hint {
			return func(q *big.Int, in, out []*big.Int) error {
				if in[2*Limbs].Cmp(factor) != 0 { // the comparison of the result
					return Quotient(q, in, out)
				}
				*calls++
				k := in[len(in)-1] // times p, so that no quotient is negative
				put(out, new(big.Int).Add(k, new(big.Int).Add(quotient, more)))
				return nil
			}
		}
		for method, of := range methods {
			for builder, build := range circuittest.Builders() {
				system := circuittest.Compile(t, build, &calculation{method: of, do: operations[3].do})
				var r, q int
				err := system.IsSolved(circuittest.Witness(t, assign(a, b, wrong, 1)), solver.WithHints(Hints()...), solver.WithNbTasks(1),
					solver.OverrideHint(solver.GetHintID(Residue), residues(&r)), solver.OverrideHint(solver.GetHintID(Quotient), quotients(&q)))
				golden.Equal(t, fmt.Sprintf("%s on %s: a product with equal %s is taken (%v)", method, builder, name, err), name == "nothing", err == nil)
				golden.Equal(t, fmt.Sprintf("%s on %s: forged products and quotients", method, builder), [2]int{1, 1}, [2]int{r, q})
			}
		}
	}
}

// repeated multiplies n times.
type repeated struct {
	A      inputs
	method Method
	n      int
}

func (c *repeated) Define(api frontend.API) error {
	f, err := New(api, ecc.BN254.BaseField(), c.method)
	if err != nil {
		return err
	}
	a := f.FromLimbs(c.A)
	x := a
	for range c.n {
		x = f.Mul(x, a)
	}
	return f.Err()
}

// TestGates holds what a product costs. What is looked up costs less the more of it
// there is.
func TestGates(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name, builder string
		n, want       int
	}{
		{"schoolbook", "scs", 20, 1451},
		{"schoolbook", "r1cs", 20, 729},
		{"crt", "scs", 1000, 295},
		{"crt", "r1cs", 1000, 78},
	} {
		if test.n > 100 && testing.Short() {
			continue
		}
		count := func(n int) int {
			return circuittest.Compile(t, circuittest.Builders()[test.builder], &repeated{method: methods[test.name], n: n}).GetNbConstraints()
		}
		golden.Equal(t, fmt.Sprintf("%s on %s: constraints a product", test.name, test.builder), test.want, (count(2*test.n)-count(test.n))/test.n)
	}
}
