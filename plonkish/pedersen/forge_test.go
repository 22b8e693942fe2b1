package pedersen

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/hash/pedersen"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/plonkish"
	"github.com/zkbench/zkbench/plonkish/internal/inside"
	"github.com/zkbench/zkbench/plonkish/internal/planttest"
)

// forger is a form of hashes, and where the Vars are that show an input's integer to be below the order:
// the flag f, and behind it those of the small value v and its digits.
type forger struct {
	name   string
	arith  plonkish.Arithmetization
	begin  func(t testing.TB, b *plonkish.Builder) hasher
	inTurn bool // inputs are shown to be below the order each before the next one is hashed
	vars   int  // from the flag on
	zero   int  // from this one on the Vars are 0 if v is
	// parts are the Vars of what is left of v above each of its digits, the lowest first, and bits the
	// length of a digit. Nil: digits are bits, each with a constraint of its own.
	parts []plonkish.Var
	bits  uint
	low   uint // bits of the low half
	// middle is the cell of a digit's row that has the integer's high half, and readsMiddle is a cell by
	// which that is shown to be what it must.
	middle      func(rows, which int) (column, row int)
	readsMiddle func(rows, which int) (column, row int)
}

type hasher interface {
	hash(inputs [pedersen.Inputs]input) plonkish.Var
}

// windowWidth is that of the windows of hashes to be forged.
const windowWidth = 7

func forgers() []forger {
	window := forger{
		name: "window", arith: plonkish.UltraPlonk(), vars: 2 + limbs, zero: 1,
		begin: func(t testing.TB, b *plonkish.Builder) hasher { return must.Get(NewWindow(b, windowWidth))(t) },
	}
	split, limbBits := halves(windowWidth)
	window.bits, window.low = uint(limbBits), uint(split*windowWidth)
	window.middle = func(rows, which int) (column, row int) {
		return 0, rows - pedersen.Inputs*(limbs+1) - (pedersen.Inputs-which)*pedersen.Windows(windowWidth) + split
	}
	window.readsMiddle = func(rows, which int) (column, row int) {
		return 3, rows - (pedersen.Inputs-which)*(limbs+1) + limbs
	}
	for i := range limbs {
		window.parts = append(window.parts, plonkish.Var(1+i))
	}
	ladder := forger{
		name: "ladder", arith: plonkish.TurboPlonk(), inTurn: true, vars: 1 + lowBits/ladderWidth, zero: 1, bits: ladderWidth,
		begin: func(_ testing.TB, b *plonkish.Builder) hasher { return NewLadder(b) },
		parts: []plonkish.Var{1}, low: lowBits,
		middle: func(rows, which int) (column, row int) {
			return 3, rows - (pedersen.Inputs-which)*LadderRows/pedersen.Inputs + ladderHigh
		},
		readsMiddle: func(rows, which int) (column, row int) {
			return 2, rows - (pedersen.Inputs-1-which)*LadderRows/pedersen.Inputs - 1
		},
	}
	for i := ladder.vars - 1; i > 1; i-- { // of which the highest are first
		ladder.parts = append(ladder.parts, plonkish.Var(i))
	}
	plain := forger{
		name: "plain", arith: plonkish.Plonk(), inTurn: true, vars: 4 + 2*lowBits - 2, zero: 4,
		begin: func(_ testing.TB, b *plonkish.Builder) hasher { return NewPlain(b) },
	}
	return []forger{window, ladder, plain}
}

// circuit is of a hash of 5 and 3, in which the integer of an input is another one, with Vars planted by
// how far they are behind the input's flag.
func (f *forger) circuit(t testing.TB, which int, integer *big.Int, planted map[plonkish.Var]fr.Element) *inside.Circuit {
	t.Helper()
	integers := [pedersen.Inputs]*big.Int{value(0), value(1)}
	integers[which] = integer
	before, flag := f.hash(t, plonkish.NewBuilder(f.arith), integers)
	switch {
	case !f.inTurn:
		flag -= plonkish.Var((pedersen.Inputs - which) * f.vars)
	case which == 0: // half of what both take with these digits
		_, after := f.hash(t, plonkish.NewBuilder(f.arith), [pedersen.Inputs]*big.Int{integer, integer})
		flag = before + (after-before)/2 - plonkish.Var(f.vars)
	default:
		flag -= plonkish.Var(f.vars)
	}
	b := plonkish.NewBuilder(f.arith)
	inside.Sites(b)
	for i, e := range planted {
		inside.Plant(b, flag+i, e)
	}
	f.hash(t, b, integers)
	return inside.Look(must.Get(b.Build())(t))
}

