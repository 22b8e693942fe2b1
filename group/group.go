// Package group provides the prime-order groups that the proofs run on: their
// scalar fields, canonical encodings, generators derived by hashing to the
// curve, fixed-base tables and multi-scalar multiplication.
//
// Protocols are written once, generic over [S, P any] with a Group[S, P] value,
// and touch scalars and points through the slice operations below: one call through the
// interface handles a whole vector, so no call through a type dictionary stands
// in a hot loop.
//
// Additive notation throughout. A sum Σ s_i·P_i is a multi-scalar
// multiplication (MSM).
//
// What this package does not promise: apart from Table.MSMConstantTime its
// multi-scalar multiplications look tables up by scalar digits and skip zero
// digits, so their time and memory accesses depend on the scalars. See
// SECURITY.md.
package group

import (
	"context"
	"math/big"

	"github.com/zkbench/zkbench/executor"
)

// WideLen is the number of uniform bytes that Group.ScalarFromWide reduces.
// Orders are below 2^256, so the result is within 2^-256 of uniform.
const WideLen = 64

// PointCheck says what DecodePoints checks beyond the encoding being canonical
// and the point being on the curve. On curves of cofactor one both are the same.
type PointCheck int

const (
	// Subgroup: the point is in the prime-order subgroup.
	Subgroup PointCheck = iota
	// OnCurve: the point may have a component outside the prime-order
	// subgroup. Only for points that enter one verification equation whose
	// result is passed through ClearTorsion; see docs/token.md, section 8.
	OnCurve
)

// Group is a group of prime order with its scalar field. S is a scalar, P an
// affine point; both are values: they are copied by assignment, their zero
// value is 0 and the identity. Destinations may alias operands. Slices that an
// operation takes together have equal lengths, else it panics: lengths are the
// protocol's, never the input's.
//
// A Group is safe for concurrent use.
type Group[S, P any] interface {
	// Name is the curve name that users type, for example "BN254".
	Name() string
	// Domain is the group's name inside hash-to-curve domains and transcripts:
	// two implementations of one group share it.
	Domain() string
	// Order returns a copy of the group's prime order r.
	Order() *big.Int
	ScalarLen() int // bytes of an encoded scalar: 32
	PointLen() int  // bytes of a compressed point

	// One scalar.
	ScalarFromUint64(v uint64) S
	// ScalarFromWide reduces WideLen big-endian bytes modulo r.
	ScalarFromWide(wide []byte) S
	Add(z, a, b *S)
	Sub(z, a, b *S)
	Mul(z, a, b *S)
	Neg(z, a *S)
	// Inverse sets z = 1/a, and 0 for a = 0.
	Inverse(z, a *S)
	IsZero(a *S) bool
	Equal(a, b *S) bool

	// Vectors of scalars.
	AddVec(z, a, b []S)
	SubVec(z, a, b []S)
	MulVec(z, a, b []S)
	// ScaleVec sets z[i] = c·a[i].
	ScaleVec(z, a []S, c *S)
	InnerProduct(a, b []S) S
	// Powers sets z[i] = x^i.
	Powers(z []S, x *S)
	// BatchInvert inverts z in place with one field inversion; zeros stay.
	BatchInvert(z []S)
	// Fold sets z[i] = lo[i] + c·hi[i], taking absent hi[i] as 0:
	// len(hi) <= len(lo) = len(z).
	Fold(z, lo, hi []S, c *S)

	// AppendScalars appends canonical big-endian encodings.
	AppendScalars(dst []byte, s ...S) []byte
	// DecodeScalars reads len(dst) scalars from exactly len(dst)·ScalarLen
	// bytes. A value of r or more is a *zkbench.DecodeError with Path
	// "[i]" and Offset within src.
	DecodeScalars(dst []S, src []byte) error

	// Points.
	IsIdentity(p *P) bool
	EqualPoints(a, b *P) bool
	AddPoints(z, a, b *P)
	SubPoints(z, a, b *P)
	NegPoint(z, a *P)
	// MulPoint sets z = s·a by double-and-add: slow, obvious, for the textbook
	// verifiers and tests. Not constant time.
	MulPoint(z, a *P, s *S)
	// AppendPoints appends compressed encodings, PointLen bytes each. The
	// identity has an encoding; DecodePoints refuses it.
	AppendPoints(dst []byte, p ...P) []byte
	// DecodePoints reads len(dst) points from exactly len(dst)·PointLen bytes.
	// Refused, with a *zkbench.DecodeError like DecodeScalars: other than the
	// one canonical encoding, not on the curve, outside the subgroup (check
	// Subgroup), the identity.
	DecodePoints(dst []P, src []byte, check PointCheck) error
	// HashToPoint is RFC 9380 hash_to_curve in its random-oracle form; on
	// FP256BN, which has no suite there, its library's hash to the group. A
	// domain of more than 255 bytes is an ErrParams.
	HashToPoint(domain string, msg []byte) (P, error)
	// ClearTorsion replaces p by n·p with an integer n that is invertible
	// modulo r and kills every component outside the prime-order subgroup. It
	// is the identity map where the cofactor is one.
	ClearTorsion(p *P)

	// NewTable precomputes multiples of points for fixed-base sums.
	NewTable(points []P, opts TableOptions) (Table[S, P], error)
	// MSM returns Σ scalars[i]·points[i] for points that come with one proof.
	// Points may be any on the curve, also outside the subgroup, where the
	// result is right up to a component that ClearTorsion kills.
	MSM(ctx context.Context, ex executor.Executor, points []P, scalars []S) (P, error)
}

// TableOptions trade memory against time.
type TableOptions struct {
	// Window is the width in bits of the digits that are looked up, 2 to 12;
	// 0: the default, chosen by measurement (docs/msm.md).
	Window int
	// Spacing is the number of digits that share one table position: memory
	// shrinks by it, each sum pays (Spacing-1)·Window doublings once. 0: the
	// default.
	Spacing int
}

// SmallTables are a third as large as the default's: for machines with little cache, or
// one that many share. A sum takes longer (docs/msm.md has a table).
func SmallTables() TableOptions { return TableOptions{Window: 8, Spacing: 8} }

// Table holds precomputed multiples of fixed points. It is immutable and safe
// for concurrent use.
type Table[S, P any] interface {
	Len() int   // number of points
	Bytes() int // memory of the precomputed multiples
	// MSM sets dst[j] = Σ_i scalars[j][i]·points[i], with len(scalars[j]) <=
	// Len. Zero scalars cost nothing. All sums are worked on together, so a
	// call with many short sums is cheaper than many calls.
	MSM(ctx context.Context, ex executor.Executor, dst []P, scalars [][]S) error
	// MSMConstantTime does the same without the precomputed multiples: it reads
	// all sixteen multiples of a digit's point, keeps one by masks, and adds it
	// by complete formulas, so that its sequence of group operations and memory
	// addresses does not depend on the scalars. Much slower; an ErrParams on
	// groups that have no such path.
	MSMConstantTime(ctx context.Context, dst []P, scalars [][]S) error
}
