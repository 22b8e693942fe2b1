package pairing

import (
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fp"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"pgregory.net/rapid"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

func TestFinalExponentiation(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		k := targets().Draw(rt, "k")
		want := bn254.FinalExponentiation(k)
		tw, f := native()
		same(rt, "power", tw.finalExponentiation(lift(k)), &want)
		f.outcome(rt, "power", false)
	})
}

// TestExponent: the polynomials of finalExponentiation make the multiple of the hard
// part that they are said to make, and the multiple leaves the order r.
func TestExponent(t *testing.T) {
	x, p := seed(), fp.Modulus()
	at := func(c ...int64) *big.Int { // lowest first
		v := new(big.Int)
		for i := len(c) - 1; i >= 0; i-- {
			v.Mul(v, x).Add(v, big.NewInt(c[i]))
		}
		return v
	}
	sum := new(big.Int)
	for _, lambda := range []*big.Int{at(-1, 4, 6, 12), at(0, 6, 6, 12), at(0, 4, 6, 12), at(1, 6, 12, 12)} {
		sum.Mul(sum, p).Add(sum, lambda)
	}
	factor := at(0, 2, 6, 12)
	square := new(big.Int).Mul(p, p)
	want := new(big.Int).Mul(square, square)
	want.Sub(want, square).Add(want, big.NewInt(1))
	rest := new(big.Int)
	want.DivMod(want, fr.Modulus(), rest)
	if rest.Sign() != 0 || sum.Cmp(want.Mul(want, factor)) != 0 {
		t.Error("another exponent")
	}
	if rest.GCD(nil, nil, factor, fr.Modulus()).Cmp(big.NewInt(1)) != 0 {
		t.Error("the multiple has a factor of r")
	}
}

// TestOperations holds the operations in the base field.
func TestOperations(t *testing.T) {
	p, q := curvePoint(2), twistPoint(3)
	scalar := bitsOf(big.NewInt(0x7a6b), 254)
	k := must.Get(pairOf(p, q))(t)
	var got strings.Builder
	got.WriteString("Operations in the base field.\n\n")
	for _, counted := range []struct {
		what string
		run  func(tw *tower[*big.Int])
	}{
		{"miller loop", func(tw *tower[*big.Int]) { tw.millerLoop(tw.constantG1(&p), liftG2(&q)) }},
		{"final exponentiation", func(tw *tower[*big.Int]) { tw.finalExponentiation(lift(&k)) }},
		{"mulG1", func(tw *tower[*big.Int]) { must.Get(tw.mulG1(scalar, tw.constantG1(&p)))(t) }},
		{"mulBase", func(tw *tower[*big.Int]) { must.Get(tw.mulBase(scalar))(t) }},
	} {
		tw, f := native()
		counted.run(tw)
		fmt.Fprintf(&got, "%s: mul %d div %d add %d select %d\n", counted.what, f.mul, f.div, f.add, f.sel)
	}
	golden.File(t, "testdata/counts.txt", got.String())
}