// hash adds a hash of 5 and 3 by these integers, and is the first Var of it and the one behind it.
func (f *forger) hash(t testing.TB, b *plonkish.Builder, integers [pedersen.Inputs]*big.Int) (before, after plonkish.Var) {
	h := f.begin(t, b)
	in := inputs(b, b.Var(element(5)), b.Var(element(3)))
	for i := range in {
		in[i].integer = integers[i]
	}
	before = in[pedersen.Inputs-1].value + 1
	v := h.hash(in)
	after = b.Public(b.Value(v))
	b.Equal(v, after)
	return before, after
}

// value is what an input holds.
func value(which int) *big.Int { return big.NewInt([]int64{5, 3}[which]) }

// other is the input's other integer below 2^254.
func other(which int) *big.Int { return new(big.Int).Add(value(which), fr.Modulus()) }

// each runs a subtest for each form and input.
func each(t *testing.T, test func(t *testing.T, f *forger, which int)) {
	for _, f := range forgers() {
		for which := range pedersen.Inputs {
			t.Run(fmt.Sprintf("form=%s/input=%d", f.name, which), func(t *testing.T) { test(t, &f, which) })
		}
	}
}

// TestAnotherFlag: a second hash of an input, of the digits of its sum with the order, with the flag -1/x
// and v = 0. Only the constraint that the flag is a bit refuses it.
func TestAnotherFlag(t *testing.T) {
	each(t, func(t *testing.T, f *forger, which int) {
		var flag fr.Element
		flag.SetBigInt(value(which)).Inverse(&flag).Neg(&flag)
		planted := map[plonkish.Var]fr.Element{0: flag}
		for i := f.zero; i < f.vars; i++ {
			planted[plonkish.Var(i)] = fr.Element{}
		}
		planttest.Alone(t, f.circuit(t, which, other(which), planted))
	})
}

// TestAnyHash: the hash of 77 for an input of another value. Only the constraint that ties the digits to
// the input refuses it.
func TestAnyHash(t *testing.T) {
	each(t, func(t *testing.T, f *forger, which int) {
		if f.name == "window" {
			t.Skip("the row of the first digit reads the input itself: TestConstraints has it")
		}
		planttest.Alone(t, f.circuit(t, which, big.NewInt(77), nil))
	})
}

// TestAnyDigit: a second hash of an input, of the digits of its sum with the order, for which v is -1. A
// digit of v is none, so that all others can be 0. Only the range of that digit refuses it.
func TestAnyDigit(t *testing.T) {
	each(t, func(t *testing.T, f *forger, which int) {
		if f.parts == nil {
			t.Skip("each bit of v has its own constraint: TestConstraints has it")
		}
		step := testsize.Pick(len(f.parts)/2, (len(f.parts)+11)/12, 1)
		for digit := 0; digit < len(f.parts); digit += step {
			planted := map[plonkish.Var]fr.Element{0: {}}
			for i := f.zero; i < f.vars; i++ {
				planted[plonkish.Var(i)] = fr.Element{}
			}
			rest, unit := element(-1), fr.NewElement(1<<f.bits)
			unit.Inverse(&unit)
			for _, i := range f.parts[:digit+1] {
				planted[i] = rest
				rest.Mul(&rest, &unit)
			}
			planttest.Alone(t, f.circuit(t, which, other(which), planted))
		}
	})
}

// TestAnotherMiddle: a second hash of an input, of the digits of its sum with the order, while the rows
// that show an integer to be below the order read the high half of the input. Only the wire of the row
// between the halves refuses it.
func TestAnotherMiddle(t *testing.T) {
	each(t, func(t *testing.T, f *forger, which int) {
		if f.middle == nil {
			t.Skip("each wire of the high half is of a line of its own: TestConstraints has it")
		}
		var order, x fr.Element
		order.SetBigInt(new(big.Int).Rsh(fr.Modulus(), f.low))
		flag, v := below(&order, new(big.Int).Rsh(value(which), f.low), *x.SetBigInt(value(which)))
		planted := map[plonkish.Var]fr.Element{0: flag}
		rest := v.BigInt(new(big.Int))
		for _, i := range f.parts {
			var e fr.Element
			planted[i] = *e.SetBigInt(rest)
			rest.Rsh(rest, f.bits)
		}
		c := f.circuit(t, which, other(which), planted)
		rows := len(c.Unknown) / c.Columns
		column, row := f.middle(rows, which)
		own := c.Values[c.Unknown[column*rows+row]]
		readColumn, readRow := f.readsMiddle(rows, which)
		honest := f.circuit(t, which, value(which), nil)
		c.Values[c.Unknown[readColumn*rows+readRow]] = honest.Values[honest.Unknown[readColumn*rows+readRow]]
		planttest.AloneWire(t, c, column, row, own)
	})
}
