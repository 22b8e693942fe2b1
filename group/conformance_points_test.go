package group_test

import (
	"bytes"
	"errors"
	"fmt"
	"math/big"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/group/kilic"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// point is an affine point of the textbook curve; nil is the identity.
type point struct{ x, y *big.Int }

// add returns a + b by the chord-and-tangent law.
func (c *curve) add(a, b *point) *point {
	mod := func(v *big.Int) *big.Int { return v.Mod(v, c.p) }
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	num, den := new(big.Int).Sub(b.y, a.y), new(big.Int).Sub(b.x, a.x)
	if den.Sign() == 0 {
		if mod(new(big.Int).Add(a.y, b.y)).Sign() == 0 {
			return nil
		}
		num.Mul(a.x, a.x).Mul(num, big.NewInt(3))
		den.Lsh(a.y, 1)
	}
	slope := mod(num.Mul(num, den.ModInverse(mod(den), c.p)))
	x := new(big.Int).Mul(slope, slope)
	x = mod(x.Sub(x, a.x).Sub(x, b.x))
	y := new(big.Int).Sub(a.x, x)
	return &point{x, mod(y.Mul(y, slope).Sub(y, a.y))}
}

// lift returns the point with the given x and the smaller y, or nil.
func (c *curve) lift(x *big.Int) *point {
	y2 := new(big.Int).Exp(x, big.NewInt(3), c.p)
	y := new(big.Int).ModSqrt(y2.Mod(y2.Add(y2, big.NewInt(c.b)), c.p), c.p)
	if y == nil {
		return nil
	}
	if other := new(big.Int).Sub(c.p, y); other.Cmp(y) < 0 {
		y = other
	}
	return &point{x, y}
}

// encode writes the compressed form from its definition.
func (c *curve) encode(a *point) []byte {
	n := (c.p.BitLen() + 7) / 8
	larger := a != nil && new(big.Int).Lsh(a.y, 1).Cmp(c.p) > 0
	switch c.form {
	case sec1:
		if a == nil {
			return make([]byte, n+1)
		}
		return append([]byte{2 + byte(a.y.Bit(0))}, a.x.FillBytes(make([]byte, n))...)
	case zcash, gnark:
		flags := map[form][3]byte{zcash: {0x80, 0xa0, 0xc0}, gnark: {0x80, 0xc0, 0x40}}[c.form]
		b := make([]byte, n)
		switch {
		case a == nil:
			b[0] = flags[2]
		case larger:
			a.x.FillBytes(b)
			b[0] |= flags[1]
		default:
			a.x.FillBytes(b)
			b[0] |= flags[0]
		}
		return b
	}
	panic("unknown form")
}

// base returns a point of prime order with no known relation to the others.
func (s *suite[S, P]) base(name string) P {
	p, err := group.Generator(s.Group, name, 0)
	if err != nil {
		panic(err)
	}
	return p
}

// affine reads a point back from its encoding.
func (s *suite[S, P]) affine(p *P) *point {
	if s.IsIdentity(p) {
		return nil
	}
	enc := s.AppendPoints(nil, *p)
	x := bytes.Clone(enc)
	switch s.form {
	case sec1:
		x = x[1:]
	case zcash:
		x[0] &= 0x1f
	case gnark:
		x[0] &= 0x3f
	}
	a := s.lift(new(big.Int).SetBytes(x))
	if a != nil && !bytes.Equal(s.encode(a), enc) {
		a.y.Sub(s.p, a.y)
	}
	return a
}

func (s *suite[S, P]) testReferenceCurve(t *testing.T) {
	base := s.base("reference")
	if s.affine(&base) == nil {
		t.Fatal("a generator is not on the curve")
	}
	// Small multiples and their negatives: every pair meets the doubling,
	// opposite and identity cases of the addition formulas.
	var points []P
	var want []*point
	for k := -3; k <= 4; k++ {
		var p P
		abs := s.ScalarFromUint64(uint64(max(k, -k)))
		s.MulPoint(&p, &base, &abs)
		var w *point
		for range max(k, -k) {
			w = s.add(w, s.affine(&base))
		}
		if k < 0 {
			s.NegPoint(&p, &p)
			w = &point{w.x, new(big.Int).Sub(s.p, w.y)}
		}
		if !bytes.Equal(s.AppendPoints(nil, p), s.encode(w)) {
			t.Fatalf("%d·P differs from the reference", k)
		}
		points, want = append(points, p), append(want, w)
	}
	for i := range points {
		for j := range points {
			var sum P
			s.AddPoints(&sum, &points[i], &points[j])
			if !bytes.Equal(s.AppendPoints(nil, sum), s.encode(s.add(want[i], want[j]))) {
				t.Errorf("%d·P + %d·P differs from the reference", i-3, j-3)
			}
			if s.EqualPoints(&points[i], &points[j]) != (i == j) {
				t.Errorf("EqualPoints(%d·P, %d·P) is wrong", i-3, j-3)
			}
		}
	}
}

func (s *suite[S, P]) testGroupLaws(t *testing.T) {
	var identity P
	if !s.IsIdentity(&identity) {
		t.Fatal("the zero value is not the identity")
	}
	base := s.base("laws")
	draw := rapid.Custom(func(t *rapid.T) *big.Int {
		return rapid.OneOf(rapid.SampledFrom(s.edges()[:5]), s.anyScalar()).Draw(t, "multiple")
	})
	rapid.Check(t, func(t *rapid.T) {
		av, bv := draw.Draw(t, "a"), draw.Draw(t, "b")
		a, b := s.scalar(av), s.scalar(bv)
		var p, q, sum, diff P
		s.MulPoint(&p, &base, &a)
		s.MulPoint(&q, &base, &b)
		if s.IsIdentity(&p) != (av.Sign() == 0) || s.EqualPoints(&p, &q) != (av.Cmp(bv) == 0) {
			t.Fatal("IsIdentity or EqualPoints is wrong")
		}
		s.AddPoints(&sum, &p, &q)
		s.SubPoints(&diff, &p, &q)
		equal := func(what string, got P, multiple *big.Int) {
			m := s.scalar(multiple)
			var want P
			s.MulPoint(&want, &base, &m)
			if !s.EqualPoints(&got, &want) {
				t.Fatalf("%s is wrong for a=%x b=%x", what, av, bv)
			}
		}
		equal("aP+bP", sum, new(big.Int).Add(av, bv))
		equal("aP-bP", diff, new(big.Int).Sub(av, bv))
		var negative, ab, z P
		s.NegPoint(&negative, &p)
		equal("-aP", negative, new(big.Int).Neg(av))
		s.MulPoint(&ab, &p, &b)
		equal("b(aP)", ab, new(big.Int).Mul(av, bv))

		// Destinations alias operands, and copies keep their value.
		z, kept := p, p
		s.AddPoints(&z, &z, &q)
		if !s.EqualPoints(&z, &sum) || !s.EqualPoints(&kept, &p) {
			t.Fatal("AddPoints where z is a")
		}
		z = q
		if s.AddPoints(&z, &p, &z); !s.EqualPoints(&z, &sum) {
			t.Fatal("AddPoints where z is b")
		}
		z = q
		if s.SubPoints(&z, &p, &z); !s.EqualPoints(&z, &diff) {
			t.Fatal("SubPoints where z is b")
		}
		z = p
		if s.NegPoint(&z, &z); !s.EqualPoints(&z, &negative) {
			t.Fatal("NegPoint in place")
		}
		z = p
		if s.MulPoint(&z, &z, &b); !s.EqualPoints(&z, &ab) {
			t.Fatal("MulPoint in place")
		}
		z = p
		s.AddPoints(&z, &z, &z)
		equal("aP+aP in place", z, new(big.Int).Lsh(av, 1))
		if s.AddPoints(&z, &p, &negative); !s.IsIdentity(&z) {
			t.Fatal("aP + -aP is not the identity")
		}
	})
}

func (s *suite[S, P]) testPointEncoding(t *testing.T) {
	base := s.base("encoding")
	const n = 19 // more than two batches of eight
	points := make([]P, n)
	points[0] = base
	for i := 1; i < n; i++ {
		s.AddPoints(&points[i], &points[i-1], &base)
		if i%3 == 0 {
			s.NegPoint(&points[i], &points[i])
		}
	}
	encoded := s.AppendPoints(nil, points...)
	for i := range points {
		want := s.encode(s.affine(&points[i]))
		golden.Equal(t, fmt.Sprintf("encoding of point %d", i), want, encoded[i*len(want):(i+1)*len(want)])
	}
	for _, check := range []group.PointCheck{group.Subgroup, group.OnCurve} {
		for _, m := range []int{0, 1, 7, 8, 9, n} {
			decoded := make([]P, m)
			if err := s.DecodePoints(decoded, encoded[:m*s.PointLen()], check); err != nil {
				t.Fatalf("decoding %d points: %v", m, err)
			}
			for i := range decoded {
				if !s.EqualPoints(&decoded[i], &points[i]) {
					t.Errorf("point %d of %d decodes to another", i, m)
				}
			}
		}
	}
	if got := s.AppendPoints([]byte("prefix"), base); string(got[:6]) != "prefix" || len(got) != 6+s.PointLen() {
		t.Error("AppendPoints does not append")
	}
}

func (s *suite[S, P]) testPointRefusals(t *testing.T) {
	base := s.base("refusals")
	good := s.AppendPoints(nil, base)
	n := s.PointLen()
	var identity P
	identityEncoding := s.AppendPoints(nil, identity)
	golden.Equal(t, "encoding of the identity", s.encode(nil), identityEncoding)

	bad := map[string][]byte{
		"identity": identityEncoding,
		"zeros":    make([]byte, n),
		"ones":     bytes.Repeat([]byte{0xff}, n),
	}
	// x without a point, and x of a point plus p where that fits.
	notOnCurve, onCurve := 0, 0
	for v := int64(0); notOnCurve < 3 || onCurve < 3; v++ {
		x := big.NewInt(v)
		if a := s.lift(x); a == nil {
			bad[fmt.Sprintf("not on the curve x=%d", v)] = s.encode(&point{x, new(big.Int)})
			notOnCurve++
		} else {
			if over := new(big.Int).Add(x, s.p); over.BitLen() <= s.p.BitLen() {
				bad[fmt.Sprintf("x=p+%d", v)] = s.encode(&point{over, a.y})
			}
			onCurve++
		}
	}
	bad["x=p"] = s.encode(&point{s.p, new(big.Int)})
	// Every other value of the bits that are not x.
	mask := map[form]byte{sec1: 0xff, zcash: 0xe0, gnark: 0xc0}[s.form]
	other := bytes.Clone(good)
	var negative P
	s.NegPoint(&negative, &base)
	minus := s.AppendPoints(nil, negative)
	for flags := 0; flags < 256; flags++ {
		f := byte(flags)
		if s.form == sec1 && flags%testsize.Pick(7, 1, 1) != 0 { // a sample of the many
			continue
		}
		if f&^mask != 0 || f == good[0]&mask || f == minus[0]&mask {
			continue
		}
		other[0] = good[0]&^mask | f
		bad[fmt.Sprintf("flags=%02x", f)] = bytes.Clone(other)
		withIdentity := bytes.Clone(identityEncoding)
		if withIdentity[n-1] = 1; f == identityEncoding[0] {
			bad["identity with a coordinate"] = withIdentity
		}
	}
	for name, b := range bad {
		for _, check := range []group.PointCheck{group.Subgroup, group.OnCurve} {
			s.refused(t, name, s.DecodePoints(make([]P, 1), b, check), "[0]", 0)
			many := bytes.Repeat(good, 10)
			copy(many[9*n:], b)
			s.refused(t, name+" as the tenth", s.DecodePoints(make([]P, 10), many, check), "[9]", 9*n)
		}
	}
	for _, m := range []int{0, 1, n - 1, n + 1, 2*n - 1, 2*n + 1, 3 * n} {
		src := bytes.Repeat(good, 3)[:m]
		s.refused(t, fmt.Sprintf("length=%d", m), s.DecodePoints(make([]P, 2), src, group.Subgroup), "points", 0)
	}
	// Two encodings with one x are the two points with it.
	var decoded [2]P
	must.Do(t, s.DecodePoints(decoded[:], append(bytes.Clone(good), minus...), group.Subgroup))
	if s.EqualPoints(&decoded[0], &decoded[1]) || !s.EqualPoints(&decoded[1], &negative) {
		t.Error("the sign of y is lost")
	}
}

func (s *suite[S, P]) testHashToPoint(t *testing.T) {
	seen := map[string]string{}
	rMinus1 := s.scalar(new(big.Int).Sub(s.r, big.NewInt(1)))
	for _, domain := range []string{group.GeneratorDomain(s.Domain()), "another domain"} {
		for _, msg := range []string{"", "a", "b", string(make([]byte, 300))} {
			p := must.Get(s.HashToPoint(domain, []byte(msg)))(t)
			again, _ := s.HashToPoint(domain, []byte(msg))
			if !s.EqualPoints(&p, &again) {
				t.Error("hashing is not deterministic")
			}
			name := fmt.Sprintf("domain=%q msg=%.5q", domain, msg)
			enc := string(s.AppendPoints(nil, p))
			if other, dup := seen[enc]; dup || s.IsIdentity(&p) {
				t.Errorf("%s hashes to the identity or to the point of %s", name, other)
			}
			seen[enc] = name
			must.Do(t, s.DecodePoints(make([]P, 1), []byte(enc), group.Subgroup), name)
			// r·p = O, exactly.
			var q P
			s.MulPoint(&q, &p, &rMinus1)
			if s.AddPoints(&q, &q, &p); !s.IsIdentity(&q) {
				t.Errorf("%s: the point is not of order r", name)
			}
		}
	}
	for _, n := range []int{0, 1, 255, 256, 1000} {
		p, err := s.HashToPoint(string(make([]byte, n)), []byte("m"))
		switch {
		case n > 255 && !errors.Is(err, zkbench.ErrParams):
			t.Errorf("domain of %d bytes: %v, want ErrParams", n, err)
		case n <= 255 && (err != nil || s.IsIdentity(&p)):
			t.Errorf("domain of %d bytes: identity or error %v", n, err)
		}
	}
}

func (s *suite[S, P]) testNoTorsion(t *testing.T) {
	p := s.base("torsion")
	q := p
	if s.ClearTorsion(&q); !s.EqualPoints(&p, &q) {
		t.Error("ClearTorsion changes a point where the cofactor is one")
	}
}

// One set of points and one table, used by many goroutines: the libraries under
// some groups change points that they read.
func (s *suite[S, P]) testConcurrentUse(t *testing.T) {
	rng := random()
	points, scalars := make([]P, 20), make([]S, 20)
	for i := range points {
		points[i] = s.base(fmt.Sprint("concurrent", i))
		scalars[i] = s.randomScalar(rng)
	}
	s.AddPoints(&points[0], &points[0], &points[1]) // not fresh from a decoder
	table := must.Get(s.NewTable(points, group.TableOptions{Window: 3, Spacing: 40}))(t)
	work := func() (string, error) {
		sum, err := s.MSM(t.Context(), executor.Pool(), points, scalars)
		if err != nil {
			return "", err
		}
		fixed := make([]P, 2)
		if err := table.MSM(t.Context(), executor.Pool(), fixed, [][]S{scalars, scalars[:3]}); err != nil {
			return "", err
		}
		s.SubPoints(&fixed[1], &points[0], &fixed[1])
		s.NegPoint(&sum, &sum)
		s.ClearTorsion(&sum)
		decoded := make([]P, len(points))
		if err := s.DecodePoints(decoded, s.AppendPoints(nil, points...), group.OnCurve); err != nil {
			return "", err
		}
		return fmt.Sprintf("%x", s.AppendPoints(nil, append(decoded, sum, fixed[0], fixed[1])...)), nil
	}
	want := must.Get(work())(t)
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for range testsize.Pick(1, 3, 3) {
				if got, err := work(); err != nil || got != want {
					t.Errorf("a concurrent run gives another result, error %v", err)
				}
			}
		})
	}
	wg.Wait()
}

// RFC 9380, appendix J.9.1, suite BLS12381G1_XMD:SHA-256_SSWU_RO_, empty message.
func TestBLS12381HashVector(t *testing.T) {
	const (
		dst = "QUUX-V01-CS02-with-BLS12381G1_XMD:SHA-256_SSWU_RO_"
		x   = "052926add2207b76ca4fa57a8734416c8dc95e24501772c814278700eed6d1e4e8cf62d9c09db0fac349612b759e79a1"
		y   = "08ba738453bfed09cb546dbb0783dbb3a5f1f566ed67bb6be0e8c67e2e81a4cc68ee29813bb7994998f3eae0c9c6a265"
	)
	want := curveBLS12381.encode(&point{hexInt(x), hexInt(y)})
	onGnark := must.Get(group.BLS12381().HashToPoint(dst, nil))(t)
	golden.Equal(t, "hash by BLS12381", want, group.BLS12381().AppendPoints(nil, onGnark))
	onKilic := must.Get(kilic.BLS12381().HashToPoint(dst, nil))(t)
	golden.Equal(t, "hash by BLS12381Kilic", want, kilic.BLS12381().AppendPoints(nil, onKilic))
}
