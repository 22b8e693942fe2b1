package gate

import (
	"math/big"
	"testing"

	"github.com/consensys/gnark/constraint/solver"
	"github.com/consensys/gnark/frontend"

	"github.com/zkbench/zkbench/circuits/internal/circuittest"
	"github.com/zkbench/zkbench/internal/testing/forgery"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// The test's limbs.
const (
	width = 4
	bound = 0x5a3
)

// below asserts that limbs are below bound.
type below struct{ Limbs [3]frontend.Variable }

func (c *below) Define(api frontend.API) error {
	var ranged error
	err := AssertBelow(api, c.Limbs[:], width, big.NewInt(bound), func(gap frontend.Variable) { _, ranged = AssertBits(api, gap, width) })
	if err != nil {
		return err
	}
	return ranged
}

func limbsOf(v int) *below {
	return &below{[3]frontend.Variable{v & 15, v >> 4 & 15, v >> 8}}
}

// TestAssertBelow: limbs are accepted exactly if their integer is below the bound, whatever limbs a
// prover names.
func TestAssertBelow(t *testing.T) {
	for name, builder := range circuittest.Builders() {
		system := circuittest.Compile(t, builder, new(below))
		for v := range 0x1000 {
			if err := circuittest.Solves(t, system, limbsOf(v), Hints()); (err == nil) != (v < bound) {
				t.Errorf("%s: %#x: %v", name, v, err)
			}
			if v < bound {
				continue
			}
			for first := range int64(8) {
				named := circuittest.Change(FirstDifference, func(_, out []*big.Int) {
					for i := range out {
						out[i].SetInt64(first >> i & 1)
					}
				})
				if err := system.IsSolved(circuittest.Witness(t, limbsOf(v)), solver.WithHints(Hints()...), named); err == nil {
					t.Errorf("%s: %#x is accepted with the limbs %03b named", name, v, first)
				}
			}
		}
	}
	for _, b := range []*big.Int{new(big.Int), big.NewInt(-1), big.NewInt(0x1000)} {
		must.Fail(t, AssertBelow(nil, make([]frontend.Variable, 3), width, b, nil), must.ErrAny, "bound %d", b)
	}
}

// sign asserts that a value is 1 or -1.
type sign struct{ S frontend.Variable }

func (c *sign) Define(api frontend.API) error {
	AssertSign(api, c.S)
	return nil
}

// TestConstraints holds each assertion of the package by a forgery: limbs that are not below the
// bound, and a sign that is none.
func TestConstraints(t *testing.T) {
	// named has the prover name limbs, not all by 0 and 1.
	named := func(first ...int64) circuittest.Option {
		return circuittest.Change(FirstDifference, func(_, out []*big.Int) {
			for i := range out {
				out[i].SetInt64(first[i])
			}
		})
	}
	bits := func(low func(v *big.Int) *big.Int) circuittest.Option {
		return circuittest.Change(Bits, func(in, out []*big.Int) {
			for i := range out {
				out[i].SetUint64(0)
			}
			out[0].Set(low(in[0]))
		})
	}
	free := circuittest.Change(circuittest.Free, func(_, out []*big.Int) { out[0].SetUint64(0) })
	of := func(v int, opts ...circuittest.Option) circuittest.Forgery {
		return circuittest.Forgery{Assignment: limbsOf(v), Options: opts}
	}
	limbs := circuittest.Matrix{
		Circuit: new(below), Honest: limbsOf(0x57f), Hints: Hints(),
		Forgeries: map[string]circuittest.Forgery{
			// With -1 and 2 the gap is -(3-1-8) + 2(0xa-1-0xa) = 4.
			"AssertBelow/boolean": of(0x5a8, named(-1, 2, 0)),
			// One limb is named, and below.
			"AssertBelow/equal": of(0xfff, named(0, 0, 0)),
			// The lowest limb is less, and those above it are more.
			"AssertBelow/AssertProductZero/equal": of(0xf02, named(1, 0, 0)),
			"AssertBelow/AssertBits/boolean":      of(0xf02, named(0, 0, 1), bits(func(v *big.Int) *big.Int { return v })),
			"AssertBelow/AssertBits/equal":        of(0xf02, named(0, 0, 1), bits(func(*big.Int) *big.Int { return new(big.Int) })),
			// What AssertProductZero and MulOffset multiply by.
			"AssertBelow/AssertProductZero/product": of(0xf02, named(1, 0, 0), free),
			"AssertBelow/MulOffset/product":         of(0xf02, named(0, 0, 1), free),
			"AssertBelow/MulOffset/gate":            of(0xf02, named(0, 0, 1), free),
		},
	}
	signs := circuittest.Matrix{Circuit: new(sign), Honest: &sign{-1}, Forgeries: map[string]circuittest.Forgery{
		"AssertSign/equal": {Assignment: &sign{3}},
	}}
	forgery.Check(t, "circuits/internal/gate", append(limbs.Constraints(t), signs.Constraints(t)...))
}

// TestOneGate: what one gate of Plonk holds is what the API's sums and products give.
func TestOneGate(t *testing.T) {
	for name, builder := range circuittest.Builders() {
		for _, k := range []int64{0, 1, 7, -3} {
			circuit := &relations{k: k}
			system := circuittest.Compile(t, builder, circuit)
			a, b := int64(5), int64(-9)
			right := &relations{A: a, B: b, Bilinear: 2*a - 3*b + k*a*b, Offset: a * (b + k)}
			must.Do(t, circuittest.Solves(t, system, right, nil), name, k)
			for i, wrong := range []*relations{{A: a, B: b, Bilinear: 1, Offset: right.Offset}, {A: a, B: b, Bilinear: right.Bilinear, Offset: 1}} {
				must.Fail(t, circuittest.Solves(t, system, wrong, nil), must.ErrAny, "%s: %d, %d", name, k, i)
			}
		}
	}
}

// relations are the package's of A and B.
type relations struct {
	A, B             frontend.Variable
	Bilinear, Offset frontend.Variable
	k                int64
}

func (c *relations) Define(api frontend.API) error {
	api.AssertIsEqual(Bilinear(api, c.A, c.B, big.NewInt(2), big.NewInt(-3), big.NewInt(c.k)), c.Bilinear)
	api.AssertIsEqual(MulOffset(api, c.A, Offset{c.B, big.NewInt(c.k)}), c.Offset)
	return nil
}
