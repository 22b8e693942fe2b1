package group_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"math/big"
	"math/rand/v2"
	"testing"

	bls12381 "github.com/consensys/gnark-crypto/ecc/bls12-381"
	blsfr "github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/consensys/gnark-crypto/ecc/bn254"
	"github.com/consensys/gnark-crypto/ecc/bn254/fr"
	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/group/fp256bn"
	"github.com/zkbench/zkbench/group/kilic"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// curve is what a test knows of a group independently: y² = x³ + b over the integers modulo p, with
// compressed points in one of two forms.
type curve struct {
	p, r *big.Int
	b    int64
	form form
}

type form int

const (
	sec1  form = iota // one byte 2 | (y mod 2), then x
	zcash             // three flag bits in x: compressed, identity, larger y
	gnark             // two flag bits in x: 10 smaller y, 11 larger y, 01 identity
)

func hexInt(s string) *big.Int {
	v, ok := new(big.Int).SetString(s, 16)
	if !ok {
		panic("bad constant " + s)
	}
	return v
}

// The moduli and orders as published: EIP-197, draft-irtf-cfrg-pairing-friendly-curves
// section 4.2.1, ISO/IEC 15946-5.
var (
	curveBN254 = curve{
		p: hexInt("30644e72e131a029b85045b68181585d97816a916871ca8d3c208c16d87cfd47"),
		r: hexInt("30644e72e131a029b85045b68181585d2833e84879b9709143e1f593f0000001"),
		b: 3, form: gnark,
	}
	curveBLS12381 = curve{
		p: hexInt("1a0111ea397fe69a4b1ba7b6434bacd764774b84f38512bf6730d2a0f6b0f6241eabfffeb153ffffb9feffffffffaaab"),
		r: hexInt("73eda753299d7d483339d80809a1d80553bda402fffe5bfeffffffff00000001"),
		b: 4, form: zcash,
	}
	curveFP256BN = curve{
		p: hexInt("fffffffffffcf0cd46e5f25eee71a49f0cdc65fb12980a82d3292ddbaed33013"),
		r: hexInt("fffffffffffcf0cd46e5f25eee71a49e0cdc65fb1299921af62d536cd10b500d"),
		b: 3, form: sec1,
	}
)

func TestConformance(t *testing.T) {
	t.Parallel()
	t.Run("group=BN254", func(t *testing.T) { conformance(t, group.BN254(), curveBN254) })
	t.Run("group=BLS12_381_BBS_GURVY", func(t *testing.T) { conformance(t, group.BLS12381(), curveBLS12381) })
	t.Run("group=BLS12_381_BBS", func(t *testing.T) { conformance(t, kilic.BLS12381(), curveBLS12381) })
	t.Run("group=FP256BN_AMCL", func(t *testing.T) { conformance(t, fp256bn.AMCL(), curveFP256BN) })
	t.Run("group=FP256BN_AMCL_MIRACL", func(t *testing.T) { conformance(t, fp256bn.Miracl(), curveFP256BN) })
}

// TestSerialStartsNoGoroutine is not parallel: the others start some.
func TestSerialStartsNoGoroutine(t *testing.T) {
	t.Run("group=BN254", (&suite[fr.Element, bn254.G1Affine]{Group: group.BN254(), curve: curveBN254}).testSerialStartsNoGoroutine)
	t.Run("group=BLS12_381_BBS_GURVY", (&suite[blsfr.Element, bls12381.G1Affine]{Group: group.BLS12381(), curve: curveBLS12381}).testSerialStartsNoGoroutine)
	for _, g := range []group.Group[kilic.Scalar, kilic.Point]{kilic.BLS12381(), fp256bn.AMCL(), fp256bn.Miracl()} {
		c := curveFP256BN
		if g.Name() == kilic.BLS12381().Name() {
			c = curveBLS12381
		}
		t.Run("group="+g.Name(), (&suite[kilic.Scalar, kilic.Point]{Group: g, curve: c}).testSerialStartsNoGoroutine)
	}
}

