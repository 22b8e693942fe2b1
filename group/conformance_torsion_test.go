package group_test

import (
	"fmt"
	"math/big"
	"testing"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/group/kilic"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// BLS12-381 has #E(Fp) = r·(1-z)²/3 points for z = -0xd201000000010000, in a
// group Z_r × Z_(1-z) × Z_((1-z)/3).
var (
	oneMinusZ = hexInt("d201000000010001")
	// The primes of 1 - z.
	torsionPrimes = []int64{3, 11, 10177, 859267, 52437899}
)

// times returns k·p for any integer k >= 0, by additions only.
func (s *suite[S, P]) times(k *big.Int, p P) (z P) {
	for i := k.BitLen() - 1; i >= 0; i-- {
		s.AddPoints(&z, &z, &z)
		if k.Bit(i) == 1 {
			s.AddPoints(&z, &z, &p)
		}
	}
	return z
}

func (s *suite[S, P]) onCurve(t *testing.T, x int64) (p P, ok bool) {
	t.Helper()
	a := s.lift(big.NewInt(x))
	if a == nil {
		return p, false
	}
	var out [1]P
	must.Do(t, s.DecodePoints(out[:], s.encode(a), group.OnCurve), "a point on the curve is refused under OnCurve")
	return out[0], true
}

// fullOrder returns a curve point whose torsion component has order 1 - z.
func (s *suite[S, P]) fullOrder(t *testing.T) P {
	t.Helper()
search:
	for x := int64(1); ; x++ {
		q, ok := s.onCurve(t, x)
		if !ok {
			continue
		}
		torsion := s.times(s.r, q)
		for _, prime := range torsionPrimes {
			part := s.times(new(big.Int).Div(oneMinusZ, big.NewInt(prime)), torsion)
			if s.IsIdentity(&part) {
				continue search
			}
		}
		return q
	}
}

func (s *suite[S, P]) testTorsion(t *testing.T) {
	product := big.NewInt(1)
	for _, prime := range torsionPrimes {
		product.Mul(product, big.NewInt(prime))
	}
	if product.Cmp(oneMinusZ) != 0 {
		t.Fatal("the factors of 1 - z are wrong")
	}
	if new(big.Int).GCD(nil, nil, oneMinusZ, s.r).Cmp(big.NewInt(1)) != 0 {
		t.Fatal("1 - z is not invertible modulo r: ClearTorsion could not be injective")
	}

	q := s.fullOrder(t)
	full := s.times(s.r, q)
	torsion := []P{full}
	for _, prime := range torsionPrimes {
		torsion = append(torsion, s.times(new(big.Int).Div(oneMinusZ, big.NewInt(prime)), full))
	}
	good := s.base("torsion")
	good2 := s.base("torsion 2")
	cleared, cleared2 := good, good2
	s.ClearTorsion(&cleared)
	s.ClearTorsion(&cleared2)
	factor := s.scalar(oneMinusZ)
	var want P
	if s.MulPoint(&want, &good, &factor); !s.EqualPoints(&cleared, &want) || s.IsIdentity(&cleared) {
		t.Error("ClearTorsion does not multiply by 1 - z on the subgroup")
	}
	if s.EqualPoints(&cleared, &cleared2) {
		t.Error("ClearTorsion is not injective on the subgroup")
	}

	for i, tor := range torsion {
		name := "order 1-z"
		if i > 0 {
			name = fmt.Sprintf("order %d", torsionPrimes[i-1])
		}
		if s.IsIdentity(&tor) {
			t.Fatalf("%s: no torsion point", name)
		}
		c := tor
		if s.ClearTorsion(&c); !s.IsIdentity(&c) {
			t.Errorf("%s: ClearTorsion does not kill the point", name)
		}
		var mixed P
		s.AddPoints(&mixed, &good, &tor)
		for what, p := range map[string]P{"torsion": tor, "mixed": mixed} {
			enc := s.AppendPoints(nil, p)
			s.refused(t, name+" "+what, s.DecodePoints(make([]P, 1), enc, group.Subgroup), "[0]", 0)
			decoded := make([]P, 1)
			if err := s.DecodePoints(decoded, enc, group.OnCurve); err != nil || !s.EqualPoints(&decoded[0], &p) {
				t.Errorf("%s %s: not accepted under OnCurve, error %v", name, what, err)
			}
		}
		if s.ClearTorsion(&mixed); !s.EqualPoints(&mixed, &cleared) {
			t.Errorf("%s: ClearTorsion of the mixed point differs from that of its subgroup part", name)
		}
		must.Do(t, s.DecodePoints(make([]P, 1), s.AppendPoints(nil, mixed), group.Subgroup), name, "a cleared point is outside the subgroup")
		// MulPoint multiplies by the integer, also here.
		var m P
		rMinus1 := new(big.Int).Sub(s.r, big.NewInt(1))
		k := s.scalar(rMinus1)
		s.MulPoint(&m, &tor, &k)
		if want := s.times(rMinus1, tor); !s.EqualPoints(&m, &want) {
			t.Errorf("%s: MulPoint is wrong outside the subgroup", name)
		}
	}

	// Sums of points with torsion equal those without, once cleared.
	all := s.terms(200)
	for _, n := range []int{1, 2, 7, 12, 64, 200} {
		points := make([]P, n)
		for i := range points {
			s.AddPoints(&points[i], &all.points[i], &torsion[(i*7)%len(torsion)])
			if i%5 == 4 {
				// Purely torsion, and often the identity in a table of multiples.
				s.SubPoints(&points[i], &points[i], &all.points[i])
			}
		}
		want := all.sums[n]
		for i := range points {
			if i%5 == 4 {
				var product P
				s.SubPoints(&product, &all.sums[i+1], &all.sums[i])
				s.SubPoints(&want, &want, &product)
			}
		}
		s.ClearTorsion(&want)
		for _, ex := range executors() {
			got := must.Get(s.MSM(t.Context(), ex, points, all.scalars[:n]))(t)
			if s.ClearTorsion(&got); !s.EqualPoints(&got, &want) {
				t.Errorf("n=%d exec=%s: torsion changes the cleared sum", n, ex.Name())
			}
		}
	}
	testTorsionAccumulator(t, s, torsion)
}

// An accumulator accepts a zero sum with torsion and refuses a sum that is not
// zero, whatever torsion is added to it.
func testTorsionAccumulator[S, P any](t *testing.T, s *suite[S, P], torsion []P) {
	two := []group.Family{{Name: "g", Count: 2}}
	basis := must.Get(group.NewBasis(s.Group, two, group.TableOptions{Window: 2, Spacing: 8}))(t)
	for _, off := range []uint64{0, 1} {
		for i, tor := range torsion {
			acc := group.NewAccumulator(basis, 2)
			five, minus5 := s.ScalarFromUint64(5+off), s.ScalarFromUint64(5)
			s.Neg(&minus5, &minus5)
			acc.AddFixed(1, &five)
			var p P
			s.AddPoints(&p, &basis.Points[1], &tor)
			acc.AddPoint(&p, &minus5)
			acc.AddPoint(&tor, &five)
			zero, err := acc.IsZero(t.Context(), executor.Serial())
			if err != nil || zero != (off == 0) {
				t.Errorf("torsion %d off by %d: IsZero = %v, %v", i, off, zero, err)
			}
		}
	}
}

// Both implementations of BLS12-381 are one group: equal generators, encodings
// and sums, and equal verdicts on bytes.
func TestBLS12381ImplementationsAgree(t *testing.T) {
	a, b := group.BLS12381(), kilic.BLS12381()
	if a.Domain() != b.Domain() || a.Name() == b.Name() {
		t.Errorf("domains %s, %s and names %s, %s", a.Domain(), b.Domain(), a.Name(), b.Name())
	}
	families := []group.Family{{Name: "value", Count: 1}, {Name: "bulletproof/G", Count: 40}}
	basisA := must.Get(group.NewBasis(a, families, group.TableOptions{}))(t)
	basisB := must.Get(group.NewBasis(b, families, group.TableOptions{}))(t)
	golden.Equal(t, "generators", b.AppendPoints(nil, basisB.Points...), a.AppendPoints(nil, basisA.Points...))
	sa := &suite[fr.Element, bls12381.G1Affine]{Group: a, curve: curveBLS12381}
	sb := &suite[kilic.Scalar, kilic.Point]{Group: b, curve: curveBLS12381}
	full := sa.AppendPoints(nil, sa.fullOrder(t))
	golden.Equal(t, "encoding of a point outside the subgroup", sb.AppendPoints(nil, sb.fullOrder(t)), full)
	ta, tb := sa.terms(70), sb.terms(70)
	sumA, _ := a.MSM(t.Context(), executor.Serial(), ta.points, ta.scalars)
	sumB, _ := b.MSM(t.Context(), executor.Serial(), tb.points, tb.scalars)
	golden.Equal(t, "sums", b.AppendPoints(nil, sumB), a.AppendPoints(nil, sumA))
}
