package group

import (
	"fmt"
	"sync"

	"github.com/consensys/gnark-crypto/ecc/bls12-381/fp"
	kilic "github.com/kilic/bls12-381"
	"github.com/zkbench/zkbench"
)

// BLS12381Kilic returns the group G1 of BLS12-381 on github.com/kilic/bls12-381,
// the library behind the mathlib curve BLS12_381_BBS. mathlib's own interface
// has no way to a curve point outside the subgroup, which DecodePoints must
// accept where the caller asks for OnCurve, so the library is used directly.
func BLS12381Kilic() Group[AdapterScalar, AdapterPoint] { return kilicGroup() }

var kilicGroup = sync.OnceValue(func() Group[AdapterScalar, AdapterPoint] {
	order := kilic.NewG1().Q()
	return &adapter[*kilic.PointG1]{
		scalarField: newScalarField(order),
		name:        "BLS12_381_BBS",
		domain:      "BLS12-381",
		order:       order,
		modulus:     fp.Modulus().Bytes(),
		open:        func() library[*kilic.PointG1] { return kilicLibrary{kilic.NewG1()} },
		pointLen:    maxCoord,
		encode:      encodeBLS12381,
		identity:    append([]byte{0xc0}, make([]byte, maxCoord-1)...),
		parse:       parseKilic,
		hashToPoint: hashKilic,
		cofactor:    &limbs{clearBLS12},
	}
})

// kilicLibrary owns the temporaries of the library's formulas.
type kilicLibrary struct{ g *kilic.G1 }

func (l kilicLibrary) load(p *AdapterPoint) *kilic.PointG1 {
	z, err := l.g.FromBytes(p.xy[:2*maxCoord])
	if err != nil {
		panic("group: point of another curve") // the type holds no others
	}
	return z
}

// normalise makes Add choose its shorter formula for affine points.
func (l kilicLibrary) normalise(z []*kilic.PointG1) { l.g.AffineBatch(z) }

func (l kilicLibrary) store(p *AdapterPoint, z *kilic.PointG1) { copy(p.xy[:], l.g.ToBytes(z)) }

func (l kilicLibrary) set(z, a *kilic.PointG1) { z.Set(a) }
func (l kilicLibrary) add(z, a *kilic.PointG1) { l.g.Add(z, z, a) }
func (l kilicLibrary) sub(z, a *kilic.PointG1) { l.g.Sub(z, z, a) }
func (l kilicLibrary) double(z *kilic.PointG1) { l.g.Double(z, z) }

// encodeBLS12381 appends the compressed form that parseBLS12381 reads.
func encodeBLS12381(dst, x, y []byte) []byte {
	var v fp.Element
	v.SetBytes(y)
	flags := byte(0b100 << 5)
	if v.LexicographicallyLargest() {
		flags = 0b101 << 5
	}
	return append(append(dst, x[0]|flags), x[1:]...)
}

// parseKilic recovers y itself: the library's decoders always refuse points
// outside the subgroup.
func parseKilic(src []byte, check PointCheck) (p AdapterPoint, reason string) {
	xBytes := p.xy[:maxCoord]
	copy(xBytes, src)
	largest, reason := parseBLS12381(xBytes)
	if reason != "" {
		return p, reason
	}
	var x, rhs, y fp.Element
	if x.SetBytesCanonical(xBytes) != nil {
		return p, "point coordinate not below the field modulus"
	}
	rhs.Square(&x).Mul(&rhs, &x).Add(&rhs, y.SetUint64(4))
	if y.Sqrt(&rhs) == nil {
		return p, "point not on the curve"
	}
	if y.LexicographicallyLargest() != largest {
		y.Neg(&y)
	}
	yBytes := y.Bytes()
	copy(p.xy[maxCoord:], yBytes[:])
	if check == Subgroup {
		l := kilicLibrary{kilic.NewG1()}
		if !l.g.InCorrectSubgroup(l.load(&p)) {
			return p, "point outside the prime-order subgroup"
		}
	}
	return p, ""
}

// hashKilic is RFC 9380's BLS12381G1_XMD:SHA-256_SSWU_RO_.
func hashKilic(domain, msg []byte) (p AdapterPoint, err error) {
	l := kilicLibrary{kilic.NewG1()}
	h, err := l.g.HashToCurve(msg, domain)
	if err != nil {
		return p, fmt.Errorf("%w: hash to curve: %w", zkbench.ErrParams, err)
	}
	l.store(&p, h)
	return p, nil
}
