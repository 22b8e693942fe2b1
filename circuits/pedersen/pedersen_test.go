package pedersen_test

import (
	"fmt"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark/constraint"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/frontend/cs/scs"

	"github.com/zkbench/zkbench/circuits/internal/circuittest"
	"github.com/zkbench/zkbench/circuits/pedersen"
)

// assign returns the assignment of a chain.
func assign(form pedersen.Form, first fr.Element, others ...fr.Element) *pedersen.Circuit {
	c := pedersen.New(form, len(others))
	c.First = first
	for i := range others {
		c.Others[i] = others[i]
		first = pedersen.Hash(form, &first, &others[i])
	}
	c.Last = first
	return c
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
	for _, form := range pedersen.Forms() {
		for name, builder := range circuittest.Builders() {
			t.Run(fmt.Sprintf("form=%s/system=%s", form, name), func(t *testing.T) {
				system := circuittest.Compile(t, builder, pedersen.New(form, 1))
				e := edges()
				for i := range e {
					a := assign(form, e[i], e[(i*5+2)%len(e)])
					if err := circuittest.Solves(t, system, a, pedersen.Hints()); err != nil {
						t.Errorf("H(%v, %v): %v", &e[i], &e[(i*5+2)%len(e)], err)
					}
					last := a.Last.(fr.Element)
					one := fr.One()
					a.Last = *last.Add(&last, &one)
					if circuittest.Solves(t, system, a, pedersen.Hints()) == nil {
						t.Error("another hash is accepted")
					}
				}
			})
		}
	}
}

// TestChain: three hashes, the second on what the first gives.
func TestChain(t *testing.T) {
	for _, form := range pedersen.Forms() {
		system := circuittest.Compile(t, scs.NewBuilder[constraint.U64], pedersen.New(form, 3))
		if err := circuittest.Solves(t, system, assign(form, element(5), element(6), element(7), element(-8)), pedersen.Hints()); err != nil {
			t.Errorf("%s: %v", form, err)
		}
		swapped := assign(form, element(5), element(6), element(7), element(-8))
		swapped.Others[1], swapped.Others[2] = swapped.Others[2], swapped.Others[1]
		if circuittest.Solves(t, system, swapped, pedersen.Hints()) == nil {
			t.Errorf("%s: other elements have the hash", form)
		}
	}
}

func TestProves(t *testing.T) {
	for _, form := range pedersen.Forms() {
		t.Run(string(form), func(t *testing.T) {
			circuittest.Prove(t, pedersen.New(form, 1), assign(form, element(5), element(-6)), assign(form, element(5), element(7)), pedersen.Hints())
		})
	}
}

// TestNothingIsFree: no hint's output and no wire may have another value.
func TestNothingIsFree(t *testing.T) {
	for _, form := range pedersen.Forms() {
		t.Run(string(form), func(t *testing.T) {
			circuit, a := pedersen.New(form, 1), assign(form, element(-5), element(1<<62))
			circuittest.MutateHints(t, circuit, a, pedersen.Hints(), 23)
			circuittest.MutateWires(t, circuit, a, pedersen.Hints())
		})
	}
}

// TestGates holds the numbers of gates: of a first hash, which pays for tables, and of
// each other one.
func TestGates(t *testing.T) {
	for _, test := range []struct {
		form        pedersen.Form
		first, each int
	}{
		{pedersen.Edwards, 4535, 4534},
		{pedersen.Grumpkin, 3285, 3284},
		{pedersen.Tables, 59395, 1606},
	} {
		count := func(n int) int {
			var c frontend.Circuit = pedersen.New(test.form, n)
			return circuittest.Compile(t, scs.NewBuilder[constraint.U64], c).GetNbConstraints()
		}
		first := count(1)
		if each := count(2) - first; first != test.first || each != test.each {
			t.Errorf("%s: %d gates and %d for each other hash, want %d and %d", test.form, first, each, test.first, test.each)
		}
	}
}
