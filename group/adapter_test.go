package group_test

import (
	"bytes"
	"encoding/hex"
	"errors"
	"fmt"
	"testing"

	"github.com/IBM/mathlib/driver"
	"github.com/IBM/mathlib/driver/amcl"
	gnarkbls "github.com/consensys/gnark-crypto/ecc/bls12-381"
	"github.com/consensys/gnark-crypto/ecc/bls12-381/fr"
	"github.com/google/go-cmp/cmp"
	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/group"
)

// The types of group.BLS12381.
type (
	scalarOf = fr.Element
	pointOf  = gnarkbls.G1Affine
)

func TestNames(t *testing.T) {
	want := []string{"BN254", "BLS12_381_BBS_GURVY", "BLS12_381_BBS_GURVY_FAST_RNG", "BLS12_381_BBS", "FP256BN_AMCL", "FP256BN_AMCL_MIRACL"}
	if diff := cmp.Diff(want, group.Names()); diff != "" {
		t.Errorf("Names (-want +got):\n%s", diff)
	}
	group.Names()[0] = "changed"
	if group.Names()[0] != "BN254" {
		t.Error("Names returns shared memory")
	}
	domains := []string{group.BLS12381Kilic().Domain(), group.FP256BN().Domain(), group.FP256BNMiracl().Domain()}
	if diff := cmp.Diff([]string{"BLS12-381", "FP256BN-AMCL", "FP256BN-MIRACL"}, domains); diff != "" {
		t.Errorf("Domain (-want +got):\n%s", diff)
	}
}

