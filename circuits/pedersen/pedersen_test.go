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
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/internal/testsize"
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
					if err := circuittest.Solves(t, system, a, pedersen.Hints()); err != nil {
						t.Errorf("H(%v, %v): %v", &e[i], &e[(i*5+2)%len(e)], err)
					}
					last := a.Last.(fr.Element)
					one := fr.One()
					a.Last = *last.Add(&last, &one)
					must.NotDo(t, circuittest.Solves(t, system, a, pedersen.Hints()), must.ErrAny, "another hash")
				}
			})
		}
	}
}

// TestChain: three hashes, the second on what the first gives.
func TestChain(t *testing.T) {
	for _, form := range forms() {
		system := circuittest.Compile(t, scs.NewBuilder[constraint.U64], newCircuit(t, form, 3))
		must.Do(t, circuittest.Solves(t, system, assign(t, form, element(5), element(6), element(7), element(-8)), pedersen.Hints()), form)
		swapped := assign(t, form, element(5), element(6), element(7), element(-8))
		swapped.Others[1], swapped.Others[2] = swapped.Others[2], swapped.Others[1]
		must.NotDo(t, circuittest.Solves(t, system, swapped, pedersen.Hints()), must.ErrAny, "%s: other elements for the hash", form)
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
	_, form := pedersen.New("other", 1)
	_, none := pedersen.New("", 1)
	_, negative := pedersen.New(pedersen.Grumpkin, -1)
	_, others := newCircuit(t, pedersen.Grumpkin, 2).Assign(element(1), element(2))
	for what, err := range map[string]error{
		"another form": form, "no form": none, "-1 hashes": negative, "one value too few": others, "no form in a circuit": new(pedersen.Circuit).Define(nil),
	} {
		must.NotDo(t, err, zkbench.ErrParams, "%s", what)
	}
	if n := pedersen.Constraints("other", 1); n != 0 {
		t.Errorf("another form has %d constraints", n)
	}
}

// TestGates holds the numbers of gates: of a first hash, which pays for tables, and of
// each other one.
func TestGates(t *testing.T) {
	want := map[pedersen.Form]struct{ first, each int }{
		pedersen.Edwards: {4535, 4534}, pedersen.Grumpkin: {3285, 3284}, pedersen.Tables: {59395, 1606},
	}
	for _, form := range forms() {
		first := circuittest.Compile(t, scs.NewBuilder[constraint.U64], newCircuit(t, form, 1)).GetNbConstraints()
		each := circuittest.Compile(t, scs.NewBuilder[constraint.U64], newCircuit(t, form, 2)).GetNbConstraints() - first
		if want := want[form]; first != want.first || each != want.each {
			t.Errorf("%s: %d gates and %d for each other hash, want %v", form, first, each, want)
		}
		for n := range 9 {
			if got := pedersen.Constraints(form, n+1); got != first+n*each {
				t.Errorf("%s: Constraints tells of %d gates of %d hashes, want %d", form, got, n+1, first+n*each)
			}
		}
	}
}
