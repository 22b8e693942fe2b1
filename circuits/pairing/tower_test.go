package pairing

import (
	"fmt"
	"math/big"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fp"
	"pgregory.net/rapid"

	"github.com/zkbench/zkbench/internal/testing/golden"
)

// elements are of the base field, the borders often among them.
func elements() *rapid.Generator[*fp.Element] {
	return rapid.Custom(func(t *rapid.T) *fp.Element {
		var e fp.Element
		if rapid.Bool().Draw(t, "small") {
			return e.SetInt64(rapid.Int64Range(-2, 2).Draw(t, "value"))
		}
		return e.SetBytes(rapid.SliceOfN(rapid.Byte(), 40, 40).Draw(t, "bytes"))
	})
}

// targets are elements of Fp12, zero excepted.
func targets() *rapid.Generator[*bn254.GT] {
	return rapid.Custom(func(t *rapid.T) *bn254.GT {
		k := new(bn254.GT)
		for _, c := range target(k) {
			c.Set(elements().Draw(t, "coefficient"))
		}
		return k
	}).Filter(func(k *bn254.GT) bool { return !k.IsZero() })
}

// cyclotomic are elements whose order divides p⁴ - p² + 1.
func cyclotomic() *rapid.Generator[*bn254.GT] {
	return rapid.Map(targets(), func(k *bn254.GT) *bn254.GT {
		var a, b bn254.GT
		a.Conjugate(k)
		b.Inverse(k)
		a.Mul(&a, &b)
		b.FrobeniusSquare(&a)
		return a.Mul(&a, &b)
	})
}

func lift(k *bn254.GT) e12[*big.Int] {
	var c [12]*big.Int
	for i, v := range target(k) {
		c[i] = bigOf(v)
	}
	return fromCoefficients(c)
}

func lift2(v *bn254.E2) e2[*big.Int] { return e2[*big.Int]{bigOf(&v.A0), bigOf(&v.A1)} }

// texts are an element's coefficients, to compare.
func texts(a e12[*big.Int]) (s [12]string) {
	for i, c := range a.coefficients() {
		s[i] = c.String()
	}
	return s
}

// same reports an element that is not the one of gnark-crypto.
func same(t *rapid.T, what string, got e12[*big.Int], want *bn254.GT) {
	t.Helper()
	golden.Equal(t, what, texts(lift(want)), texts(got))
}

// times is c·k, in place.
func times(k *bn254.GT, c uint64) *bn254.GT {
	var factor fp.Element
	factor.SetUint64(c)
	for _, v := range target(k) {
		v.Mul(v, &factor)
	}
	return k
}

// TestTower: every operation is gnark-crypto's.
func TestTower(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		a, b := targets().Draw(rt, "a"), targets().Draw(rt, "b")
		c := cyclotomic().Draw(rt, "c")
		tw, f := native()
		x := lift(a)
		var want bn254.GT
		same(rt, "mul", tw.mul12(x, lift(b)), want.Mul(a, b))
		same(rt, "square", tw.fourSquare12(x), times(want.Square(a), 4))
		same(rt, "conjugate", tw.conjugate12(x), want.Conjugate(a))
		same(rt, "inverse", tw.inverse12(x), want.Inverse(a))
		same(rt, "frobenius 1", tw.frobenius12(x, 1), want.Frobenius(a))
		same(rt, "frobenius 2", tw.frobenius12(x, 2), want.FrobeniusSquare(a))
		same(rt, "frobenius 3", tw.frobenius12(x, 3), want.FrobeniusCube(a))
		same(rt, "cyclotomic square", tw.cyclotomicSquare12(lift(c)), want.Square(c))
		same(rt, "power", tw.power(lift(c)), want.Exp(*c, seed()))

		var sparse bn254.GT
		sparse.C0.B0.SetOne()
		sparse.C1.B0, sparse.C1.B1 = b.C1.B0, b.C1.B1
		same(rt, "line", tw.twiceLine12(x, line[*big.Int]{lift2(&b.C1.B0), lift2(&b.C1.B1)}), times(want.Mul(a, &sparse), 2))
		same(rt, "line alone", tw.fromLine(line[*big.Int]{lift2(&b.C1.B0), lift2(&b.C1.B1)}), &sparse)
		f.outcome(rt, "operations", false)
		tw.assertEqual12(x, lift(a))
		f.outcome(rt, "an element that equals itself", false)
	})
}

// TestDivisionByZero: no quotient leaves a choice, of zeros either.
func TestDivisionByZero(t *testing.T) {
	zero, one := new(big.Int), big.NewInt(1)
	none, some := e2[*big.Int]{zero, zero}, e2[*big.Int]{one, zero}
	for name, divide := range map[string]func(t *tower[*big.Int]){
		"1/0 in Fp":   func(t *tower[*big.Int]) { t.quotient(one, zero) },
		"0/0 in Fp":   func(t *tower[*big.Int]) { t.quotient(zero, zero) },
		"1/0 in Fp2":  func(t *tower[*big.Int]) { t.quotient2(some, none) },
		"0/0 in Fp2":  func(t *tower[*big.Int]) { t.quotient2(none, none) },
		"1/0 in Fp6":  func(t *tower[*big.Int]) { t.inverse6(e6[*big.Int]{none, none, none}) },
		"1/0 in Fp12": func(t *tower[*big.Int]) { t.inverse12(lift(new(bn254.GT))) },
	} {
		tw, f := native()
		divide(tw)
		f.outcome(t, name, true)
	}
}

// TestCoefficients: the order is that of gnark-crypto's fields.
func TestCoefficients(t *testing.T) {
	var c [12]string
	for i := range c {
		c[i] = fmt.Sprint(i)
	}
	k := fromCoefficients(c)
	if k.c0.b2.a1 != "5" || k.c1.b0.a0 != "6" || k.c1.b1.a1 != "9" {
		t.Error("another place")
	}
	golden.Equal(t, "coefficients", c, k.coefficients())
}

// TestAssertEqual: each coefficient counts.
func TestAssertEqual(t *testing.T) {
	var k bn254.GT
	k.SetOne()
	for i := range 12 {
		t.Run(fmt.Sprintf("coefficient=%d", i), func(t *testing.T) {
			tw, f := native()
			other := k
			c := target(&other)[i]
			c.Double(c.SetUint64(21))
			tw.assertEqual12(lift(&k), lift(&other))
			f.outcome(t, "another element", true)
		})
	}
}
