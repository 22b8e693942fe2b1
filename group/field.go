package group

import "math/big"

// elementPtr is what the group code asks of one field element of gnark-crypto.
// These calls go through a type dictionary: they stand outside hot loops.
type elementPtr[E any] interface {
	*E
	Add(a, b *E) *E
	Sub(a, b *E) *E
	Mul(a, b *E) *E
	Square(a *E) *E
	Double(a *E) *E
	Neg(a *E) *E
	Inverse(a *E) *E
	IsZero() bool
	Equal(a *E) bool
	SetUint64(v uint64) *E
	SetBigInt(v *big.Int) *E
	SetBytesCanonical(b []byte) error
	LexicographicallyLargest() bool
	Select(c int, x0, x1 *E) *E // x0 for c = 0, else x1, without a branch
}

// scalarPtr adds the canonical integer.Limbs, least significant first.
type scalarPtr[S any] interface {
	elementPtr[S]
	Bits() [4]uint64
}

// vectorOps are a field's operations on whole slices, bound to gnark-crypto's
// Vector methods: AVX-512 code for four-limb fields where the processor has it,
// portable loops elsewhere; gnark-crypto chooses at run time.
type vectorOps[E any] struct {
	add, sub, mul func(z, a, b []E)
	scale         func(z, a []E, c *E)
	inner         func(a, b []E) E
}

// affine has the memory layout and the conventions of gnark-crypto's affine
// points: (0, 0) is the identity, which is on none of the curves.
type affine[E any] struct{ X, Y E }

// pointPtr is what the group code asks of an affine point type P whose
// Jacobian type is J.
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

// jacobianPtr is what the group code asks of Jacobian points.
type jacobianPtr[J, P any] interface {
	*J
	FromAffine(p *P) *J
	AddAssign(q *J) *J
	SubAssign(q *J) *J
	AddMixed(p *P) *J
	DoubleAssign() *J
}
