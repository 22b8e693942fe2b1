package group

import (
	"bytes"
	"fmt"
	"math/big"

	"github.com/zkbench/zkbench"
)

// AdapterPoint is a point of one of the groups that are not on gnark-crypto: its
// affine coordinates, big-endian, one after the other. The zero value is the
// identity, because (0, 0) is on none of the curves. Points of one group are
// equal exactly if they are == .
//
// The libraries underneath hold points as mutable objects that even reading may
// change. They are built from these values inside one call and never outlive
// it, so the groups need no locks.
type AdapterPoint struct {
	xy [2 * maxCoord]byte // x in [:n], y in [n:2n] with the group's coordinate length n
}

// maxCoord is the longest coordinate in bytes, that of BLS12-381.
const maxCoord = 48

// library is one goroutine's access to a curve library. T is the library's
// mutable point in projective coordinates. The arguments named a are only read,
// and may be read by several goroutines at once.
type library[T any] interface {
	// load returns a new point. The coordinates are those of a point of the
	// curve or of the identity.
	load(p *AdapterPoint) T
	// normalise makes z cheap to store and to add.
	normalise(z []T)
	store(p *AdapterPoint, z T)
	set(z, a T)
	add(z, a T)
	sub(z, a T)
	double(z T)
}

// adapter implements Group over a library. Scalars are its own, see
// AdapterScalar: the libraries' scalars are big.Ints that the callers reduce.
type adapter[T any] struct {
	scalarField
	name, domain string
	order        *big.Int
	modulus      []byte // of the base field, big-endian; as long as a coordinate
	open         func() library[T]

	pointLen int
	encode   func(dst, x, y []byte) []byte // of a point that is not the identity
	identity []byte                        // its encoding
	// parse returns the point that src encodes, or why there is none.
	parse       func(src []byte, check PointCheck) (AdapterPoint, string)
	hashToPoint func(domain, msg []byte) (AdapterPoint, error)
	cofactor    *limbs // what ClearTorsion multiplies by; nil where the cofactor is one
}

func (g *adapter[T]) Name() string    { return g.name }
func (g *adapter[T]) Domain() string  { return g.domain }
func (g *adapter[T]) Order() *big.Int { return new(big.Int).Set(g.order) }
func (g *adapter[T]) ScalarLen() int  { return 32 }
func (g *adapter[T]) PointLen() int   { return g.pointLen }

func (g *adapter[T]) IsIdentity(p *AdapterPoint) bool     { return *p == AdapterPoint{} }
func (g *adapter[T]) EqualPoints(a, b *AdapterPoint) bool { return *a == *b }

func (g *adapter[T]) AddPoints(z, a, b *AdapterPoint) {
	l := g.open()
	sum := l.load(a)
	l.add(sum, l.load(b))
	l.store(z, sum)
}

func (g *adapter[T]) SubPoints(z, a, b *AdapterPoint) {
	l := g.open()
	difference := l.load(a)
	l.sub(difference, l.load(b))
	l.store(z, difference)
}

// NegPoint sets y to p - y. No point has y = 0: the groups of curve points have
// odd order.
func (g *adapter[T]) NegPoint(z, a *AdapterPoint) {
	*z = *a
	if g.IsIdentity(a) {
		return
	}
	n := len(g.modulus)
	borrow := 0
	for i := n - 1; i >= 0; i-- {
		d := int(g.modulus[i]) - int(a.xy[n+i]) - borrow
		z.xy[n+i] = byte(d)
		borrow = d >> 8 & 1
	}
}

func (g *adapter[T]) MulPoint(z, a *AdapterPoint, s *AdapterScalar) {
	k := g.canonical(s)
	*z = g.mulLimbs(a, &k)
}

// mulLimbs returns k·p by double-and-add. The additions of both libraries are
// right for equal, opposite and identity points, so it is right on the whole
// curve.
func (g *adapter[T]) mulLimbs(p *AdapterPoint, k *limbs) (product AdapterPoint) {
	l := g.open()
	acc, base := l.load(&product), l.load(p)
	for i := 255; i >= 0; i-- {
		l.double(acc)
		if k[i/64]>>(i%64)&1 == 1 {
			l.add(acc, base)
		}
	}
	l.store(&product, acc)
	return product
}

// ClearTorsion multiplies by the integer 1 - z where the curve is BLS12-381,
// see clearBLS12.
func (g *adapter[T]) ClearTorsion(p *AdapterPoint) {
	if g.cofactor != nil {
		*p = g.mulLimbs(p, g.cofactor)
	}
}

func (g *adapter[T]) AppendPoints(dst []byte, p ...AdapterPoint) []byte {
	n := len(g.modulus)
	for i := range p {
		if g.IsIdentity(&p[i]) {
			dst = append(dst, g.identity...)
		} else {
			dst = g.encode(dst, p[i].xy[:n], p[i].xy[n:2*n])
		}
	}
	return dst
}

func (g *adapter[T]) DecodePoints(dst []AdapterPoint, src []byte, check PointCheck) error {
	if len(src) != len(dst)*g.pointLen {
		return &zkbench.DecodeError{Path: "points", Reason: fmt.Sprintf("%d bytes, want %d", len(src), len(dst)*g.pointLen)}
	}
	for i := range dst {
		b := src[i*g.pointLen : (i+1)*g.pointLen]
		reason := "identity not allowed"
		if !bytes.Equal(b, g.identity) {
			dst[i], reason = g.parse(b, check)
		}
		if reason != "" {
			return &zkbench.DecodeError{Path: fmt.Sprintf("[%d]", i), Offset: i * g.pointLen, Reason: reason}
		}
	}
	return nil
}

// HashToPoint refuses, with ErrParams, a domain longer than the 255 bytes of RFC
// 9380, section 5.3.1: the libraries would truncate its length.
func (g *adapter[T]) HashToPoint(domain string, msg []byte) (AdapterPoint, error) {
	if len(domain) > 255 {
		return AdapterPoint{}, fmt.Errorf("%w: hash-to-curve domain of %d bytes, at most 255 accepted", zkbench.ErrParams, len(domain))
	}
	return g.hashToPoint([]byte(domain), msg)
}
