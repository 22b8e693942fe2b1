package pedersen

import (
	"fmt"
	"strings"
	"testing"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254/twistededwards"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestVectors: Barretenberg's own values (testdata/hash/pedersen_grumpkin.txt says whence).
func TestVectors(t *testing.T) {
	t.Parallel()
	n := 0
	for line := range strings.Lines(golden.Read(t, "hash/pedersen_grumpkin.txt")) {
		fields := strings.Fields(line)
		if len(fields) != 3 || fields[0] == "#" {
			continue
		}
		var v [3]fr.Element
		for i := range v {
			must.Get(v[i].SetString(fields[i]))(t)
		}
		if got := Hash(&v[0], &v[1]); !got.Equal(&v[2]) {
			t.Errorf("H(%v, %v) = %v, want %v", &v[0], &v[1], &got, &v[2])
		}
		n++
	}
	if n < 6 {
		t.Errorf("%d vectors", n)
	}
}

func BenchmarkHash(b *testing.B) {
	x, y := fr.NewElement(1), fr.NewElement(2)
	x.Inverse(new(fr.Element).SetUint64(7))
	for b.Loop() {
		Hash(&x, &y)
	}
}

// TestEdwardsGenerators: on the curve, of the group's order, all different.
func TestEdwardsGenerators(t *testing.T) {
	t.Parallel()
	curve := twistededwards.GetEdwardsCurve()
	for i := range 2 * Inputs {
		p := EdwardsGenerator(i)
		multiple := p
		multiple.ScalarMultiplication(&p, &curve.Order)
		if !p.IsOnCurve() || p.IsZero() || !multiple.IsZero() {
			t.Errorf("generator %d is not of prime order", i)
		}
		for j := range i {
			if q := EdwardsGenerator(j); q.Equal(&p) {
				t.Errorf("generators %d and %d are one", i, j)
			}
		}
	}
}

// TestHashEdwards: by additions, bit by bit; and no hash repeats where an element is
// changed by the group's order, or by one.
func TestHashEdwards(t *testing.T) {
	t.Parallel()
	slow := func(a, b *fr.Element) fr.Element {
		var sum twistededwards.PointAffine
		sum.Y.SetOne()
		for i, v := range []*fr.Element{a, b} {
			bits := v.Bits()
			for k := range 254 {
				if bits[k/64]>>(k%64)&1 == 0 {
					continue
				}
				p := EdwardsGenerator(2*i + k/HalfBits)
				for range k % HalfBits {
					p.Double(&p)
				}
				sum.Add(&sum, &p)
			}
		}
		return sum.X
	}
	curve := twistededwards.GetEdwardsCurve()
	var order, minusOne, zero fr.Element
	order.SetBigInt(&curve.Order)
	minusOne.SetInt64(-1)
	random := fr.NewElement(3)
	random.Inverse(&random)
	seen := make(map[fr.Element]bool)
	values := []*fr.Element{&zero, new(fr.Element).SetOne(), &order, &minusOne, &random}
	for _, a := range values {
		for _, b := range values {
			got := HashEdwards(a, b)
			golden.Equal(t, fmt.Sprintf("H(%v, %v)", a, b), slow(a, b), got)
			if seen[got] {
				t.Errorf("H(%v, %v) is the hash of others", a, b)
			}
			seen[got] = true
		}
	}
}
