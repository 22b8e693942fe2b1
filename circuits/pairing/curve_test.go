package pairing

import (
	"math/big"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark/frontend"
	"github.com/consensys/gnark/test"
	"pgregory.net/rapid"

	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// curvePoint is [n]G.
func curvePoint(n int64) (p bn254.G1Affine) {
	p.ScalarMultiplicationBase(big.NewInt(n))
	return p
}

// bitsOf are n bits of s.
func bitsOf(s *big.Int, n int) []frontend.Variable {
	bits := make([]frontend.Variable, n)
	for i := range bits {
		bits[i] = int(s.Bit(i))
	}
	return bits
}

// multiples are [s]p and [s]G by the tower, and why there are none.
func multiples(t testing.TB, s *big.Int, n int, p *bn254.G1Affine) (multiple, base g1[*big.Int], of, ofBase *nativeField) {
	t.Helper()
	tw, f := native()
	multiple = must.Get(tw.mulG1(bitsOf(s, n), tw.constantG1(p)))(t)
	twBase, fBase := native()
	base = must.Get(twBase.mulBase(bitsOf(s, n)))(t)
	return multiple, base, f, fBase
}

func isPoint(got g1[*big.Int], want *bn254.G1Affine) bool {
	return got.x.Cmp(bigOf(&want.X)) == 0 && got.y.Cmp(bigOf(&want.Y)) == 0
}

// TestMultiples: of scalars at the borders, with and without a canonical form.
func TestMultiples(t *testing.T) {
	r := fr.Modulus()
	below := func(i int64) *big.Int { return new(big.Int).Add(r, big.NewInt(i)) }
	full := new(big.Int).Lsh(big.NewInt(1), 254)
	full.Sub(full, big.NewInt(1))
	p := curvePoint(0x7a6b)
	for _, test := range []struct {
		name string
		s    *big.Int
		n    int
	}{
		{"1", big.NewInt(1), 254},
		{"2", big.NewInt(2), 254},
		{"3", big.NewInt(3), 254},
		{"r-1", below(-1), 254},
		{"r-2", below(-2), 254},
		{"r+1", below(1), 254},
		{"r+12345", below(12345), 254},
		{"2^254-1", full, 254},
		{"1 of one bit", big.NewInt(1), 1},
		{"2 of two bits", big.NewInt(2), 2},
		{"5 of three bits", big.NewInt(5), 3},
		{"0", new(big.Int), 254},
		{"0 of one bit", new(big.Int), 1},
		{"r", r, 254},
	} {
		t.Run("s="+test.name, func(t *testing.T) {
			var want, wantBase bn254.G1Affine
			want.ScalarMultiplication(&p, test.s)
			wantBase.ScalarMultiplicationBase(test.s)
			got, base, f, fBase := multiples(t, test.s, test.n, &p)
			identity := want.IsInfinity() // which has no coordinates
			f.outcome(t, "mulG1", identity)
			fBase.outcome(t, "mulBase", identity)
			if !identity && (!isPoint(got, &want) || !isPoint(base, &wantBase)) {
				t.Error("another point")
			}
		})
	}
}

func TestRandomMultiples(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		p := curvePoint(rapid.Int64Range(1, 1<<62).Draw(rt, "p"))
		s := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(rt, "s"))
		n := rapid.IntRange(1, 254).Draw(rt, "n")
		s.Mod(s, new(big.Int).Lsh(big.NewInt(1), uint(n)))
		if new(big.Int).Mod(s, fr.Modulus()).Sign() == 0 {
			rt.Skip("the identity")
		}
		var want, wantBase bn254.G1Affine
		want.ScalarMultiplication(&p, s)
		wantBase.ScalarMultiplicationBase(s)
		got, base, f, fBase := multiples(t, s, n, &p)
		if !isPoint(got, &want) || !isPoint(base, &wantBase) {
			rt.Error("another point")
		}
		f.outcome(rt, "mulG1", false)
		fBase.outcome(rt, "mulBase", false)
	})
}

// TestExceptionalPoints: who knows a relation between a point and the offset has no
// assignment, and no choice.
func TestExceptionalPoints(t *testing.T) {
	start := must.Get(offset())(t)
	if !start.IsOnCurve() || start.IsInfinity() {
		t.Fatal("the offset is no point")
	}
	for _, test := range []struct {
		name     string
		num, den int64 // p is [num/den]O
		s        int64
	}{
		{"O+p of equal points", 1, 1, 0xff},
		{"O+p is the identity", -1, 1, 0xff},
		{"(O+p)+p is the identity", -1, 2, 0xff},
		{"(O+p)-p of equal points", -1, 2, 0x7f},
		{"2(O+p)+p is the identity", -2, 3, 0xff},
	} {
		t.Run("sum="+test.name, func(t *testing.T) {
			e := new(big.Int).ModInverse(big.NewInt(test.den), fr.Modulus())
			e.Mul(e, big.NewInt(test.num)).Mod(e, fr.Modulus())
			var p bn254.G1Affine
			p.ScalarMultiplication(&start, e)
			_, _, f, _ := multiples(t, big.NewInt(test.s), 8, &p)
			f.outcome(t, "multiple", true)
		})
	}
	tw, f := native()
	p := curvePoint(5)
	tw.addG1(tw.constantG1(&p), tw.constantG1(&p))
	f.outcome(t, "a point added to itself", true)
}

// TestCheckRefuses: a point that is not the other's multiple by the constant.
func TestCheckRefuses(t *testing.T) {
	testsize.Full(t)
	t.Parallel()
	s := must.Get(NewStatement([Parties]fr.Element{fr.NewElement(3), fr.NewElement(4), fr.NewElement(5)}))(t)
	c := &stdCheck{}
	a := c.Assign(s).(*stdCheck)
	must.Do(t, test.IsSolved(c, a, ecc.BN254.ScalarField()), "a product that is one")
	s.P[0] = s.P[1]
	a.P[1] = c.Assign(s).(*stdCheck).P[1]
	must.Fail(t, test.IsSolved(c, a, ecc.BN254.ScalarField()), must.ErrAny, "a product that is not one")
}
