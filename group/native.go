package group

import (
	"encoding/binary"
	"fmt"
	"math/big"
	"sync"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/group/internal/integer"
)

// native implements Group on gnark-crypto's types: one text for all its curves
// y² = x³ + b with an endomorphism. S and E are elements of the scalar and base
// fields, P and J affine and Jacobian points.
type native[S comparable, E comparable, P interface{ ~struct{ X, Y E } }, J any,
	PS scalarPtr[S], PE elementPtr[E], PP pointPtr[P, J], PJ jacobianPtr[J, P]] struct {
	name, domain string
	order        *big.Int
	orderBits    int
	base         *vectorOps[E]                    // base field
	scal         *vectorOps[S]                    // scalar field
	fromWide     func(c0, c1, c2 integer.Limbs) S // c0 + 2^248·c1 + 2^496·c2
	one          S
	infinity     J

	pointLen    int
	encode      func(dst []byte, p *P) []byte
	parse       func(x []byte) (largest bool, reason string) // takes the flags off x
	sqrtWindows []uint8                                      // of (p+1)/4, 4 bits each, most significant first
	curveB      E
	primeOrder  bool
	hashToPoint func(msg, domain []byte) (P, error)

	glv  *glv
	beta E // φ(x, y) = (βx, y)

	scratch *sync.Pool // *scratch
}

// newNative fills in what follows from the curve's constants: the modulus p of
// the base field with p = 3 mod 4, b, and the eigenvalue lambda of φ.
func newNative[S comparable, E comparable, P interface{ ~struct{ X, Y E } }, J any,
	PS scalarPtr[S], PE elementPtr[E], PP pointPtr[P, J], PJ jacobianPtr[J, P]](
	g *native[S, E, P, J, PS, PE, PP, PJ], modulus, lambda, beta *big.Int, b uint64,
) *native[S, E, P, J, PS, PE, PP, PJ] {
	g.orderBits = g.order.BitLen()
	PS(&g.one).SetUint64(1)
	PJ(&g.infinity).FromAffine(new(P))
	PE(&g.curveB).SetUint64(b)
	PE(&g.beta).SetBigInt(beta)
	g.glv = newGLV(g.order, lambda)
	exp := new(big.Int).Rsh(new(big.Int).Add(modulus, big.NewInt(1)), 2)
	for i := (exp.BitLen() + 3) / 4; i > 0; i-- {
		w := uint8(0)
		for k := 3; k >= 0; k-- {
			w = w<<1 | uint8(exp.Bit(4*(i-1)+k))
		}
		g.sqrtWindows = append(g.sqrtWindows, w)
	}
	g.scratch = &sync.Pool{New: func() any { return g.newScratch() }}
	return g
}

// decimal returns a constant.
func decimal(digits string) *big.Int {
	v, ok := new(big.Int).SetString(digits, 10)
	if !ok {
		panic("group: bad constant " + digits)
	}
	return v
}

func (g *native[S, E, P, J, PS, PE, PP, PJ]) Name() string    { return g.name }
func (g *native[S, E, P, J, PS, PE, PP, PJ]) Domain() string  { return g.domain }
func (g *native[S, E, P, J, PS, PE, PP, PJ]) Order() *big.Int { return new(big.Int).Set(g.order) }
func (g *native[S, E, P, J, PS, PE, PP, PJ]) ScalarLen() int  { return 32 }
func (g *native[S, E, P, J, PS, PE, PP, PJ]) PointLen() int   { return g.pointLen }

func (g *native[S, E, P, J, PS, PE, PP, PJ]) ScalarFromUint64(v uint64) S {
	return g.fromWide(integer.Limbs{v}, integer.Limbs{}, integer.Limbs{})
}

// ScalarFromWide splits the 512 bits as c0 + 2^248·c1 + 2^496·c2, each below the
// order, so that no step reduces more than one multiplication does.
func (g *native[S, E, P, J, PS, PE, PP, PJ]) ScalarFromWide(wide []byte) S {
	if len(wide) != WideLen {
		panic("group: ScalarFromWide takes WideLen bytes")
	}
	var w [8]uint64 // least significant first
	for i := range w {
		w[i] = binary.BigEndian.Uint64(wide[WideLen-8*(i+1):])
	}
	const low56 = 1<<56 - 1
	return g.fromWide(
		integer.Limbs{w[0], w[1], w[2], w[3] & low56},
		integer.Limbs{w[3]>>56 | w[4]<<8, w[4]>>56 | w[5]<<8, w[5]>>56 | w[6]<<8, w[6]>>56 | (w[7]<<8)&low56},
		integer.Limbs{w[7] >> 48},
	)
}