// conformance checks the rest of what the Group interface promises.
func conformance[S, P any](t *testing.T, g group.Group[S, P], c curve) {
	t.Parallel()
	s := &suite[S, P]{Group: g, curve: c}
	s.all = s.terms(testsize.Pick(130, 330, 330))
	t.Run("identity", s.testNames)
	t.Run("field", s.testField)
	t.Run("vectors", s.testVectors)
	t.Run("wide", s.testWide)
	t.Run("scalar encoding", s.testScalarEncoding)
	t.Run("point encoding", s.testPointEncoding)
	t.Run("point refusals", s.testPointRefusals)
	t.Run("group laws", s.testGroupLaws)
	t.Run("reference curve", s.testReferenceCurve)
	t.Run("hash to point", s.testHashToPoint)
	t.Run("MSM", s.testMSM)
	t.Run("lengths", s.testLengths)
	t.Run("table", s.testTable)
	t.Run("cancelling", s.testCancelling)
	t.Run("table options", s.testTableOptions)
	t.Run("stored", s.testStored)
	t.Run("scratch", s.testScratch)
	t.Run("cancelled", s.testCancelled)
	t.Run("concurrent use", s.testConcurrentUse)
	if c.form == zcash {
		t.Run("torsion", s.testTorsion)
	} else {
		t.Run("no torsion", s.testNoTorsion)
	}
}

type suite[S, P any] struct {
	group.Group[S, P]
	curve
	all *terms[S, P] // what the sums and tables are tested with
}

func (s *suite[S, P]) testNames(t *testing.T) {
	if fmt.Sprintf("TestConformance/group=%s/identity", s.Name()) != t.Name() {
		t.Errorf("Name is %s in %s", s.Name(), t.Name())
	}
	if s.Order().Cmp(s.r) != 0 {
		t.Errorf("Order is %x, want %x", s.Order(), s.r)
	}
	s.Order().SetInt64(1)
	if s.Order().Cmp(s.r) != 0 {
		t.Error("Order does not return a copy")
	}
	wantLen := (s.p.BitLen() + 7) / 8
	if s.form == sec1 {
		wantLen++
	}
	if s.ScalarLen() != 32 || s.PointLen() != wantLen {
		t.Errorf("lengths %d, %d, want 32, %d", s.ScalarLen(), s.PointLen(), wantLen)
	}
}

// scalar returns v mod r, by way of the encoding.
func (s *suite[S, P]) scalar(v *big.Int) S {
	var out [1]S
	b := new(big.Int).Mod(v, s.r).FillBytes(make([]byte, 32))
	if err := s.DecodeScalars(out[:], b); err != nil {
		panic(err)
	}
	return out[0]
}

func (s *suite[S, P]) integer(a *S) *big.Int {
	return new(big.Int).SetBytes(s.AppendScalars(nil, *a))
}

func (s *suite[S, P]) scalars(vs []*big.Int) []S {
	out := make([]S, len(vs))
	for i, v := range vs {
		out[i] = s.scalar(v)
	}
	return out
}

// edges returns the integers around the ends of the field and of machine words.
func (c *curve) edges() []*big.Int {
	one := big.NewInt(1)
	out := []*big.Int{new(big.Int), one, big.NewInt(2), new(big.Int).Sub(c.r, one), new(big.Int).Sub(c.r, big.NewInt(2))}
	for _, k := range []uint{5, 63, 64, 127, 128, 192, 252, 254, 255} {
		p := new(big.Int).Lsh(one, k)
		for _, v := range []*big.Int{new(big.Int).Sub(p, one), p, new(big.Int).Add(p, one)} {
			out = append(out, v.Mod(v, c.r))
		}
	}
	return out
}

// anyScalar draws edges and uniform values.
func (c *curve) anyScalar() *rapid.Generator[*big.Int] {
	uniform := rapid.Custom(func(t *rapid.T) *big.Int {
		v := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 40, 40).Draw(t, "bytes"))
		return v.Mod(v, c.r)
	})
	return rapid.OneOf(rapid.SampledFrom(c.edges()), uniform)
}

func (s *suite[S, P]) testField(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		av, bv := s.anyScalar().Draw(t, "a"), s.anyScalar().Draw(t, "b")
		a, b := s.scalar(av), s.scalar(bv)
		check := func(op string, f func(z, a, b *S), want *big.Int) {
			want.Mod(want, s.r)
			var z S
			x, y := a, b
			f(&z, &x, &y)
			if s.integer(&z).Cmp(want) != 0 {
				t.Fatalf("%s = %x, want %x", op, s.integer(&z), want)
			}
			if !s.Equal(&x, &a) || !s.Equal(&y, &b) {
				t.Fatalf("%s changed an operand", op)
			}
			f(&x, &x, &y)
			if !s.Equal(&x, &z) {
				t.Fatalf("%s differs where z is a", op)
			}
			x = a
			f(&y, &x, &y)
			if !s.Equal(&y, &z) {
				t.Fatalf("%s differs where z is b", op)
			}
		}
		check("a+b", s.Add, new(big.Int).Add(av, bv))
		check("a-b", s.Sub, new(big.Int).Sub(av, bv))
		check("a·b", s.Mul, new(big.Int).Mul(av, bv))
		check("-a", func(z, a, _ *S) { s.Neg(z, a) }, new(big.Int).Neg(av))
		inverse := new(big.Int)
		if av.Sign() != 0 {
			inverse.ModInverse(av, s.r)
		}
		check("1/a", func(z, a, _ *S) { s.Inverse(z, a) }, inverse)
		if s.IsZero(&a) != (av.Sign() == 0) || s.Equal(&a, &b) != (av.Cmp(bv) == 0) {
			t.Fatal("IsZero or Equal is wrong")
		}
		square := a
		s.Mul(&square, &square, &square)
		if want := new(big.Int).Mul(av, av); s.integer(&square).Cmp(want.Mod(want, s.r)) != 0 {
			t.Fatal("a·a in place is wrong")
		}
	})
	var zero S
	if !s.IsZero(&zero) || s.integer(&zero).Sign() != 0 {
		t.Error("the zero value is not 0")
	}
	for _, v := range []uint64{0, 1, 2, 1 << 32, 1<<63 + 5, ^uint64(0)} {
		if x := s.ScalarFromUint64(v); s.integer(&x).Cmp(new(big.Int).SetUint64(v)) != 0 {
			t.Errorf("ScalarFromUint64(%d) = %x", v, s.integer(&x))
		}
	}
}

