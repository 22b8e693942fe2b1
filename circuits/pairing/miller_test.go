package pairing

import (
	"encoding/hex"
	"math/big"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fp"
	"pgregory.net/rapid"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

func twistPoint(n int64) (q bn254.G2Affine) {
	q.ScalarMultiplicationBase(big.NewInt(n))
	return q
}

func liftG2(q *bn254.G2Affine) g2[*big.Int] { return g2[*big.Int]{lift2(&q.X), lift2(&q.Y)} }

// TestPair: the value is gnark-crypto's, without an exceptional case.
func TestPair(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		scalars := rapid.Int64Range(1, 1<<62)
		p, q := curvePoint(scalars.Draw(rt, "p")), twistPoint(scalars.Draw(rt, "q"))
		want := must.Get(pairOf(p, q))(rt)
		tw, f := native()
		same(rt, "pair", tw.pair(tw.constantG1(&p), liftG2(&q)), &want)
		f.outcome(rt, "pair", false)
	})
}

// TestBilinear: a factor may stand at either point.
func TestBilinear(t *testing.T) {
	p, q := curvePoint(3), twistPoint(5)
	p7, q7 := curvePoint(21), twistPoint(35)
	tw, _ := native()
	left := texts(tw.pair(tw.constantG1(&p7), liftG2(&q)))
	if left != texts(tw.pair(tw.constantG1(&p), liftG2(&q7))) {
		t.Error("e([7]P, Q) is not e(P, [7]Q)")
	}
	if left == texts(tw.pair(tw.constantG1(&p7), liftG2(&q7))) {
		t.Error("e([7]P, Q) is e([7]P, [7]Q)")
	}
}

// TestSteps: the points are those of gnark-crypto, and lines are the equation of a line
// over Fp12, at P, over y_P.
func TestSteps(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n, m := rapid.Int64Range(3, 1<<60).Draw(rt, "n"), rapid.Int64Range(1, 2).Draw(rt, "m")
		sum, q, p := twistPoint(n), twistPoint(m), curvePoint(rapid.Int64Range(1, 1<<62).Draw(rt, "p"))
		var inverse, x fp.Element
		inverse.Inverse(&p.Y)
		x.Mul(&p.X, &inverse).Neg(&x)
		at := evaluation[*big.Int]{bigOf(&x), bigOf(&inverse)}
		tw, f := native()

		double, tangent := tw.doubleStep(at, liftG2(&sum))
		want := twistPoint(2 * n)
		if !isTwistPoint(double, &want) {
			rt.Error("doubleStep gives another point")
		}
		isLine(rt, tw, tangent, &p, &sum, &sum)

		one := new(bn254.GT)
		one.SetOne()
		first, added, second := tw.doubleAddStep(at, lift(one), liftG2(&sum), liftG2(&q))
		want = twistPoint(2*n + m)
		if !isTwistPoint(added, &want) {
			rt.Error("doubleAddStep gives another point")
		}
		half := new(big.Int).ModInverse(big.NewInt(2), fp.Modulus())
		isLine(rt, tw, line[*big.Int]{tw.mulBase2(first.c1.b0, half), tw.mulBase2(first.c1.b1, half)}, &p, &sum, &q)
		middle := twistPoint(n + m)
		isLine(rt, tw, second, &p, &sum, &middle)
		f.outcome(rt, "steps", false)
	})
}

func isTwistPoint(got g2[*big.Int], want *bn254.G2Affine) bool {
	w := liftG2(want)
	return got.x.a0.Cmp(w.x.a0) == 0 && got.x.a1.Cmp(w.x.a1) == 0 && got.y.a0.Cmp(w.y.a0) == 0 && got.y.a1.Cmp(w.y.a1) == 0
}

