// Package kilic provides the group G1 of BLS12-381 on github.com/kilic/bls12-381, the library on
// which mathlib implements its curve BLS12_381_BBS. It uses the library directly, because
// mathlib's interface cannot decode a point of the curve outside the subgroup. DecodePoints must
// accept such points if the caller asks for group.OnCurve.
package kilic

import (
	"fmt"
	"sync"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	"github.com/kilic/bls12-381"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/group/internal/adapter"
	"github.com/zkbench/zkbench/group/internal/curve"
	"github.com/zkbench/zkbench/group/internal/integer"
)

// Scalar and Point can be copied by assignment. Their zero values are 0 and the identity.
type (
	Scalar = adapter.Scalar
	Point  = adapter.Point
)

// BLS12381 returns the same group as group.BLS12381: generators, encodings and Domain are equal.
func BLS12381() group.Group[Scalar, Point] { return g1() }

const coordinateLen = 48

var g1 = sync.OnceValue(func() group.Group[Scalar, Point] {
	return adapter.New(adapter.Curve[*bls12381.PointG1]{
		Name:        "BLS12_381_BBS",
		Domain:      "BLS12-381",
		Order:       bls12381.NewG1().Q(),
		Modulus:     fp.Modulus().Bytes(),
		Open:        func() adapter.Library[*bls12381.PointG1] { return library{bls12381.NewG1()} },
		Encode:      encode,
		Identity:    append([]byte{0xc0}, make([]byte, coordinateLen-1)...),
		Parse:       parse,
		HashToPoint: hashToPoint,
		Cofactor:    &integer.Limbs{curve.ClearBLS12381},
	})
})

// library adapts kilic's G1, which owns the temporaries of its formulas.
type library struct{ g *bls12381.G1 }

func (l library) Load(xy []byte) *bls12381.PointG1 {
	z, err := l.g.FromBytes(xy)
	if err != nil {
		panic("kilic: point of another curve") // the type holds no others
	}
	return z
}

// Normalise makes z affine, so that Add uses its shorter formula.
func (l library) Normalise(z []*bls12381.PointG1) { l.g.AffineBatch(z) }

func (l library) Store(xy []byte, z *bls12381.PointG1) { copy(xy, l.g.ToBytes(z)) }

func (l library) Set(z, a *bls12381.PointG1) { z.Set(a) }
func (l library) Add(z, a *bls12381.PointG1) { l.g.Add(z, z, a) }
func (l library) Sub(z, a *bls12381.PointG1) { l.g.Sub(z, z, a) }
func (l library) Double(z *bls12381.PointG1) { l.g.Double(z, z) }

func encode(dst, x, y []byte) []byte {
	var v fp.Element
	v.SetBytes(y)
	dst = append(dst, x...)
	curve.BLS12381().Put(dst[len(dst)-len(x):], v.LexicographicallyLargest())
	return dst
}

// parse computes y itself, because the library's decoders always refuse points outside the
// subgroup.
func parse(xy, src []byte, check group.PointCheck) (reason string) {
	xBytes := xy[:coordinateLen]
	copy(xBytes, src)
	larger, reason := curve.BLS12381().Take(xBytes)
	if reason != "" {
		return reason
	}
	var x, rhs, y fp.Element
	if x.SetBytesCanonical(xBytes) != nil {
		return "point coordinate not below the field modulus"
	}
	rhs.Square(&x).Mul(&rhs, &x).Add(&rhs, y.SetUint64(4))
	if y.Sqrt(&rhs) == nil {
		return "point not on the curve"
	}
	if y.LexicographicallyLargest() != larger {
		y.Neg(&y)
	}
	yBytes := y.Bytes()
	copy(xy[coordinateLen:], yBytes[:])
	if check == group.Subgroup {
		l := library{bls12381.NewG1()}
		if !l.g.InCorrectSubgroup(l.Load(xy)) {
			return "point outside the prime-order subgroup"
		}
	}
	return ""
}

// hashToPoint implements BLS12381G1_XMD:SHA-256_SSWU_RO_ of RFC 9380.
func hashToPoint(xy, domain, msg []byte) error {
	l := library{bls12381.NewG1()}
	h, err := l.g.HashToCurve(msg, domain)
	if err != nil {
		return fmt.Errorf("%w: hash to curve: %w", zkbench.ErrParams, err)
	}
	l.Store(xy, h)
	return nil
}
