// Package adapter implements group.Group over the curve libraries other than gnark-crypto. It
// provides the scalar field and multi-scalar multiplication; a library provides its points.
package adapter

import (
	"bytes"
	"fmt"
	"math/big"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/group/internal/integer"
	"github.com/zkbench/zkbench/group/internal/seal"
)

// Point is a point of the group: its affine coordinates, big-endian, one after the other. The zero
// value is the identity, because (0, 0) is on none of the curves. Two points of one group are
// equal if and only if == reports true for their values.
//
// The libraries represent points as mutable objects that even reading may change. This package
// builds such objects from Points inside one call and never keeps them, so the groups need no
// locks.
type Point struct {
	xy [2 * maxCoord]byte // x in [:n], y in [n:2n] with the curve's coordinate length n
}

// maxCoord is the longest coordinate in bytes, that of BLS12-381.
const maxCoord = 48

// Library gives one goroutine access to a curve library. T is the library's mutable point in
// projective coordinates. Methods only read arguments with the name "a", so several goroutines may
// share such arguments. Coordinates are x and then y, big-endian. Both coordinates of the identity
// are zero.
type Library[T any] interface {
	// Load returns a new point with the given coordinates, which must belong to the identity or a
	// point of the curve.
	Load(xy []byte) T
	// Normalise makes the points of z cheap to store and to add.
	Normalise(z []T)
	// Store writes the coordinates of z.
	Store(xy []byte, z T)
	Set(z, a T)
	Add(z, a T)
	Sub(z, a T)
	Double(z T)
}

// Curve describes a group for New.
type Curve[T any] struct {
	Name, Domain string
	Order        *big.Int
	Modulus      []byte // of the base field, big-endian; as long as a coordinate
	Open         func() Library[T]

	Encode   func(dst, x, y []byte) []byte // of a point that is not the identity
	Identity []byte                        // encoding of the identity, as long as all others
	// Parse writes the coordinates of the point that src encodes, or returns the reason why src
	// encodes none.
	Parse func(xy, src []byte, check group.PointCheck) (reason string)
	// HashToPoint writes the coordinates of the point. domain has at most 255 bytes.
	HashToPoint func(xy, domain, msg []byte) error
	Cofactor    *integer.Limbs // factor that ClearTorsion multiplies by; nil if the cofactor is one
}

// New returns the group of a curve.
func New[T any](c Curve[T]) group.Group[Scalar, Point] {
	return &adapter[T]{scalarField: newScalarField(c.Order), Curve: c}
}

// adapter implements group.Group.
type adapter[T any] struct {
	seal.Sealed
	scalarField
	Curve[T]
}

// access is a Library that converts to and from Points.
type access[T any] struct {
	Library[T]
	coordinates int // length of both coordinates in bytes
}

func (g *adapter[T]) access() access[T] {
	return access[T]{g.Open(), 2 * len(g.Modulus)}
}

func (l access[T]) load(p *Point) T     { return l.Load(p.xy[:l.coordinates]) }
func (l access[T]) store(p *Point, z T) { l.Store(p.xy[:l.coordinates], z) }

func (g *adapter[T]) Name() string    { return g.Curve.Name }
func (g *adapter[T]) Domain() string  { return g.Curve.Domain }
func (g *adapter[T]) Order() *big.Int { return new(big.Int).Set(g.Curve.Order) }
func (g *adapter[T]) ScalarLen() int  { return 32 }
func (g *adapter[T]) PointLen() int   { return len(g.Identity) }

func (g *adapter[T]) IsIdentity(p *Point) bool     { return *p == Point{} }
func (g *adapter[T]) EqualPoints(a, b *Point) bool { return *a == *b }

func (g *adapter[T]) AddPoints(z, a, b *Point) {
	l := g.access()
	sum := l.load(a)
	l.Add(sum, l.load(b))
	l.store(z, sum)
}

func (g *adapter[T]) SubPoints(z, a, b *Point) {
	l := g.access()
	difference := l.load(a)
	l.Sub(difference, l.load(b))
	l.store(z, difference)
}

// NegPoint sets y to p - y. No point has y = 0, because the groups of curve points have odd order.
func (g *adapter[T]) NegPoint(z, a *Point) {
	*z = *a
	if g.IsIdentity(a) {
		return
	}
	n := len(g.Modulus)
	borrow := 0
	for i := n - 1; i >= 0; i-- {
		d := int(g.Modulus[i]) - int(a.xy[n+i]) - borrow
		z.xy[n+i] = byte(d)
		borrow = d >> 8 & 1
	}
}

func (g *adapter[T]) MulPoint(z, a *Point, s *Scalar) {
	k := g.canonical(s)
	*z = g.multiply(a, &k)
}

// multiply returns k·p by double-and-add. It is correct on the whole curve, because the additions
// of both libraries are correct for equal, opposite and identity points.
func (g *adapter[T]) multiply(p *Point, k *integer.Limbs) (product Point) {
	l := g.access()
	acc, base := l.load(&product), l.load(p)
	for i := 255; i >= 0; i-- {
		l.Double(acc)
		if k[i/64]>>(i%64)&1 == 1 {
			l.Add(acc, base)
		}
	}
	l.store(&product, acc)
	return product
}

func (g *adapter[T]) ClearTorsion(p *Point) {
	if g.Cofactor != nil {
		*p = g.multiply(p, g.Cofactor)
	}
}

func (g *adapter[T]) AppendPoints(dst []byte, p ...Point) []byte {
	n := len(g.Modulus)
	for i := range p {
		if g.IsIdentity(&p[i]) {
			dst = append(dst, g.Identity...)
		} else {
			dst = g.Encode(dst, p[i].xy[:n], p[i].xy[n:2*n])
		}
	}
	return dst
}

func (g *adapter[T]) DecodePoints(dst []Point, src []byte, check group.PointCheck) error {
	n := g.PointLen()
	if len(src) != len(dst)*n {
		return &zkbench.DecodeError{Path: "points", Reason: fmt.Sprintf("%d bytes, want %d", len(src), len(dst)*n)}
	}
	for i := range dst {
		b := src[i*n : (i+1)*n]
		reason := "identity not allowed"
		if !bytes.Equal(b, g.Identity) {
			dst[i] = Point{}
			reason = g.Parse(dst[i].xy[:2*len(g.Modulus)], b, check)
		}
		if reason != "" {
			return &zkbench.DecodeError{Path: fmt.Sprintf("[%d]", i), Offset: i * n, Reason: reason}
		}
	}
	return nil
}

// HashToPoint returns ErrParams if domain is longer than the 255 bytes of RFC 9380, section 5.3.1:
// the libraries would truncate its length.
func (g *adapter[T]) HashToPoint(domain string, msg []byte) (p Point, err error) {
	if len(domain) > 255 {
		return p, fmt.Errorf("%w: hash-to-curve domain of %d bytes, at most 255 accepted", zkbench.ErrParams, len(domain))
	}
	err = g.Curve.HashToPoint(p.xy[:2*len(g.Modulus)], []byte(domain), msg)
	return p, err
}