// isLine holds a line to y_P - Y - Λ(x_P - X) with X = x·w², Y = y·w³ of the point a, and
// Λ the slope through a and b, or of the curve where they are one.
func isLine(t *rapid.T, tw *tower[*big.Int], l line[*big.Int], p *bn254.G1Affine, a, b *bn254.G2Affine) {
	t.Helper()
	embedded := func(q *bn254.G2Affine) (x, y bn254.GT) {
		x.C0.B1, y.C1.B1 = q.X, q.Y
		return x, y
	}
	base := func(e *fp.Element) (k bn254.GT) {
		k.C0.B0.A0 = *e
		return k
	}
	x, y := embedded(a)
	var num, den bn254.GT
	if a.Equal(b) {
		num.Square(&x)
		den.Add(&num, &num)
		num.Add(&num, &den)
		den.Add(&y, &y)
	} else {
		bx, by := embedded(b)
		num.Sub(&by, &y)
		den.Sub(&bx, &x)
	}
	den.Inverse(&den)
	num.Mul(&num, &den)
	xp, yp := base(&p.X), base(&p.Y)
	x.Sub(&xp, &x)
	x.Mul(&x, &num)
	y.Sub(&yp, &y)
	y.Sub(&y, &x)
	got := tw.fromLine(l)
	same(t, "line", tw.mul12(got, lift(&yp)), &y)
}

// TestBadPoints: points that no verifier admits give no choice.
func TestBadPoints(t *testing.T) {
	tw, f := native()
	p, q := curvePoint(2), twistPoint(3)
	zero := tw.constantG1(&p)
	zero.y = new(big.Int)
	tw.pair(zero, liftG2(&q))
	f.outcome(t, "y = 0 in G1", true)
	tw, f = native()
	flat := liftG2(&q)
	flat.y = e2[*big.Int]{new(big.Int), new(big.Int)}
	tw.pair(tw.constantG1(&p), flat)
	f.outcome(t, "y = 0 on the twist", true)
	tw, f = native()
	tw.slope2(liftG2(&q), liftG2(&q))
	f.outcome(t, "the line through a point and itself", true)
}

// TestEIP197: the product of the pairings is one or is not. The vector without pairs is
// no relation of ours; identities, which the precompile also admits, are in none.
func TestEIP197(t *testing.T) {
	var seen int
	for text := range strings.Lines(golden.Read(t, "pairing/eip197.txt")) {
		name, rest, _ := strings.Cut(strings.TrimSpace(text), " ")
		if name == "#" {
			continue
		}
		seen++
		t.Run("vector="+name, func(t *testing.T) {
			if name == "empty_data" {
				t.Skip("no pairs")
			}
			result, input, _ := strings.Cut(rest, " ")
			data, err := hex.DecodeString(input)
			if err != nil || len(data) == 0 || len(data)%192 != 0 {
				t.Fatalf("%d bytes: %v", len(data), err)
			}
			tw, f := native()
			product := tw.fromLine(line[*big.Int]{lift2(new(bn254.E2)), lift2(new(bn254.E2))}) // 1
			one := texts(product)
			for ; len(data) > 0; data = data[192:] {
				word := func(i int) *big.Int { return new(big.Int).SetBytes(data[32*i : 32*i+32]) }
				p := g1[*big.Int]{word(0), word(1)}
				q := g2[*big.Int]{e2[*big.Int]{word(3), word(2)}, e2[*big.Int]{word(5), word(4)}}
				product = tw.mul12(product, tw.millerLoop(p, q))
			}
			isOne := texts(tw.finalExponentiation(product)) == one
			f.outcome(t, "product", false)
			golden.Equal(t, "the product is one", result == "1", isOne)
		})
	}
	golden.Equal(t, "vectors", 14, seen)
}

func TestSignedDigits(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		n := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 1, 40).Draw(rt, "n"))
		width := rapid.UintRange(2, 6).Draw(rt, "width")
		var sum big.Int
		last := -int(width)
		for i, d := range signedDigits(n, width) {
			if d == 0 {
				continue
			}
			if d%2 == 0 || d >= 1<<(width-1) || -d >= 1<<(width-1) || i-last < int(width) {
				rt.Errorf("digit %d at %d, after one at %d", d, i, last)
			}
			last = i
			sum.Add(&sum, new(big.Int).Lsh(big.NewInt(int64(d)), uint(i)))
		}
		golden.Equal(rt, "the sum of the digits", n.String(), sum.String())
	})
}