func (g *native[S, E, P, J, PS, PE, PP, PJ]) Add(z, a, b *S)     { PS(z).Add(a, b) }
func (g *native[S, E, P, J, PS, PE, PP, PJ]) Sub(z, a, b *S)     { PS(z).Sub(a, b) }
func (g *native[S, E, P, J, PS, PE, PP, PJ]) Mul(z, a, b *S)     { PS(z).Mul(a, b) }
func (g *native[S, E, P, J, PS, PE, PP, PJ]) Neg(z, a *S)        { PS(z).Neg(a) }
func (g *native[S, E, P, J, PS, PE, PP, PJ]) Inverse(z, a *S)    { PS(z).Inverse(a) }
func (g *native[S, E, P, J, PS, PE, PP, PJ]) IsZero(a *S) bool   { return PS(a).IsZero() }
func (g *native[S, E, P, J, PS, PE, PP, PJ]) Equal(a, b *S) bool { return *a == *b }

func (g *native[S, E, P, J, PS, PE, PP, PJ]) AddVec(z, a, b []S)      { g.scal.add(z, a, b) }
func (g *native[S, E, P, J, PS, PE, PP, PJ]) SubVec(z, a, b []S)      { g.scal.sub(z, a, b) }
func (g *native[S, E, P, J, PS, PE, PP, PJ]) MulVec(z, a, b []S)      { g.scal.mul(z, a, b) }
func (g *native[S, E, P, J, PS, PE, PP, PJ]) ScaleVec(z, a []S, c *S) { g.scal.scale(z, a, c) }
func (g *native[S, E, P, J, PS, PE, PP, PJ]) InnerProduct(a, b []S) S { return g.scal.inner(a, b) }

// Powers doubles the known prefix with one vector scaling a step.
func (g *native[S, E, P, J, PS, PE, PP, PJ]) Powers(z []S, x *S) {
	if len(z) == 0 {
		return
	}
	step := *x // x^n for the prefix of length n
	PS(&z[0]).SetUint64(1)
	for n := 1; n < len(z); n *= 2 {
		m := min(n, len(z)-n)
		g.scal.scale(z[n:n+m], z[:m], &step)
		PS(&step).Square(&step)
	}
}

func (g *native[S, E, P, J, PS, PE, PP, PJ]) BatchInvert(z []S) {
	if len(z) == 0 {
		return
	}
	sc := g.scratch.Get().(*scratch[S, E, P, J, PE, PP])
	defer g.scratch.Put(sc)
	sc.inv = resize(sc.inv, 2*len(z)+64)
	sc.invTmp = resize(sc.invTmp, len(z)/2+1)
	var zero S
	for i := range z {
		sc.inv[i] = z[i]
		if z[i] == zero {
			sc.inv[i] = g.one
		}
	}
	invertAll[S, PS](g.scal, sc.inv, len(z), sc.invTmp, &sc.scalInv)
	for i := range z {
		if z[i] != zero {
			z[i] = sc.inv[i]
		}
	}
}

func (g *native[S, E, P, J, PS, PE, PP, PJ]) Fold(z, lo, hi []S, c *S) {
	n := len(hi)
	if len(lo) != len(z) || n > len(lo) {
		panic("group: Fold lengths")
	}
	sc := g.scratch.Get().(*scratch[S, E, P, J, PE, PP])
	defer g.scratch.Put(sc)
	sc.invTmp = resize(sc.invTmp, n)
	g.scal.scale(sc.invTmp, hi, c)
	g.scal.add(z[:n], lo[:n], sc.invTmp)
	copy(z[n:], lo[n:])
}

func (g *native[S, E, P, J, PS, PE, PP, PJ]) AppendScalars(dst []byte, s ...S) []byte {
	for i := range s {
		l := PS(&s[i]).Bits()
		for k := 3; k >= 0; k-- {
			dst = append(dst, byte(l[k]>>56), byte(l[k]>>48), byte(l[k]>>40), byte(l[k]>>32),
				byte(l[k]>>24), byte(l[k]>>16), byte(l[k]>>8), byte(l[k]))
		}
	}
	return dst
}

func (g *native[S, E, P, J, PS, PE, PP, PJ]) DecodeScalars(dst []S, src []byte) error {
	if len(src) != 32*len(dst) {
		return &zkbench.DecodeError{Path: "scalars", Reason: fmt.Sprintf("%d bytes, want %d", len(src), 32*len(dst))}
	}
	for i := range dst {
		if PS(&dst[i]).SetBytesCanonical(src[32*i:32*i+32]) != nil {
			return &zkbench.DecodeError{Path: fmt.Sprintf("[%d]", i), Offset: 32 * i, Reason: "scalar not below the group order"}
		}
	}
	return nil
}