func (s *suite[S, P]) testVectors(t *testing.T) {
	lengths := rapid.OneOf(rapid.IntRange(0, 20), rapid.SampledFrom([]int{31, 32, 33, 64, 65, 130}))
	rapid.Check(t, func(t *rapid.T) {
		n := lengths.Draw(t, "n")
		vec := func(name string) []S {
			return s.scalars(rapid.SliceOfN(s.anyScalar(), n, n).Draw(t, name))
		}
		a, b := vec("a"), vec("b")
		c := s.scalar(s.anyScalar().Draw(t, "c"))
		same := func(op string, got, want []S) {
			for i := range want {
				if !s.Equal(&got[i], &want[i]) {
					t.Fatalf("%s[%d] of %d = %x, want %x", op, i, n, s.integer(&got[i]), s.integer(&want[i]))
				}
			}
		}
		clone := func(v []S) []S { return append([]S(nil), v...) }
		for op, fs := range map[string]struct {
			vec func(z, a, b []S)
			one func(z, a, b *S)
		}{
			"AddVec": {s.AddVec, s.Add}, "SubVec": {s.SubVec, s.Sub}, "MulVec": {s.MulVec, s.Mul},
			"ScaleVec": {func(z, a, _ []S) { s.ScaleVec(z, a, &c) }, func(z, a, _ *S) { s.Mul(z, a, &c) }},
		} {
			want, z := make([]S, n), make([]S, n)
			for i := range want {
				fs.one(&want[i], &a[i], &b[i])
			}
			fs.vec(z, a, b)
			same(op, z, want)
			z = clone(a)
			fs.vec(z, z, b)
			same(op+" where z is a", z, want)
			if op != "ScaleVec" {
				z = clone(b)
				fs.vec(z, a, z)
				same(op+" where z is b", z, want)
			}
		}

		var sum, product S
		for i := range a {
			s.Mul(&product, &a[i], &b[i])
			s.Add(&sum, &sum, &product)
		}
		if got := s.InnerProduct(a, b); !s.Equal(&got, &sum) {
			t.Fatalf("InnerProduct of %d is %x, want %x", n, s.integer(&got), s.integer(&sum))
		}

		powers, want := make([]S, n), make([]S, n)
		s.Powers(powers, &c)
		power := s.ScalarFromUint64(1)
		for i := range want {
			want[i] = power
			s.Mul(&power, &power, &c)
		}
		same("Powers", powers, want)

		inverses := clone(a)
		s.BatchInvert(inverses)
		for i := range want {
			s.Inverse(&want[i], &a[i])
		}
		same("BatchInvert", inverses, want)

		m := rapid.IntRange(0, n).Draw(t, "len(hi)")
		for i := range want {
			want[i] = a[i]
			if i < m {
				s.Mul(&product, &b[i], &c)
				s.Add(&want[i], &want[i], &product)
			}
		}
		folded := make([]S, n)
		s.Fold(folded, a, b[:m], &c)
		same("Fold", folded, want)
		folded = clone(a)
		s.Fold(folded, folded, b[:m], &c)
		same("Fold where z is lo", folded, want)
	})

	one, two := make([]S, 1), make([]S, 2)
	for op, f := range map[string]func(){
		"AddVec":       func() { s.AddVec(two, two, one) },
		"SubVec":       func() { s.SubVec(two, one, two) },
		"MulVec":       func() { s.MulVec(one, two, two) },
		"ScaleVec":     func() { s.ScaleVec(one, two, &one[0]) },
		"InnerProduct": func() { s.InnerProduct(one, two) },
		"Fold":         func() { s.Fold(one, one, two, &one[0]) },
		"Fold lo":      func() { s.Fold(two, one, one, &one[0]) },
	} {
		if !panics(f) {
			t.Errorf("%s of different lengths does not panic", op)
		}
	}
}

