package pedersen_test

import (
	"fmt"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark/constraint"
	"github.com/consensys/gnark/frontend/cs/scs"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/circuits/internal/circuittest"
	"github.com/zkbench/zkbench/circuits/pedersen"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// forms are those that are tried: the circuits with tables have the most gates by far.
func forms() []pedersen.Form {
	return testsize.Pick([]pedersen.Form{pedersen.Edwards, pedersen.Grumpkin}, pedersen.Forms(), pedersen.Forms())
}

// newCircuit returns the circuit of n hashes.
func newCircuit(t *testing.T, form pedersen.Form, n int) *pedersen.Circuit {
	t.Helper()
	return must.Get(pedersen.New(form, n))(t)
}

// assign returns the assignment of a chain.
func assign(t *testing.T, form pedersen.Form, first fr.Element, others ...fr.Element) *pedersen.Circuit {
	t.Helper()
	return must.Get(newCircuit(t, form, len(others)).Assign(first, others...))(t)
}

func element(i int64) (e fr.Element) {
	e.SetInt64(i)
	return e
}

// edges are elements at the borders of ranges: of limbs, halves and the field.
func edges() []fr.Element {
	edges := []fr.Element{element(0), element(1), element(-1), element(-2)}
	for _, bit := range []uint{28, 30, 42, 126, 127, 252, 253} {
		x := element(2)
		for range bit - 1 {
			x.Double(&x)
		}
		edges = append(edges, x)
	}
	return edges
}

// TestHashes: the circuits compute the native hash, and nothing else.
func TestHashes(t *testing.T) {
	for _, form := range forms() {
		for name, builder := range circuittest.Builders() {
			t.Run(fmt.Sprintf("form=%s/system=%s", form, name), func(t *testing.T) {
				t.Parallel()
				system := circuittest.Compile(t, builder, newCircuit(t, form, 1))
				e := edges()
				for i := range e {
					a := assign(t, form, e[i], e[(i*5+2)%len(e)])
					must.Do(t, circuittest.Solves(t, system, a, pedersen.Hints()), "a hash of", a.First)
					last := a.Last.(fr.Element)
					one := fr.One()
					a.Last = *last.Add(&last, &one)
					must.Fail(t, circuittest.Solves(t, system, a, pedersen.Hints()), must.ErrAny, "another hash")
				}
			})
		}
	}
}

// TestChain: three hashes, the second on what the first gives.
func TestChain(t *testing.T) {
	for _, form := range forms() {
		system := circuittest.Compile(t, scs.NewBuilder[constraint.U64], newCircuit(t, form, 3))
		right := assign(t, form, element(5), element(6), element(7), element(-8))
		must.Do(t, circuittest.Solves(t, system, right, pedersen.Hints()), form)
		circuittest.Public(t, right, newCircuit(t, form, 3).AssignPublic(right.Last.(fr.Element)))
		swapped := assign(t, form, element(5), element(6), element(7), element(-8))
		swapped.Others[1], swapped.Others[2] = swapped.Others[2], swapped.Others[1]
		must.Fail(t, circuittest.Solves(t, system, swapped, pedersen.Hints()), must.ErrAny, "%s: other elements for the hash", form)
	}
}

func TestProves(t *testing.T) {
	testsize.Full(t)
	for _, form := range forms() {
		t.Run(string(form), func(t *testing.T) {
			circuittest.Prove(t, newCircuit(t, form, 1), assign(t, form, element(5), element(-6)), assign(t, form, element(5), element(7)), pedersen.Hints())
		})
	}
}

// TestNothingIsFree: no hint's output and no wire may have another value.
func TestNothingIsFree(t *testing.T) {
	for _, form := range forms() {
		t.Run(string(form), func(t *testing.T) {
			t.Parallel()
			stride := 23
			if form == pedersen.Tables {
				stride = 211 // of the multiplicity of each row of each table
			}
			circuittest.NothingFree(t, newCircuit(t, form, 1), assign(t, form, element(-5), element(1<<62)), pedersen.Hints(), stride)
		})
	}
}

// TestRefused: what is no circuit, or no assignment of one.
func TestRefused(t *testing.T) {
	must.FailGet(pedersen.New("other", 1))(t, zkbench.ErrParams, "another form")
	must.FailGet(pedersen.New("", 1))(t, zkbench.ErrParams, "no form")
	must.FailGet(pedersen.New(pedersen.Grumpkin, -1))(t, zkbench.ErrParams, "-1 hashes")
	must.FailGet(newCircuit(t, pedersen.Grumpkin, 2).Assign(element(1), element(2)))(t, zkbench.ErrParams, "one value too few")
	must.Fail(t, new(pedersen.Circuit).Define(nil), zkbench.ErrParams, "no form in a circuit")
	golden.Equal(t, "constraints of another form", 0, pedersen.Constraints("other", 1))
}

// TestGates holds the numbers of gates: of a first hash, which pays for tables, and of
// each other one.
func TestGates(t *testing.T) {
	want := map[pedersen.Form][2]int{
		pedersen.Edwards: {4535, 4534}, pedersen.Grumpkin: {3285, 3284}, pedersen.Tables: {59395, 1606},
	}
	for _, form := range forms() {
		first := circuittest.Compile(t, scs.NewBuilder[constraint.U64], newCircuit(t, form, 1)).GetNbConstraints()
		each := circuittest.Compile(t, scs.NewBuilder[constraint.U64], newCircuit(t, form, 2)).GetNbConstraints() - first
		golden.Equal(t, string(form)+": gates of the first hash and of each other", want[form], [2]int{first, each})
		for n := range 9 {
			golden.Equal(t, fmt.Sprintf("%s: Constraints of %d hashes", form, n+1), first+n*each, pedersen.Constraints(form, n+1))
		}
	}
}
