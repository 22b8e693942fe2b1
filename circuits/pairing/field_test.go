package pairing

import (
	"errors"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fp"
	"github.com/consensys/gnark/frontend"

	"github.com/zkbench/zkbench/circuits/internal/bigint"
	"github.com/zkbench/zkbench/circuits/internal/circuittest"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// nativeField computes, and counts what it computes. unassigned tells that a circuit
// would have no assignment, free that a prover would have a choice.
type nativeField struct {
	mul, div, add, sel int
	unassigned, free   bool
}

func (f *nativeField) reduce(v *big.Int) *big.Int { return v.Mod(v, fp.Modulus()) }

func (f *nativeField) Constant(v *big.Int) *big.Int { return new(big.Int).Set(v) }

func (f *nativeField) Add(a, b *big.Int) *big.Int {
	f.add++
	return f.reduce(new(big.Int).Add(a, b))
}

func (f *nativeField) Sub(a, b *big.Int) *big.Int {
	f.add++
	return f.reduce(new(big.Int).Sub(a, b))
}

func (f *nativeField) Neg(a *big.Int) *big.Int {
	f.add++
	return f.reduce(new(big.Int).Neg(a))
}

func (f *nativeField) Mul(a, b *big.Int) *big.Int {
	f.mul++
	return f.reduce(new(big.Int).Mul(a, b))
}

func (f *nativeField) Scale(a *big.Int, c int64) *big.Int {
	return f.reduce(new(big.Int).Mul(a, big.NewInt(c)))
}

func (f *nativeField) Div(a, b *big.Int) *big.Int {
	f.div++
	if b.Sign() == 0 {
		f.free = f.free || a.Sign() == 0
		f.unassigned = f.unassigned || a.Sign() != 0
		return big.NewInt(0x7a6b)
	}
	inverse := new(big.Int).ModInverse(b, fp.Modulus())
	return f.reduce(inverse.Mul(inverse, a))
}

func (f *nativeField) Select(bit frontend.Variable, a, b *big.Int) *big.Int {
	f.sel++
	if bit == 1 {
		return a
	}
	return b
}

func (f *nativeField) AssertEqual(a, b *big.Int) { f.unassigned = f.unassigned || a.Cmp(b) != 0 }

// outcome holds what became of a computation: that it has an assignment or none, and that it
// never leaves a prover a choice.
func (f *nativeField) outcome(t golden.TB, what string, unassigned bool) {
	t.Helper()
	golden.Equal(t, what+": unassigned, free", [2]bool{unassigned, false}, [2]bool{f.unassigned, f.free})
}

// native returns a tower that computes.
func native() (*tower[*big.Int], *nativeField) {
	f := new(nativeField)
	return newTower[*big.Int](f), f
}

// gadget is a part of the tower: a function of base elements and bits.
type gadget[E any] func(t *tower[E], in []E, bits []frontend.Variable) ([]E, error)

func e2Of[E any](in []E) e2[E] { return e2[E]{in[0], in[1]} }

func g1Of[E any](in []E) g1[E] { return g1[E]{in[0], in[1]} }

func e12Of[E any](in []E) e12[E] { return fromCoefficients([12]E(in)) }

func list[E any](a e12[E]) []E {
	c := a.coefficients()
	return c[:]
}

// gadgetTable is those that are tried as circuits.
func gadgetTable[E any]() map[string]gadget[E] {
	return map[string]gadget[E]{
		"mul12": func(t *tower[E], in []E, _ []frontend.Variable) ([]E, error) {
			return list(t.mul12(e12Of(in[:12]), e12Of(in[12:24]))), nil
		},
		"twiceLine12": func(t *tower[E], in []E, _ []frontend.Variable) ([]E, error) {
			return list(t.twiceLine12(e12Of(in[:12]), line[E]{e2Of(in[12:14]), e2Of(in[14:16])})), nil
		},
		"fourSquare12": func(t *tower[E], in []E, _ []frontend.Variable) ([]E, error) {
			return list(t.fourSquare12(e12Of(in[:12]))), nil
		},
		"cyclotomicSquare12": func(t *tower[E], in []E, _ []frontend.Variable) ([]E, error) {
			return list(t.cyclotomicSquare12(e12Of(in[:12]))), nil
		},
		"frobenius12": func(t *tower[E], in []E, _ []frontend.Variable) ([]E, error) {
			return list(t.frobenius12(e12Of(in[:12]), 1)), nil
		},
		"inverse12": func(t *tower[E], in []E, _ []frontend.Variable) ([]E, error) {
			return list(t.inverse12(e12Of(in[:12]))), nil
		},
		"mulG1": func(t *tower[E], in []E, bits []frontend.Variable) ([]E, error) {
			p, err := t.mulG1(bits, g1Of(in[:2]))
			return []E{p.x, p.y}, err
		},
		"mulBase": func(t *tower[E], _ []E, bits []frontend.Variable) ([]E, error) {
			p, err := t.mulBase(bits)
			return []E{p.x, p.y}, err
		},
	}
}

// gadgetCircuit asserts that a gadget of In and Bits is Out.
type gadgetCircuit[L, E any] struct {
	arithmetic[L, E]
	In   []L
	Out  []L `gnark:",public"`
	Bits []frontend.Variable
	name string // in gadgetTable
}

func (c *gadgetCircuit[L, E]) Define(api frontend.API) error {
	o, err := open(api, c.arithmetic)
	if err != nil {
		return err
	}
	for _, bit := range c.Bits {
		api.AssertIsBoolean(bit)
	}
	out, err := gadgetTable[E]()[c.name](o.tower, o.elements(c.In), c.Bits)
	if err != nil {
		return err
	}
	want := o.elements(c.Out)
	if len(out) != len(want) {
		return errors.New("another number of outputs")
	}
	for i := range out {
		o.AssertEqual(out[i], want[i])
	}
	return o.close()
}

// tried is a gadget's circuit on some arithmetic, the assignment that native arithmetic
// gives, and the same with one coefficient wrong.
type tried struct {
	circuit, right frontend.Circuit
	wrong          []frontend.Circuit
}

// onAll returns a gadget on each arithmetic.
func onAll(t *testing.T, name string) map[Form]tried {
	t.Helper()
	return map[Form]tried{
		Emulated: onOne[emulatedInput, emulatedElement](t, emulatedArithmetic{}, name),
		Limbs:    onOne[limbsInput, *bigint.Int](t, limbsArithmetic{bigint.Schoolbook}, name),
		LimbsMul: onOne[limbsInput, *bigint.Int](t, limbsArithmetic{bigint.CRT}, name),
	}
}

func onOne[L, E any](t *testing.T, a arithmetic[L, E], name string) tried {
	t.Helper()
	in, bits := gadgetInputs(name)
	tw, f := native()
	vars := make([]frontend.Variable, len(bits))
	for i, b := range bits {
		vars[i] = b
	}
	out := must.Get(gadgetTable[*big.Int]()[name](tw, in, vars))(t)
	f.outcome(t, name, false)
	values := func(v []*big.Int) (out []L) {
		for i := range v {
			out = append(out, a.value(new(fp.Element).SetBigInt(v[i])))
		}
		return out
	}
	one := tried{
		circuit: &gadgetCircuit[L, E]{arithmetic: a, In: make([]L, len(in)), Out: make([]L, len(out)), Bits: make([]frontend.Variable, len(bits)), name: name},
		right:   &gadgetCircuit[L, E]{In: values(in), Out: values(out), Bits: vars},
	}
	for i := range out {
		other := slices.Clone(out)
		other[i] = big.NewInt(0x7a6b)
		one.wrong = append(one.wrong, &gadgetCircuit[L, E]{In: values(in), Out: values(other), Bits: vars})
	}
	return one
}

// gadgetInputs are inputs of a gadget.
func gadgetInputs(name string) (in []*big.Int, bits []int) {
	n := int64(12)
	switch name {
	case "mulG1":
		p := curvePoint(7)
		return []*big.Int{bigOf(&p.X), bigOf(&p.Y)}, []int{1, 1, 0, 1, 0}
	case "mulBase":
		return nil, []int{1, 1, 0, 1, 0}
	case "mul12":
		n = 24
	case "twiceLine12":
		n = 16
	}
	for i := range n {
		in = append(in, new(big.Int).Exp(big.NewInt(3+i), big.NewInt(151), fp.Modulus()))
	}
	return in, nil
}

// gadgets are the names of those that are tried. One that inverts and one that chooses by
// bits have all operations.
func gadgets() []string {
	all := slices.Sorted(maps.Keys(gadgetTable[emulatedElement]()))
	return testsize.Pick([]string{"mulG1"}, all, all)
}

// TestGadgets: on each arithmetic the gadgets give what native arithmetic gives, and
// nothing else.
func TestGadgets(t *testing.T) {
	for _, name := range gadgets() {
		for form, c := range onAll(t, name) {
			t.Run(fmt.Sprintf("gadget=%s/form=%s", name, form), func(t *testing.T) {
				t.Parallel()
				for system, builder := range circuittest.Builders() {
					compiled := circuittest.Compile(t, builder, c.circuit)
					must.Do(t, circuittest.Solves(t, compiled, c.right, Hints()), system)
					for i, wrong := range c.wrong {
						must.Fail(t, circuittest.Solves(t, compiled, wrong, Hints()), must.ErrAny, "%s: another coefficient %d", system, i)
					}
				}
			})
		}
	}
}

// TestGadgetProves: a gadget on looked-up limbs, with both
// proof systems.
func TestGadgetProves(t *testing.T) {
	testsize.Full(t)
	t.Parallel()
	c := onAll(t, "mulG1")[LimbsMul]
	circuittest.ProveGroth16(t, c.circuit, c.right, c.wrong[0], Hints())
}

// TestNothingIsFree: no gadget leaves anything free. gnark's own field is left to gnark: it
// asks hints for the remainder of a check for zero and does not use it.
func TestNothingIsFree(t *testing.T) {
	for _, name := range gadgets() {
		for form, c := range onAll(t, name) {
			if form == Emulated {
				continue
			}
			t.Run(fmt.Sprintf("gadget=%s/form=%s", name, form), func(t *testing.T) {
				t.Parallel()
				circuittest.NothingFree(t, c.circuit, c.right, Hints(), 11)
			})
		}
	}
}

// TestNativeDivision: what the tests of exceptional cases rest on.
func TestNativeDivision(t *testing.T) {
	for _, test := range []struct {
		a, b             int64
		unassigned, free bool
	}{{6, 3, false, false}, {0, 3, false, false}, {6, 0, true, false}, {0, 0, false, true}} {
		var f nativeField
		q := f.Div(big.NewInt(test.a), big.NewInt(test.b))
		golden.Equal(t, fmt.Sprintf("%d/%d: unassigned, free", test.a, test.b), [2]bool{test.unassigned, test.free}, [2]bool{f.unassigned, f.free})
		if test.b != 0 && q.Int64() != test.a/test.b {
			t.Errorf("%d/%d = %v", test.a, test.b, q)
		}
	}
}
