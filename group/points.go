package group

import (
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/group/internal/curve"
	"github.com/zkbench/zkbench/group/internal/integer"
)

func (g *native[S, E, P, J, PS, PE, PP, PJ]) IsIdentity(p *P) bool     { return PP(p).IsInfinity() }
func (g *native[S, E, P, J, PS, PE, PP, PJ]) EqualPoints(a, b *P) bool { return PP(a).Equal(b) }
func (g *native[S, E, P, J, PS, PE, PP, PJ]) AddPoints(z, a, b *P)     { PP(z).Add(a, b) }
func (g *native[S, E, P, J, PS, PE, PP, PJ]) SubPoints(z, a, b *P)     { PP(z).Sub(a, b) }
func (g *native[S, E, P, J, PS, PE, PP, PJ]) NegPoint(z, a *P)         { PP(z).Neg(a) }

func (g *native[S, E, P, J, PS, PE, PP, PJ]) MulPoint(z, a *P, s *S) {
	k := integer.Limbs(PS(s).Bits())
	*z = g.mulLimbs(*a, &k)
}

// mulLimbs returns k·p by double-and-add, right on the whole curve: the
// Jacobian formulas of gnark-crypto handle equal, opposite and identity points,
// and no point of these curves has order two.
func (g *native[S, E, P, J, PS, PE, PP, PJ]) mulLimbs(p P, k *integer.Limbs) P {
	var acc J
	PJ(&acc).FromAffine(new(P))
	for i := 255; i >= 0; i-- {
		PJ(&acc).DoubleAssign()
		if k[i/64]>>(i%64)&1 == 1 {
			PJ(&acc).AddMixed(&p)
		}
	}
	PP(&p).FromJacobian(&acc)
	return p
}

func (g *native[S, E, P, J, PS, PE, PP, PJ]) ClearTorsion(p *P) {
	if !g.primeOrder {
		*p = g.mulLimbs(*p, &integer.Limbs{curve.ClearBLS12381})
	}
}

func (g *native[S, E, P, J, PS, PE, PP, PJ]) AppendPoints(dst []byte, p ...P) []byte {
	for i := range p {
		dst = g.encode(dst, &p[i])
	}
	return dst
}

func (g *native[S, E, P, J, PS, PE, PP, PJ]) HashToPoint(domain string, msg []byte) (P, error) {
	p, err := g.hashToPoint(msg, []byte(domain))
	if err != nil {
		return p, fmt.Errorf("%w: hash to curve: %w", zkbench.ErrParams, err)
	}
	return p, nil
}

// DecodePoints recovers all y coordinates together: y = (x³+b)^((p+1)/4), one
// exponentiation over vectors.
func (g *native[S, E, P, J, PS, PE, PP, PJ]) DecodePoints(dst []P, src []byte, check PointCheck) error {
	n := len(dst)
	if len(src) != n*g.pointLen {
		return &zkbench.DecodeError{Path: "points", Reason: fmt.Sprintf("%d bytes, want %d", len(src), n*g.pointLen)}
	}
	if n == 0 {
		return nil
	}
	fail := func(i int, reason string) error {
		return &zkbench.DecodeError{Path: fmt.Sprintf("[%d]", i), Offset: i * g.pointLen, Reason: reason}
	}
	sc := g.scratch.Get().(*scratch[S, E, P, J, PE, PP])
	defer g.scratch.Put(sc)
	// Lanes are filled up to a multiple of eight, so that vector code does all.
	lanes := (n + 7) &^ 7
	sc.dec = resize(sc.dec, 19*lanes)
	x, rhs, y := sc.dec[:lanes], sc.dec[lanes:2*lanes], sc.dec[2*lanes:3*lanes]
	clear(x)
	sc.largest = resize(sc.largest, n)
	for i := range dst {
		sc.coord = append(sc.coord[:0], src[i*g.pointLen:(i+1)*g.pointLen]...)
		largest, reason := g.parse(sc.coord)
		if reason != "" {
			return fail(i, reason)
		}
		if PE(&x[i]).SetBytesCanonical(sc.coord) != nil {
			return fail(i, "point coordinate not below the field modulus")
		}
		sc.largest[i] = largest
	}
	g.base.mul(rhs, x, x)
	g.base.mul(rhs, rhs, x)
	for i := range rhs {
		PE(&rhs[i]).Add(&rhs[i], &g.curveB)
	}
	g.squareRoots(y, rhs, sc.dec[3*lanes:])
	for i := range dst {
		if x3b := rhs[i]; PE(&rhs[i]).Square(&y[i]) == nil || rhs[i] != x3b {
			return fail(i, "point not on the curve")
		}
		if PE(&y[i]).LexicographicallyLargest() != sc.largest[i] {
			if PE(&y[i]).IsZero() {
				return fail(i, "sign bit of a point with y = 0")
			}
			PE(&y[i]).Neg(&y[i])
		}
		dst[i] = P(affine[E]{x[i], y[i]})
		if check == Subgroup && !g.primeOrder && !PP(&dst[i]).IsInSubGroup() {
			return fail(i, "point outside the prime-order subgroup")
		}
	}
	return nil
}

// squareRoots sets y = a^((p+1)/4), a square root wherever there is one, by
// 4-bit windows. tmp has room for 16 vectors.
func (g *native[S, E, P, J, PS, PE, PP, PJ]) squareRoots(y, a, tmp []E) {
	n := len(a)
	power := func(k uint8) []E { return tmp[int(k)*n : int(k+1)*n] }
	copy(power(1), a)
	for k := uint8(2); k < 16; k++ {
		g.base.mul(power(k), power(k-1), a)
	}
	copy(y, power(g.sqrtWindows[0])) // the leading window is not zero
	for _, w := range g.sqrtWindows[1:] {
		for range 4 {
			g.base.mul(y, y, y)
		}
		if w != 0 {
			g.base.mul(y, y, power(w))
		}
	}
}
