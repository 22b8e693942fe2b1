package circuittest

import (
	"fmt"
	"math/big"
	"slices"
	"strings"
	"testing"

	cs "github.com/consensys/gnark/constraint/bn254"
	"github.com/consensys/gnark/constraint/solver"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/std/rangecheck"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// planted is a gadget on two inputs, below 2^8 and not equal.
type planted struct {
	X, Y   frontend.Variable
	gadget func(api frontend.API, x, y frontend.Variable) error
}

func (c *planted) Define(api frontend.API) error {
	api.AssertIsDifferent(c.X, c.Y)
	return c.gadget(api, c.X, c.Y)
}

// hint gives its inputs, and zeros after them.
func hint(_ *big.Int, inputs, outputs []*big.Int) error {
	for i := range outputs {
		if outputs[i].SetUint64(0); i < len(inputs) {
			outputs[i].Set(inputs[i])
		}
	}
	return nil
}

// digits gives the digits of its second input, of as many bits as the first says.
func digits(_ *big.Int, inputs, outputs []*big.Int) error {
	width := uint(inputs[0].Uint64())
	mask := new(big.Int).Sub(new(big.Int).Lsh(big.NewInt(1), width), big.NewInt(1))
	for i := range outputs {
		outputs[i].Rsh(inputs[1], width*uint(i)).And(outputs[i], mask)
	}
	return nil
}

// cut returns x in n digits of some bits, and their sum.
func cut(api frontend.API, x frontend.Variable, n, width int) (parts []frontend.Variable, sum frontend.Variable, err error) {
	sum = 0
	parts, err = api.NewHint(digits, n, width, x)
	for i := range parts {
		sum = api.Add(sum, api.Mul(parts[i], 1<<(width*i)))
	}
	return parts, sum, err
}

// TestPlanted: what a gadget leaves free is found, by its first order or by changes of
// outputs, and nothing is found in gadgets that leave nothing free.
func TestPlanted(t *testing.T) {
	for name, test := range map[string]struct {
		free   int  // dimensions
		others bool // a hint may give another output
		gadget func(api frontend.API, x, y frontend.Variable) error
	}{
		"an output in no constraint": {1, true, func(api frontend.API, x, y frontend.Variable) error {
			_, err := api.NewHint(hint, 1, x)
			return err
		}},
		"an output whose product alone is held": {1, false, func(api frontend.API, x, y frontend.Variable) error {
			v, err := api.NewHint(hint, 2, x, y)
			api.AssertIsEqual(api.Mul(v[0], v[1]), api.Mul(x, y))
			return err
		}},
		"two outputs in one sum": {1, false, func(api frontend.API, x, y frontend.Variable) error {
			v, err := api.NewHint(hint, 2, x, y)
			api.AssertIsEqual(api.Add(v[0], v[1]), api.Add(x, y))
			return err
		}},
		"two outputs in two sums that are one": {1, false, func(api frontend.API, x, y frontend.Variable) error {
			v, err := api.NewHint(hint, 2, x, y)
			api.AssertIsEqual(api.Add(v[0], v[1]), api.Add(x, y))
			api.AssertIsEqual(api.Add(api.Mul(v[0], 3), api.Mul(v[1], 3)), api.Mul(api.Add(x, y), 3))
			return err
		}},
		"two outputs in two sums": {0, false, func(api frontend.API, x, y frontend.Variable) error {
			v, err := api.NewHint(hint, 2, x, y)
			api.AssertIsEqual(api.Add(v[0], v[1]), api.Add(x, y))
			api.AssertIsEqual(api.Add(v[0], api.Mul(v[1], 3)), api.Add(x, api.Mul(y, 3)))
			return err
		}},
		// The roots of z² - (x + y)z + xy.
		"the sum and the product of two outputs": {0, false, func(api frontend.API, x, y frontend.Variable) error {
			v, err := api.NewHint(hint, 2, x, y)
			api.AssertIsEqual(api.Add(v[0], v[1]), api.Add(x, y))
			api.AssertIsEqual(api.Mul(v[0], v[1]), api.Mul(x, y))
			return err
		}},
		"bits": {0, false, func(api frontend.API, x, y frontend.Variable) error {
			bits, sum, err := cut(api, x, 8, 1)
			for _, b := range bits {
				api.AssertIsBoolean(b)
			}
			api.AssertIsEqual(sum, x)
			return err
		}},
		"bits of which two may be any number": {1, false, func(api frontend.API, x, y frontend.Variable) error {
			bits, sum, err := cut(api, x, 8, 1)
			for _, b := range bits[2:] {
				api.AssertIsBoolean(b)
			}
			api.AssertIsEqual(sum, x)
			return err
		}},
		// No first order is free here.
		"bits whose sum is not held": {0, true, func(api frontend.API, x, y frontend.Variable) error {
			bits, _, err := cut(api, x, 8, 1)
			for _, b := range bits {
				api.AssertIsBoolean(b)
			}
			return err
		}},
		"a quotient": {0, false, func(api frontend.API, x, y frontend.Variable) error {
			api.DivUnchecked(x, api.Sub(x, y))
			return nil
		}},
		"a quotient of zeros": {1, false, func(api frontend.API, x, y frontend.Variable) error {
			api.DivUnchecked(api.Mul(api.Sub(x, 201), y), api.Sub(x, 201))
			return nil
		}},
		"digits that are looked up": {0, false, func(api frontend.API, x, y frontend.Variable) error {
			parts, sum, err := cut(api, x, 2, 4)
			for _, p := range parts {
				rangecheck.New(api).Check(p, 4)
			}
			api.AssertIsEqual(sum, x)
			return err
		}},
		"digits of which one is looked up, and no sum": {1, true, func(api frontend.API, x, y frontend.Variable) error {
			parts, _, err := cut(api, x, 2, 4)
			rangecheck.New(api).Check(parts[0], 4)
			return err
		}},
	} {
		for builder, b := range Builders() {
			t.Run(builder+"/"+name, func(t *testing.T) {
				system := Compile(t, b, &planted{gadget: test.gadget})
				s := must.Get(Solve(system, Witness(t, &planted{X: 201, Y: 77}), []solver.Hint{hint, digits}))(t)
				free := s.Free()
				golden.Equal(t, fmt.Sprintf("dimensions of %q", free), test.free, len(free))
				others, _ := s.OtherOutputs(1)
				golden.Equal(t, fmt.Sprintf("there are other outputs: %q", others), test.others, len(others) > 0)
			})
		}
	}
}

// TestInputsDepended: an input in no constraint is free.
func TestInputsDepended(t *testing.T) {
	for builder, b := range Builders() {
		system := Compile(t, b, &ignoring{})
		s := must.Get(Solve(system, Witness(t, &ignoring{X: 3, Y: 4}), nil))(t)
		if free := strings.Join(s.Free(), ", "); !strings.HasPrefix(free, "input ") || strings.Contains(free, ", ") {
			t.Errorf("%s: free: %s", builder, free)
		}
	}
}

type ignoring struct{ X, Y frontend.Variable }

func (c *ignoring) Define(api frontend.API) error {
	api.AssertIsEqual(c.X, 3)
	return nil
}

// TestSolve: wires have the values that gnark gives them, and what gnark refuses is refused.
func TestSolve(t *testing.T) {
	circuit := &planted{gadget: func(api frontend.API, x, y frontend.Variable) error {
		bits := api.ToBinary(api.Mul(x, y), 16)
		api.AssertIsLessOrEqual(api.FromBinary(bits[:8]...), x)
		api.Select(api.IsZero(api.Sub(x, y)), api.Inverse(x), api.Div(x, y))
		return nil
	}}
	for builder, b := range Builders() {
		system := Compile(t, b, circuit)
		w := Witness(t, &planted{X: 201, Y: 77})
		s, err := Solve(system, w, nil)
		must.Do(t, err, builder)
		gnark := must.Get(system.Solve(w))(t)
		switch want := gnark.(type) {
		case *cs.R1CSSolution:
			if !slices.Equal(s.values[:len(want.W)], want.W) {
				t.Errorf("%s: other values than gnark's", builder)
			}
		case *cs.SparseR1CSSolution:
			for i, gate := range system.(*cs.SparseR1CS).GetSparseR1Cs() {
				i += system.GetNbPublicVariables()
				if s.values[gate.XA] != want.L[i] || s.values[gate.XB] != want.R[i] || s.values[gate.XC] != want.O[i] {
					t.Errorf("%s: other values than gnark's in gate %d", builder, i)
				}
			}
		}
		for _, refused := range []*planted{{X: 77, Y: 77}, {X: 1000, Y: 77}, {X: 3, Y: 85}} {
			w := Witness(t, refused)
			if _, err := Solve(system, w, nil); err == nil || system.IsSolved(w) == nil {
				t.Errorf("%s: %v, %v are accepted: %v", builder, refused.X, refused.Y, err)
			}
		}
	}
}
