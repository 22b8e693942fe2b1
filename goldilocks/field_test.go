package goldilocks_test

import (
	"errors"
	"fmt"
	"math/big"
	"testing"

	reference "github.com/consensys/gnark-crypto/field/goldilocks"
	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/goldilocks"
)

var p = new(big.Int).SetUint64(goldilocks.Modulus)

// edges are values at which something carries, borrows or wraps.
var edges = []uint64{
	0, 1, 2, 7, 1<<31 - 1, 1 << 31, 1<<32 - 2, 1<<32 - 1, 1 << 32, 1<<32 + 1, 1<<63 - 1, 1 << 63, 1<<63 + 1,
	goldilocks.Modulus - 1<<32, goldilocks.Modulus - 2, goldilocks.Modulus - 1, goldilocks.Modulus, goldilocks.Modulus + 1, 1<<64 - 1<<32, 1<<64 - 2, 1<<64 - 1,
}

// anything draws values of 64 bits, edges often.
func anything() *rapid.Generator[uint64] {
	return rapid.OneOf(rapid.SampledFrom(edges), rapid.Uint64())
}

func element() *rapid.Generator[goldilocks.Element] {
	return rapid.Map(anything(), goldilocks.Reduce)
}

func bigOf(e goldilocks.Element) *big.Int { return new(big.Int).SetUint64(uint64(e)) }

func same(t *rapid.T, what string, got goldilocks.Element, want *big.Int) {
	want.Mod(want, p)
	if !got.Canonical() || bigOf(got).Cmp(want) != 0 {
		t.Fatalf("%s: %d, want %d", what, got, want)
	}
}

// TestElement compares with big.Int and with gnark-crypto.
func TestElement(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b := element().Draw(t, "a"), element().Draw(t, "b")
		x, y := bigOf(a), bigOf(b)
		same(t, "add", a.Add(b), new(big.Int).Add(x, y))
		same(t, "sub", a.Sub(b), new(big.Int).Sub(x, y))
		same(t, "neg", a.Neg(), new(big.Int).Neg(x))
		same(t, "double", a.Double(), new(big.Int).Add(x, x))
		same(t, "mul", a.Mul(b), new(big.Int).Mul(x, y))
		same(t, "square", a.Square(), new(big.Int).Mul(x, x))
		n := rapid.Uint64().Draw(t, "n")
		same(t, "exp", a.Exp(n), new(big.Int).Exp(x, new(big.Int).SetUint64(n), p))
		if a == 0 {
			same(t, "inverse", a.Inverse(), new(big.Int))
		} else {
			same(t, "inverse", a.Inverse(), new(big.Int).ModInverse(x, p))
		}
		var g, h reference.Element
		g.SetUint64(uint64(a))
		h.SetUint64(uint64(b))
		g.Mul(&g, &h)
		if g.Uint64() != uint64(a.Mul(b)) {
			t.Fatalf("gnark-crypto has %d", g.Uint64())
		}
	})
	for _, a := range edges {
		for _, b := range edges {
			e, f := goldilocks.Reduce(a), goldilocks.Reduce(b)
			want := new(big.Int).Mul(bigOf(e), bigOf(f))
			if got := e.Mul(f); bigOf(got).Cmp(want.Mod(want, p)) != 0 {
				t.Errorf("%d times %d: %d", e, f, got)
			}
		}
	}
}

func TestBytes(t *testing.T) {
	if got, want := goldilocks.Element(0x0102030405060708).Bytes(), [8]byte{8, 7, 6, 5, 4, 3, 2, 1}; got != want {
		t.Errorf("%v, want %v", got, want)
	}
}

func TestCheckCanonical(t *testing.T) {
	last := goldilocks.Element(goldilocks.Modulus - 1)
	if err := goldilocks.CheckCanonical("row", []goldilocks.Element{0, last}); err != nil {
		t.Error(err)
	}
	for i := range 3 {
		elements := []goldilocks.Element{last, last, last, goldilocks.Modulus + 1}
		elements[i] = goldilocks.Modulus
		err, ok := errors.AsType[*zkbench.DecodeError](goldilocks.CheckCanonical("row", elements))
		if want := fmt.Sprintf("row[%d]", i); !ok || err.Path != want {
			t.Errorf("%v, want one of %s", err, want)
		}
	}
}

func TestExt2(t *testing.T) {
	ext := rapid.Custom(func(t *rapid.T) goldilocks.Ext2 {
		return goldilocks.Ext2{element().Draw(t, "a0"), element().Draw(t, "a1")}
	})
	x := goldilocks.Ext2{0, 1}
	if x.Square() != (goldilocks.Ext2{7}) || goldilocks.Element(7).Exp((goldilocks.Modulus-1)/2) == 1 {
		t.Error("X^2 is not 7, or 7 is a square")
	}
	if (goldilocks.Ext2{}).Exp(0) != (goldilocks.Ext2{1}) {
		t.Error("0^0 is not 1")
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := ext.Draw(t, "a"), ext.Draw(t, "b"), ext.Draw(t, "c")
		if a.Mul(b).Mul(c) != a.Mul(b.Mul(c)) || a.Mul(b) != b.Mul(a) || a.Mul(b.Add(c)) != a.Mul(b).Add(a.Mul(c)) || a.Square() != a.Mul(a) {
			t.Fatal("no ring")
		}
		if (a != goldilocks.Ext2{}) && a.Mul(a.Inverse()) != (goldilocks.Ext2{1}) {
			t.Fatalf("inverse of %v", a)
		}
		if a.Sub(b).Add(b) != a || a.Neg().Add(a) != (goldilocks.Ext2{}) || a.MulBase(b[0]) != a.Mul(goldilocks.Ext2{b[0]}) {
			t.Fatal("not linear")
		}
		if a.Exp(goldilocks.Modulus) != a.Frobenius() {
			t.Fatalf("%v to the power of p", a)
		}
	})
}

func TestExt3(t *testing.T) {
	ext := rapid.Custom(func(t *rapid.T) goldilocks.Ext3 {
		return goldilocks.Ext3{element().Draw(t, "a0"), element().Draw(t, "a1"), element().Draw(t, "a2")}
	})
	x := goldilocks.Ext3{0, 1}
	if x.Mul(x).Mul(x) != (goldilocks.Ext3{1, 1}) {
		t.Error("X^3 is not X + 1")
	}
	// The roots in the field are those of X^p - X too, which then is no unit.
	if d := x.Exp(goldilocks.Modulus).Sub(x); d.Mul(d.Inverse()) != (goldilocks.Ext3{1}) {
		t.Error("X^3 - X - 1 has a root")
	}
	if (goldilocks.Ext3{}).Exp(0) != (goldilocks.Ext3{1}) {
		t.Error("0^0 is not 1")
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := ext.Draw(t, "a"), ext.Draw(t, "b"), ext.Draw(t, "c")
		if a.Mul(b).Mul(c) != a.Mul(b.Mul(c)) || a.Mul(b) != b.Mul(a) || a.Mul(b.Add(c)) != a.Mul(b).Add(a.Mul(c)) || a.Square() != a.Mul(a) {
			t.Fatal("no ring")
		}
		if (a != goldilocks.Ext3{}) && a.Mul(a.Inverse()) != (goldilocks.Ext3{1}) {
			t.Fatalf("inverse of %v", a)
		}
		if a.Sub(b).Add(b) != a || a.Neg().Add(a) != (goldilocks.Ext3{}) || a.MulBase(b[0]) != a.Mul(goldilocks.Ext3{b[0]}) {
			t.Fatal("not linear")
		}
	})
}
