package ext_test

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/ext"
	"github.com/zkbench/zkbench/internal/testing/goldilockstest"
)

func element() *rapid.Generator[goldilocks.Element] {
	return rapid.Map(rapid.OneOf(rapid.SampledFrom(goldilockstest.Edges), rapid.Uint64()), goldilocks.Reduce)
}

func TestQuadratic(t *testing.T) {
	t.Parallel()
	drawn := rapid.Custom(func(t *rapid.T) ext.Quadratic {
		return ext.Quadratic{element().Draw(t, "a0"), element().Draw(t, "a1")}
	})
	x := ext.Quadratic{0, 1}
	if x.Square() != (ext.Quadratic{7}) || goldilocks.Element(7).Exp((goldilocks.Modulus-1)/2) == 1 {
		t.Error("X^2 is not 7, or 7 is a square")
	}
	if (ext.Quadratic{}).Exp(0) != (ext.Quadratic{1}) {
		t.Error("0^0 is not 1")
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := drawn.Draw(t, "a"), drawn.Draw(t, "b"), drawn.Draw(t, "c")
		if a.Mul(b).Mul(c) != a.Mul(b.Mul(c)) || a.Mul(b) != b.Mul(a) || a.Mul(b.Add(c)) != a.Mul(b).Add(a.Mul(c)) || a.Square() != a.Mul(a) {
			t.Fatal("no ring")
		}
		if (a != ext.Quadratic{}) && a.Mul(a.Inverse()) != (ext.Quadratic{1}) {
			t.Fatalf("inverse of %v", a)
		}
		if a.Sub(b).Add(b) != a || a.Neg().Add(a) != (ext.Quadratic{}) || a.MulBase(b[0]) != a.Mul(ext.Quadratic{b[0]}) {
			t.Fatal("not linear")
		}
		if a.Exp(goldilocks.Modulus) != a.Frobenius() {
			t.Fatalf("%v to the power of p", a)
		}
	})
}

func TestCubic(t *testing.T) {
	t.Parallel()
	drawn := rapid.Custom(func(t *rapid.T) ext.Cubic {
		return ext.Cubic{element().Draw(t, "a0"), element().Draw(t, "a1"), element().Draw(t, "a2")}
	})
	x := ext.Cubic{0, 1}
	if x.Mul(x).Mul(x) != (ext.Cubic{1, 1}) {
		t.Error("X^3 is not X + 1")
	}
	// The roots in the field are those of X^p - X too, which then is no unit.
	if d := x.Exp(goldilocks.Modulus).Sub(x); d.Mul(d.Inverse()) != (ext.Cubic{1}) {
		t.Error("X^3 - X - 1 has a root")
	}
	if (ext.Cubic{}).Exp(0) != (ext.Cubic{1}) {
		t.Error("0^0 is not 1")
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := drawn.Draw(t, "a"), drawn.Draw(t, "b"), drawn.Draw(t, "c")
		if a.Mul(b).Mul(c) != a.Mul(b.Mul(c)) || a.Mul(b) != b.Mul(a) || a.Mul(b.Add(c)) != a.Mul(b).Add(a.Mul(c)) || a.Square() != a.Mul(a) {
			t.Fatal("no ring")
		}
		if (a != ext.Cubic{}) && a.Mul(a.Inverse()) != (ext.Cubic{1}) {
			t.Fatalf("inverse of %v", a)
		}
		if a.Sub(b).Add(b) != a || a.Neg().Add(a) != (ext.Cubic{}) || a.MulBase(b[0]) != a.Mul(ext.Cubic{b[0]}) {
			t.Fatal("not linear")
		}
	})
}
