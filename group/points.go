package group

import (
	"fmt"
	"unsafe"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/group/internal/integer"
)

// affine has the memory layout and the conventions of gnark-crypto's affine
// points: (0, 0) is the identity, which is on none of the curves.
type affine[E any] struct{ X, Y E }

// affinePoint is any of gnark-crypto's affine points: affine by another name.
type affinePoint[E any] interface{ ~struct{ X, Y E } }

// affines returns points as affine, the same memory under another type.
func affines[E any, P affinePoint[E]](points []P) []affine[E] {
	return unsafe.Slice((*affine[E])(unsafe.Pointer(unsafe.SliceData(points))), len(points))
}

// pointPtr lists the methods that the group code needs of an affine point type P whose Jacobian
// type is J.
type pointPtr[P, J any] interface {
	*P
	Add(a, b *P) *P
	Sub(a, b *P) *P
	Neg(a *P) *P
	FromJacobian(j *J) *P
	Equal(a *P) bool
	IsInfinity() bool
	IsInSubGroup() bool
}

// jacobianPtr lists the methods that the group code needs of Jacobian points.
type jacobianPtr[J, P any] interface {
	*J
	FromAffine(p *P) *J
	AddAssign(q *J) *J
	AddMixed(p *P) *J
	DoubleAssign() *J
}

// points implements the operations on single points of a group, affine P and Jacobian J.
type points[P, J any, PP pointPtr[P, J], PJ jacobianPtr[J, P]] struct {
	pointLen    int
	encode      func(dst []byte, p *P) []byte
	hashToPoint func(msg, domain []byte) (P, error)
	clearing    uint64 // factor that ClearTorsion multiplies by; 1 if the cofactor is one
}

func (g *points[P, J, PP, PJ]) PointLen() int            { return g.pointLen }
func (g *points[P, J, PP, PJ]) IsIdentity(p *P) bool     { return PP(p).IsInfinity() }
func (g *points[P, J, PP, PJ]) EqualPoints(a, b *P) bool { return PP(a).Equal(b) }
func (g *points[P, J, PP, PJ]) AddPoints(z, a, b *P)     { PP(z).Add(a, b) }
func (g *points[P, J, PP, PJ]) SubPoints(z, a, b *P)     { PP(z).Sub(a, b) }
func (g *points[P, J, PP, PJ]) NegPoint(z, a *P)         { PP(z).Neg(a) }
func (g *points[P, J, PP, PJ]) primeOrder() bool         { return g.clearing == 1 }

// multiply returns k·p by double-and-add. It is correct on the whole curve: the Jacobian formulas
// of gnark-crypto handle equal, opposite and identity points, and no point of these curves has
// order two.
func (g *points[P, J, PP, PJ]) multiply(p P, k *integer.Limbs) P {
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

func (g *points[P, J, PP, PJ]) ClearTorsion(p *P) {
	if !g.primeOrder() {
		*p = g.multiply(*p, &integer.Limbs{g.clearing})
	}
}

func (g *points[P, J, PP, PJ]) AppendPoints(dst []byte, p ...P) []byte {
	for i := range p {
		dst = g.encode(dst, &p[i])
	}
	return dst
}

func (g *points[P, J, PP, PJ]) HashToPoint(domain string, msg []byte) (P, error) {
	p, err := g.hashToPoint(msg, []byte(domain))
	if err != nil {
		return p, fmt.Errorf("%w: hash to curve: %w", zkbench.ErrParams, err)
	}
	return p, nil
}

// accumulators are running sums of points, by index. Different indices may be used concurrently.
type accumulators[E any] interface {
	reset(n int) // to n identities
	double(i int)
	add(i int, x, y *E)
	sub(i int, x, y *E)
	merge(i, k int) // adds sum k to sum i
	affine(i int) affine[E]
}

// jacobian is a sum of points with room for the next addend, which as a local variable would be
// heap-allocated at every call.
type jacobian[P, J any] struct {
	sum    J
	addend P
}

// jacobians are accumulators in Jacobian coordinates.
type jacobians[E any, P affinePoint[E], J any, PP pointPtr[P, J], PJ jacobianPtr[J, P]] struct {
	at []jacobian[P, J]
}

func (a *jacobians[E, P, J, PP, PJ]) reset(n int) {
	a.at = resize(a.at, n)
	var identity P
	for i := range a.at {
		a.at[i].addend = identity
		PJ(&a.at[i].sum).FromAffine(&a.at[i].addend)
	}
}

func (a *jacobians[E, P, J, PP, PJ]) double(i int)   { PJ(&a.at[i].sum).DoubleAssign() }
func (a *jacobians[E, P, J, PP, PJ]) merge(i, k int) { PJ(&a.at[i].sum).AddAssign(&a.at[k].sum) }

func (a *jacobians[E, P, J, PP, PJ]) add(i int, x, y *E) {
	z := &a.at[i]
	z.addend = P(affine[E]{*x, *y})
	if !PP(&z.addend).IsInfinity() {
		PJ(&z.sum).AddMixed(&z.addend)
	}
}

func (a *jacobians[E, P, J, PP, PJ]) sub(i int, x, y *E) {
	z := &a.at[i]
	z.addend = P(affine[E]{*x, *y})
	if p := PP(&z.addend); !p.IsInfinity() {
		PJ(&z.sum).AddMixed(p.Neg(p))
	}
}

func (a *jacobians[E, P, J, PP, PJ]) affine(i int) affine[E] {
	z := &a.at[i]
	PP(&z.addend).FromJacobian(&z.sum)
	return affine[E](z.addend)
}