func panics(f func()) (panicked bool) {
	defer func() { panicked = recover() != nil }()
	f()
	return false
}

func (s *suite[S, P]) testWide(t *testing.T) {
	check := func(wide []byte) {
		t.Helper()
		want := new(big.Int).SetBytes(wide)
		want.Mod(want, s.r)
		if got := s.ScalarFromWide(wide); s.integer(&got).Cmp(want) != 0 {
			t.Errorf("ScalarFromWide(%x) = %x, want %x", wide, s.integer(&got), want)
		}
	}
	check(make([]byte, group.WideLen))
	check(bytes.Repeat([]byte{0xff}, group.WideLen))
	for bit := range 8 * group.WideLen {
		v := new(big.Int).Lsh(big.NewInt(1), uint(bit))
		check(v.FillBytes(make([]byte, group.WideLen)))
	}
	top := new(big.Int).Lsh(big.NewInt(1), 8*group.WideLen)
	for _, multiple := range []*big.Int{big.NewInt(1), s.r, new(big.Int).Div(top, s.r)} {
		for d := int64(-1); d <= 1; d++ {
			v := new(big.Int).Mul(s.r, multiple)
			if v.Add(v, big.NewInt(d)).Cmp(top) < 0 {
				check(v.FillBytes(make([]byte, group.WideLen)))
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		wide := rapid.SliceOfN(rapid.Byte(), group.WideLen, group.WideLen).Draw(t, "wide")
		want := new(big.Int).SetBytes(wide)
		if got := s.ScalarFromWide(wide); s.integer(&got).Cmp(want.Mod(want, s.r)) != 0 {
			t.Fatalf("ScalarFromWide(%x) = %x, want %x", wide, s.integer(&got), want)
		}
	})
	if !panics(func() { s.ScalarFromWide(make([]byte, group.WideLen-1)) }) {
		t.Error("a short ScalarFromWide does not panic")
	}
}

func (s *suite[S, P]) testScalarEncoding(t *testing.T) {
	edges := s.edges()
	encoded := s.AppendScalars([]byte("prefix"), s.scalars(edges)...)
	want := []byte("prefix")
	for _, v := range edges {
		want = append(want, v.FillBytes(make([]byte, 32))...)
	}
	golden.Equal(t, "encoding of scalars, 32 bytes big-endian", want, encoded)
	one := big.NewInt(1)
	for name, v := range map[string]*big.Int{
		"r":       s.r,
		"r+1":     new(big.Int).Add(s.r, one),
		"2r-1":    new(big.Int).Sub(new(big.Int).Lsh(s.r, 1), one),
		"2^256-1": new(big.Int).Sub(new(big.Int).Lsh(one, 256), one),
	} {
		if v.BitLen() > 256 {
			continue
		}
		src := make([]byte, 96)
		v.FillBytes(src[64:])
		s.refused(t, name, s.DecodeScalars(make([]S, 3), src), "[2]", 64)
	}
	src := make([]byte, 65)
	for _, n := range []int{0, 31, 33, 63, 65} {
		s.refused(t, fmt.Sprintf("length=%d", n), s.DecodeScalars(make([]S, 2), src[:n]), "scalars", 0)
	}
	must.Do(t, s.DecodeScalars(nil, nil), "no scalars from no bytes")
}

// refused checks that err is a DecodeError that says where.
func (s *suite[S, P]) refused(t *testing.T, what string, err error, path string, offset int) {
	t.Helper()
	var de *zkbench.DecodeError
	if !errors.As(err, &de) || !errors.Is(err, zkbench.ErrMalformed) {
		t.Errorf("%s: %v, want a DecodeError", what, err)
		return
	}
	if de.Path != path || de.Offset != offset || de.Reason == "" {
		t.Errorf("%s: %+v, want path %s, offset %d and a reason", what, *de, path, offset)
	}
}

// random returns a source for tests that need many values; its seed is fixed.
func random() *rand.Rand { return rand.New(rand.NewPCG(1, 2)) }

func (s *suite[S, P]) randomScalar(rng *rand.Rand) S {
	var wide [group.WideLen]byte
	for i := 0; i < len(wide); i += 8 {
		binary.LittleEndian.PutUint64(wide[i:], rng.Uint64())
	}
	return s.ScalarFromWide(wide[:])
}
