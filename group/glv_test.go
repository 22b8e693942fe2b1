package group

import (
	"context"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/consensys/gnark-crypto/ecc"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group/internal/integer"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

func toBig(l *integer.Limbs) *big.Int {
	z := new(big.Int)
	for i := 3; i >= 0; i-- {
		z.Lsh(z, 64).Or(z, new(big.Int).SetUint64(l[i]))
	}
	return z
}

// TestSplit: k = k1 + λ·k2, and both halves are within halfBits, where they are
// largest: around the corners of the lattice's parallelepiped, and beside powers
// of two and fractions of the order.
func TestSplit(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		order  *big.Int
		lambda string
		glv    *glv
	}{
		{"BN254", BN254().Order(), bn254Lambda, newGLV(BN254().Order(), decimal(bn254Lambda))},
		{"BLS12-381", BLS12381().Order(), bls12381Lambda, newGLV(BLS12381().Order(), decimal(bls12381Lambda))},
	} {
		lambda := decimal(c.lambda)
		bound := new(big.Int).Lsh(big.NewInt(1), uint(c.glv.halfBits))
		largest := new(big.Int)
		try := func(k *big.Int) {
			t.Helper()
			k = new(big.Int).Mod(k, c.order)
			kl := integer.FromBig(k)
			k1, k2, neg1, neg2 := c.glv.split(&kl)
			sum := new(big.Int)
			for _, half := range []struct {
				l      integer.Limbs
				neg    bool
				weight *big.Int
			}{{k1, neg1, big.NewInt(1)}, {k2, neg2, lambda}} {
				v := toBig(&half.l)
				if v.Cmp(bound) >= 0 {
					t.Fatalf("%s: k = %v: a half of %d bits, bound %d", c.name, k, v.BitLen(), c.glv.halfBits)
				}
				if v.Cmp(largest) > 0 {
					largest.Set(v)
				}
				if half.neg {
					v.Neg(v)
				}
				sum.Add(sum, v.Mul(v, half.weight))
			}
			if sum.Mod(sum, c.order).Cmp(k) != 0 {
				t.Fatalf("%s: k = %v: the halves give another scalar", c.name, k)
			}
		}
		var l ecc.Lattice
		ecc.PrecomputeLattice(c.order, lambda, &l)
		rng := rand.New(rand.NewPCG(1, 2))
		noise := func() *big.Int {
			v := big.NewInt(rng.Int64() - rng.Int64())
			return v.Rsh(v.Lsh(v, 64), uint(rng.IntN(128)))
		}
		for s1 := int64(-2); s1 <= 2; s1++ {
			for s2 := int64(-2); s2 <= 2; s2++ {
				corner := func(i int) *big.Int {
					return new(big.Int).Add(new(big.Int).Mul(big.NewInt(s1), &l.V1[i]), new(big.Int).Mul(big.NewInt(s2), &l.V2[i]))
				}
				for range 300 {
					x, y := corner(0), corner(1)
					x.Add(x, noise())
					y.Add(y, noise())
					try(x.Add(x, y.Mul(y, lambda)))
				}
			}
		}
		for i := range 2000 {
			f := new(big.Int).Mul(c.order, big.NewInt(rng.Int64N(1<<40)))
			try(f.Rsh(f, 40).Add(f, big.NewInt(int64(i%21-10))))
		}
		for i := range uint(256) {
			for s := int64(-1); s <= 1; s++ {
				p := new(big.Int).Add(new(big.Int).Lsh(big.NewInt(1), i), big.NewInt(s))
				try(p)
				try(new(big.Int).Neg(p))
			}
		}
		if slack := c.glv.halfBits - largest.BitLen(); slack > 1 {
			t.Errorf("%s: the bound is %d bits, the largest half seen %d: the test misses the corners", c.name, c.glv.halfBits, largest.BitLen())
		}
	}
}

// TestLargeMSM sums many points, through all bucket windows up to that of 25000
// points, with scalars whose halves are as large as they get.
func TestLargeMSM(t *testing.T) {
	t.Parallel()
	testLargeMSM(t, BN254(), bn254Lambda)
	testLargeMSM(t, BLS12381(), bls12381Lambda)
}

func testLargeMSM[S, P any](t *testing.T, g Group[S, P], lambdaDigits string) {
	ctx := context.Background()
	r, lambda := g.Order(), decimal(lambdaDigits)
	var l ecc.Lattice
	ecc.PrecomputeLattice(r, lambda, &l)
	rng := rand.New(rand.NewPCG(5, 6))
	scalar := func(k *big.Int) S {
		var s [1]S
		must.Do(t, g.DecodeScalars(s[:], new(big.Int).Mod(k, r).FillBytes(make([]byte, 32))))
		return s[0]
	}
	bases := make([]P, 32)
	for i := range bases {
		bases[i] = must.Get(Generator(g, "large", uint32(i)))(t)
	}
	for _, n := range []int{81, 300, 900, 3000, 25000}[:testsize.Pick(4, 5, 5)] {
		points, scalars := make([]P, n), make([]S, n)
		sums := make([]*big.Int, len(bases))
		for i := range sums {
			sums[i] = new(big.Int)
		}
		for i := range points {
			// Near a corner of the parallelepiped: ±v1 ±v2, and a little noise.
			s1, s2 := big.NewInt(int64(rng.IntN(3)-1)), big.NewInt(int64(rng.IntN(3)-1))
			x := new(big.Int).Add(new(big.Int).Mul(s1, &l.V1[0]), new(big.Int).Mul(s2, &l.V2[0]))
			y := new(big.Int).Add(new(big.Int).Mul(s1, &l.V1[1]), new(big.Int).Mul(s2, &l.V2[1]))
			k := x.Add(x, y.Mul(y, lambda))
			k.Rsh(k, uint(rng.IntN(2)*rng.IntN(200))).Add(k, big.NewInt(rng.Int64()))
			b := rng.IntN(len(bases))
			points[i], scalars[i] = bases[b], scalar(k)
			sums[b].Add(sums[b], k)
		}
		var want P
		for b := range bases {
			var term P
			s := scalar(sums[b])
			g.MulPoint(&term, &bases[b], &s)
			g.AddPoints(&want, &want, &term)
		}
		for _, ex := range []executor.Executor{executor.Serial(), executor.Pool()} {
			got := must.Get(g.MSM(ctx, ex, points, scalars))(t)
			if !g.EqualPoints(&got, &want) {
				t.Errorf("%s n=%d exec=%s: wrong sum", g.Name(), n, ex.Name())
			}
		}
	}
}
