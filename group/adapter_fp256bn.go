package group

import (
	"fmt"
	"math/big"
	"sync"

	"github.com/IBM/mathlib/driver"
	"github.com/IBM/mathlib/driver/amcl"
	"github.com/zkbench/zkbench"
)

// FP256BN returns the 256-bit Barreto-Naehrig curve y² = x³ + 3 of ISO/IEC
// 15946-5 on mathlib's driver for AMCL, version 3.
func FP256BN() Group[AdapterScalar, AdapterPoint] { return fp256bnAMCL() }

// FP256BNMiracl returns the same curve on mathlib's driver for MIRACL core. Its
// hash to the curve differs, and so does its Domain.
func FP256BNMiracl() Group[AdapterScalar, AdapterPoint] { return fp256bnMiracl() }

var (
	fp256bnAMCL = sync.OnceValue(func() Group[AdapterScalar, AdapterPoint] {
		return newFP256BN("FP256BN_AMCL", "FP256BN-AMCL", amcl.NewFp256bn())
	})
	fp256bnMiracl = sync.OnceValue(func() Group[AdapterScalar, AdapterPoint] {
		return newFP256BN("FP256BN_AMCL_MIRACL", "FP256BN-MIRACL", amcl.NewFp256Miraclbn())
	})
)

// fp256bnModulus is the order of the base field, 36t⁴+36t³+24t²+6t+1 for the
// curve's t = -0x6882f5c030b0a801.
const fp256bnModulus = "fffffffffffcf0cd46e5f25eee71a49f0cdc65fb12980a82d3292ddbaed33013"

// fp256bnCoord is the length of a coordinate in bytes.
const fp256bnCoord = 32

func newFP256BN(name, domain string, curve driver.Curve) Group[AdapterScalar, AdapterPoint] {
	order := new(big.Int).Set(curve.GroupOrder().BigInt())
	modulus, _ := new(big.Int).SetString(fp256bnModulus, 16)
	g := &adapter[driver.G1]{
		scalarField: newScalarField(order),
		name:        name,
		domain:      domain,
		order:       order,
		modulus:     modulus.Bytes(),
		open:        func() library[driver.G1] { return &amclLibrary{curve: curve, tmp: curve.NewG1()} },
		pointLen:    1 + fp256bnCoord,
		encode:      encodeFP256BN,
		identity:    make([]byte, 1+fp256bnCoord),
	}
	g.parse = func(src []byte, _ PointCheck) (AdapterPoint, string) { return parseFP256BN(curve, g.modulus, src) }
	g.hashToPoint = func(domain, msg []byte) (AdapterPoint, error) {
		var p AdapterPoint
		h := driverPoint(func() driver.G1 { return curve.HashToG1WithDomain(msg, domain) })
		if h == nil {
			return p, fmt.Errorf("%w: hash to curve failed", zkbench.ErrParams)
		}
		storeAMCL(&p, h)
		return p, nil
	}
	return g
}

// amclLibrary serves both AMCL versions through mathlib's driver interface. Add
// has the complete formulas of Renes, Costello and Batina (2015/1060), so that
// it doubles too; it and Copy only read their argument, whereas the other
// methods reduce or normalise even what they only look at.
type amclLibrary struct {
	curve driver.Curve
	tmp   driver.G1
}

func (l *amclLibrary) load(p *AdapterPoint) driver.G1 {
	if *p == (AdapterPoint{}) {
		return l.curve.NewG1()
	}
	z := l.curve.NewG1FromBytes(append([]byte{4}, p.xy[:2*fp256bnCoord]...))
	if z.IsInfinity() {
		panic("group: point of another curve") // the type holds no others
	}
	return z
}

// normalise has nothing to gain: the formulas have no case for z = 1.
func (l *amclLibrary) normalise([]driver.G1) {}

func (l *amclLibrary) store(p *AdapterPoint, z driver.G1) { storeAMCL(p, z) }

func storeAMCL(p *AdapterPoint, z driver.G1) {
	*p = AdapterPoint{}
	if !z.IsInfinity() {
		copy(p.xy[:], z.Bytes()[1:]) // 0x04 || x || y
	}
}

func (l *amclLibrary) set(z, a driver.G1) { z.Clone(a) }
func (l *amclLibrary) add(z, a driver.G1) { z.Add(a) }
func (l *amclLibrary) sub(z, a driver.G1) { z.Sub(a) }

func (l *amclLibrary) double(z driver.G1) {
	l.tmp.Clone(z)
	z.Add(l.tmp)
}

// encodeFP256BN appends the compressed form of SEC 1, section 2.3.3, but for the
// identity, which has the length of all others here.
func encodeFP256BN(dst, x, y []byte) []byte {
	return append(append(dst, 2|y[len(y)-1]&1), x...)
}

func parseFP256BN(curve driver.Curve, modulus, src []byte) (p AdapterPoint, reason string) {
	if src[0] != 2 && src[0] != 3 {
		return p, "not a compressed point"
	}
	if string(src[1:]) >= string(modulus) {
		return p, "point coordinate not below the field modulus"
	}
	z := driverPoint(func() driver.G1 { return curve.NewG1FromCompressed(src) })
	if z == nil || z.IsInfinity() {
		return p, "point not on the curve"
	}
	storeAMCL(&p, z)
	return p, ""
}

// driverPoint returns nil where the driver panics, which is how it reports bad
// input.
func driverPoint(f func() driver.G1) (z driver.G1) {
	defer func() {
		if recover() != nil {
			z = nil
		}
	}()
	return f()
}
