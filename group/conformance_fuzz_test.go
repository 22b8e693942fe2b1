package group_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/group/fp256bn"
	"github.com/zkbench/zkbench/group/kilic"
)

// codec is a group with its types erased: decode as many values as fit and
// encode them again.
type codec struct {
	points  func(src []byte, check group.PointCheck) ([]byte, error)
	scalars func(src []byte) ([]byte, error)
	seeds   [][]byte // encoded points, good and bad
	r       []byte
}

func codecOf[S, P any](g group.Group[S, P], c curve) codec {
	s := &suite[S, P]{Group: g, curve: c}
	var identity P
	good := s.base("fuzz")
	seeds := [][]byte{
		g.AppendPoints(nil, good),
		g.AppendPoints(nil, good, good, identity),
		g.AppendPoints(nil, identity),
		make([]byte, g.PointLen()-1),
		s.encode(&point{c.p, c.r}),
		nil,
	}
	for x := int64(0); x < 6; x++ {
		if a := c.lift(hexInt("0").SetInt64(x)); a != nil {
			seeds = append(seeds, s.encode(a))
		}
	}
	return codec{
		points: func(src []byte, check group.PointCheck) ([]byte, error) {
			dst := make([]P, len(src)/g.PointLen())
			if err := g.DecodePoints(dst, src, check); err != nil {
				return nil, err
			}
			for i := range dst {
				if g.IsIdentity(&dst[i]) || s.affine(&dst[i]) == nil {
					return nil, errors.New("decoded to the identity or to no point of the curve")
				}
			}
			return g.AppendPoints(nil, dst...), nil
		},
		scalars: func(src []byte) ([]byte, error) {
			dst := make([]S, len(src)/g.ScalarLen())
			if err := g.DecodeScalars(dst, src); err != nil {
				return nil, err
			}
			return g.AppendScalars(nil, dst...), nil
		},
		seeds: seeds,
		r:     c.r.FillBytes(make([]byte, 32)),
	}
}

func codecs() []codec {
	return []codec{
		codecOf(group.BN254(), curveBN254),
		codecOf(group.BLS12381(), curveBLS12381),
		codecOf(kilic.BLS12381(), curveBLS12381),
		codecOf(fp256bn.AMCL(), curveFP256BN),
		codecOf(fp256bn.Miracl(), curveFP256BN),
	}
}

// agree checks that bytes either decode to what encodes to the same bytes, or
// are refused as malformed.
func agree(t *testing.T, src, again []byte, err error) {
	t.Helper()
	var de *zkbench.DecodeError
	switch {
	case err == nil && !bytes.Equal(src, again):
		t.Errorf("%x decodes to what encodes as %x", src, again)
	case err != nil && !errors.As(err, &de):
		t.Errorf("%x: %v, want a DecodeError", src, err)
	case err != nil && (de.Offset < 0 || de.Offset > len(src)):
		t.Errorf("offset %d of %d bytes", de.Offset, len(src))
	}
}

func FuzzDecodePoints(f *testing.F) {
	all := codecs()
	for i, c := range all {
		for _, seed := range c.seeds {
			f.Add(byte(i), true, seed)
			f.Add(byte(i), false, seed)
		}
	}
	f.Fuzz(func(t *testing.T, which byte, subgroup bool, src []byte) {
		c := all[int(which)%len(all)]
		check := group.OnCurve
		if subgroup {
			check = group.Subgroup
		}
		again, err := c.points(src, check)
		agree(t, src, again, err)
		if subgroup && err == nil {
			if _, err := c.points(src, group.OnCurve); err != nil {
				t.Errorf("%x is accepted under Subgroup and refused under OnCurve: %v", src, err)
			}
		}
	})
}

// The two implementations of BLS12-381, and of FP256BN, accept the same bytes.
func FuzzImplementationsAgree(f *testing.F) {
	all := codecs()
	for _, c := range all {
		for _, seed := range c.seeds {
			f.Add(seed)
		}
	}
	f.Fuzz(func(t *testing.T, src []byte) {
		for _, pair := range [][2]codec{{all[1], all[2]}, {all[3], all[4]}} {
			for _, check := range []group.PointCheck{group.Subgroup, group.OnCurve} {
				_, err0 := pair[0].points(src, check)
				_, err1 := pair[1].points(src, check)
				if (err0 == nil) != (err1 == nil) {
					t.Errorf("%x: %v in one implementation, %v in the other", src, err0, err1)
				}
			}
		}
	})
}

func FuzzDecodeScalars(f *testing.F) {
	all := codecs()
	for i, c := range all {
		for _, seed := range [][]byte{nil, make([]byte, 31), make([]byte, 64), c.r, bytes.Repeat([]byte{0xff}, 32)} {
			f.Add(byte(i), seed)
		}
	}
	f.Fuzz(func(t *testing.T, which byte, src []byte) {
		again, err := all[int(which)%len(all)].scalars(src)
		agree(t, src, again, err)
	})
}