// RFC 9380, appendix J.9.1, suite BLS12381G1_XMD:SHA-256_SSWU_RO_, empty message.
func TestBLS12381HashVector(t *testing.T) {
	const (
		dst = "QUUX-V01-CS02-with-BLS12381G1_XMD:SHA-256_SSWU_RO_"
		x   = "052926add2207b76ca4fa57a8734416c8dc95e24501772c814278700eed6d1e4e8cf62d9c09db0fac349612b759e79a1"
		y   = "08ba738453bfed09cb546dbb0783dbb3a5f1f566ed67bb6be0e8c67e2e81a4cc68ee29813bb7994998f3eae0c9c6a265"
	)
	want := curveBLS12381.encode(&point{hexInt(x), hexInt(y)})
	native, err := group.BLS12381().HashToPoint(dst, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := group.BLS12381().AppendPoints(nil, native); !bytes.Equal(got, want) {
		t.Errorf("BLS12381 hashes to %x, want %x", got, want)
	}
	kilic, err := group.BLS12381Kilic().HashToPoint(dst, nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := group.BLS12381Kilic().AppendPoints(nil, kilic); !bytes.Equal(got, want) {
		t.Errorf("BLS12381Kilic hashes to %x, want %x", got, want)
	}
}

func TestKilicHashesLikeGnark(t *testing.T) {
	g := group.BLS12381Kilic()
	for n := range 40 {
		msg := bytes.Repeat([]byte{byte(n)}, n*n)
		dst := fmt.Sprintf("zkbench/v1/test/%0*d", n, n)
		want, err := gnarkbls.HashToG1(msg, []byte(dst))
		if err != nil {
			t.Fatal(err)
		}
		got, err := g.HashToPoint(dst, msg)
		if err != nil {
			t.Fatal(err)
		}
		wantBytes := want.Bytes()
		if gotBytes := g.AppendPoints(nil, got); !bytes.Equal(gotBytes, wantBytes[:]) {
			t.Errorf("n=%d: hashes to %x, gnark-crypto to %x", n, gotBytes, wantBytes)
		}
	}
}

func TestAdapterDomainLength(t *testing.T) {
	for _, g := range []group.Group[group.AdapterScalar, group.AdapterPoint]{group.BLS12381Kilic(), group.FP256BN(), group.FP256BNMiracl()} {
		for _, n := range []int{0, 1, 255, 256, 1000} {
			p, err := g.HashToPoint(string(make([]byte, n)), []byte("m"))
			switch {
			case n > 255 && !errors.Is(err, zkbench.ErrParams):
				t.Errorf("%s: domain of %d bytes: %v, want ErrParams", g.Name(), n, err)
			case n <= 255 && (err != nil || g.IsIdentity(&p)):
				t.Errorf("%s: domain of %d bytes: identity or error %v", g.Name(), n, err)
			}
		}
	}
}

// Both versions hash as mathlib's drivers do, and hold the same curve.
func TestFP256BNAgainstDrivers(t *testing.T) {
	groups := []group.Group[group.AdapterScalar, group.AdapterPoint]{group.FP256BN(), group.FP256BNMiracl()}
	drivers := []driver.Curve{amcl.NewFp256bn(), amcl.NewFp256Miraclbn()}
	const domain = "zkbench/v1/test"
	var generators [][]byte
	for i, g := range groups {
		for n := range 20 {
			msg := bytes.Repeat([]byte{byte(n)}, n)
			p, err := g.HashToPoint(domain, msg)
			if err != nil {
				t.Fatal(err)
			}
			enc := g.AppendPoints(nil, p)
			if want := drivers[i].HashToG1WithDomain(msg, []byte(domain)).Compressed(); !bytes.Equal(enc, want) {
				t.Errorf("%s: message %d hashes to %x, the driver to %x", g.Name(), n, enc, want)
			}
			generators = append(generators, enc)
			// The other version reads the point and multiplies it alike.
			var q [1]group.AdapterPoint
			other := groups[1-i]
			if err := other.DecodePoints(q[:], enc, group.Subgroup); err != nil || q[0] != p {
				t.Errorf("%s does not read a point of %s: %v", other.Name(), g.Name(), err)
			}
			k := g.ScalarFromUint64(uint64(1000 + n))
			g.MulPoint(&p, &p, &k)
			if other.MulPoint(&q[0], &q[0], &k); q[0] != p {
				t.Errorf("%s and %s multiply differently", other.Name(), g.Name())
			}
		}
	}
	if bytes.Equal(generators[0], generators[20]) {
		t.Error("the two versions hash to the same points: they could share a Domain")
	}
	// The curve's published generator is (1, 2).
	gen := drivers[0].GenG1().Compressed()
	if want := "02" + fmt.Sprintf("%064x", 1); hex.EncodeToString(gen) != want {
		t.Errorf("the driver's generator is %x, want %s", gen, want)
	}
}

func BenchmarkAdapter(b *testing.B) {
	for _, g := range []group.Group[group.AdapterScalar, group.AdapterPoint]{group.BLS12381Kilic(), group.FP256BN(), group.FP256BNMiracl()} {
		b.Run("curve="+g.Name(), func(b *testing.B) { benchmarkGroup(b, g) })
	}
}

func benchmarkGroup[S, P any](b *testing.B, g group.Group[S, P]) {
	s := &suite[S, P]{Group: g}
	rng := random()
	basis, err := group.NewBasis(g, []group.Family{{Name: "bench", Count: 128}}, group.TableOptions{})
	if err != nil {
		b.Fatal(err)
	}
	scalars := make([]S, basis.Len())
	for i := range scalars {
		scalars[i] = s.randomScalar(rng)
	}
	b.Run("table/n=128", func(b *testing.B) {
		b.ReportAllocs()
		dst := make([]P, 1)
		for b.Loop() {
			if err := basis.Table.MSM(b.Context(), executors()[0], dst, [][]S{scalars}); err != nil {
				b.Fatal(err)
			}
		}
	})
	for _, n := range []int{16, 128} {
		b.Run(fmt.Sprintf("msm/n=%d", n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := g.MSM(b.Context(), executors()[0], basis.Points[:n], scalars[:n]); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
	b.Run("newtable/n=128", func(b *testing.B) {
		for b.Loop() {
			if _, err := g.NewTable(basis.Points, group.TableOptions{}); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("inner/n=128", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			g.InnerProduct(scalars, scalars)
		}
	})
	encoded := g.AppendPoints(nil, basis.Points[:32]...)
	b.Run("decode/n=32", func(b *testing.B) {
		dst := make([]P, 32)
		for b.Loop() {
			if err := g.DecodePoints(dst, encoded, group.OnCurve); err != nil {
				b.Fatal(err)
			}
		}
	})
}
