// Package fp256bn provides the 256-bit Barreto-Naehrig curve y² = x³ + 3 of ISO/IEC 15946-5. The
// curve is implemented twice, on mathlib's drivers for two libraries of Apache Milagro: AMCL and
// MIRACL.
package fp256bn

import (
	"fmt"
	"math/big"
	"sync"

	"github.com/IBM/mathlib/driver"
	"github.com/IBM/mathlib/driver/amcl"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/group/internal/adapter"
)

// Scalar and Point can be copied by assignment. Their zero values are 0 and the identity.
type (
	Scalar = adapter.Scalar
	Point  = adapter.Point
)

// AMCL returns the group implemented by mathlib's driver for AMCL, version 3.
func AMCL() group.Group[Scalar, Point] { return onAMCL() }

// Miracl returns the group implemented by mathlib's driver for MIRACL core. Its hash to the curve
// and its Domain differ from those of the group that AMCL returns.
func Miracl() group.Group[Scalar, Point] { return onMiracl() }

var (
	onAMCL = sync.OnceValue(func() group.Group[Scalar, Point] {
		return newGroup("FP256BN_AMCL", "FP256BN-AMCL", amcl.NewFp256bn())
	})
	onMiracl = sync.OnceValue(func() group.Group[Scalar, Point] {
		return newGroup("FP256BN_AMCL_MIRACL", "FP256BN-MIRACL", amcl.NewFp256Miraclbn())
	})
)

// modulusHex is the order of the base field, 36t⁴+36t³+24t²+6t+1 for the curve's
// t = -0x6882f5c030b0a801.
const modulusHex = "fffffffffffcf0cd46e5f25eee71a49f0cdc65fb12980a82d3292ddbaed33013"

const coordinateLen = 32

func newGroup(name, domain string, curve driver.Curve) group.Group[Scalar, Point] {
	p, _ := new(big.Int).SetString(modulusHex, 16)
	modulus := p.Bytes()
	return adapter.New(adapter.Curve[driver.G1]{
		Name:     name,
		Domain:   domain,
		Order:    new(big.Int).Set(curve.GroupOrder().BigInt()),
		Modulus:  modulus,
		Open:     func() adapter.Library[driver.G1] { return &library{curve: curve, tmp: curve.NewG1()} },
		Encode:   encode,
		Identity: make([]byte, 1+coordinateLen),
		Parse: func(xy, src []byte, _ group.PointCheck) string {
			return parse(curve, modulus, xy, src)
		},
		HashToPoint: func(xy, domain, msg []byte) error {
			h := recovered(func() driver.G1 { return curve.HashToG1WithDomain(msg, domain) })
			if h == nil {
				return fmt.Errorf("%w: hash to curve failed", zkbench.ErrParams)
			}
			store(xy, h)
			return nil
		},
	})
}

// library serves both versions through mathlib's driver interface. Add uses the complete formulas
// of Renes, Costello and Batina (2015/1060), so it can double too. Add and Clone only read their
// argument. The other methods reduce or normalise even points that they only inspect.
type library struct {
	curve driver.Curve
	tmp   driver.G1
}

func (l *library) Load(xy []byte) driver.G1 {
	if [2 * coordinateLen]byte(xy) == [2 * coordinateLen]byte{} {
		return l.curve.NewG1()
	}
	z := l.curve.NewG1FromBytes(append([]byte{4}, xy...))
	if z.IsInfinity() {
		panic("fp256bn: point of another curve") // the type holds no others
	}
	return z
}

// Normalise does nothing: the formulas have no shorter case for z = 1.
func (l *library) Normalise([]driver.G1) {}

func (l *library) Store(xy []byte, z driver.G1) { store(xy, z) }

func store(xy []byte, z driver.G1) {
	if z.IsInfinity() {
		clear(xy)
	} else {
		copy(xy, z.Bytes()[1:]) // 0x04 || x || y
	}
}

func (l *library) Set(z, a driver.G1) { z.Clone(a) }
func (l *library) Add(z, a driver.G1) { z.Add(a) }
func (l *library) Sub(z, a driver.G1) { z.Sub(a) }

func (l *library) Double(z driver.G1) {
	l.tmp.Clone(z)
	z.Add(l.tmp)
}

// encode appends the compressed form of SEC 1, section 2.3.3. Only the identity differs: here it
// has the same length as all other points.
func encode(dst, x, y []byte) []byte {
	return append(append(dst, 2|y[len(y)-1]&1), x...)
}

func parse(curve driver.Curve, modulus, xy, src []byte) (reason string) {
	if src[0] != 2 && src[0] != 3 {
		return "not a compressed point"
	}
	if string(src[1:]) >= string(modulus) {
		return "point coordinate not below the field modulus"
	}
	z := recovered(func() driver.G1 { return curve.NewG1FromCompressed(src) })
	if z == nil || z.IsInfinity() {
		return "point not on the curve"
	}
	store(xy, z)
	return ""
}

// recovered returns nil if the driver panics, which is how it reports bad input.
func recovered(f func() driver.G1) (z driver.G1) {
	defer func() {
		if recover() != nil {
			z = nil
		}
	}()
	return f()
}
