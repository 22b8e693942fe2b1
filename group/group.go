// Package group provides the prime-order groups that the proofs run on. A group has a scalar field,
// canonical encodings, generators derived by hashing to the curve, fixed-base tables and
// multi-scalar multiplication.
//
// Protocols are written once, generic over [S, P any] with a Group[S, P] value. They work on
// scalars and points through slice operations. One call through the interface handles a whole
// vector, so no hot loop calls through a type dictionary.
//
// Notation is additive throughout. A sum Σ s_i·P_i is a multi-scalar multiplication (MSM).
//
// This package is not constant-time, except for Table.MSMConstantTime. The other sums use digits of
// scalars as table indices and skip zero digits, so their time and memory accesses depend on the
// scalars. See SECURITY.md.
package group

import (
	"context"
	"math/big"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group/internal/seal"
)

// sealed is what Group, Table and Stored have in common: packages outside group cannot implement them.
type sealed = seal.Interface

// WideLen is the number of uniform bytes that Group.ScalarFromWide reduces. Orders are below 2^256,
// so the result is within 2^-256 of uniform.
const WideLen = 64

// PointCheck says what else DecodePoints checks. It always checks that the encoding is canonical and
// that the point is on the curve. On curves of cofactor one, OnCurve and Subgroup check the same.
type PointCheck int

const (
	// Subgroup checks that the point is in the prime-order subgroup.
	Subgroup PointCheck = iota
	// OnCurve accepts points with a component outside the prime-order subgroup. Use it only for
	// points that enter one verification equation whose result goes through ClearTorsion; see
	// docs/token.md, section 8.
	OnCurve
)

// Group is a group of prime order with its scalar field. S is a scalar and P an affine point.
// Scalars and points are values: an assignment copies them, and their zero values are 0 and the
// identity. Destinations may alias operands.
//
// Operations on several vectors panic if their lengths differ (Fold has its own rule): lengths come
// from the protocol, never from an input. A Group is safe for concurrent use.
//
// BN254, BLS12381 and the packages below this one return Groups. Other packages cannot implement
// Group: proofs are sound only over groups that pass this package's tests. A type that embeds a Group
// can replace single methods.
type Group[S, P any] interface {
	sealed

	// Name returns the curve name that users type, for example "BN254".
	Name() string
	// Domain returns the group's name inside hash-to-curve domains and transcripts. Two
	// implementations of one group have the same Domain.
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
	// Inverse sets z = 1/a, or 0 if a is 0.
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
	// BatchInvert inverts each element of z in place, with one field inversion. Zeros stay zero.
	BatchInvert(z []S)
	// Fold sets z[i] = lo[i] + c·hi[i]. Lengths must satisfy len(hi) <= len(lo) = len(z); a missing
	// hi[i] counts as 0.
	Fold(z, lo, hi []S, c *S)

	// AppendScalars appends the canonical big-endian encodings of s.
	AppendScalars(dst []byte, s ...S) []byte
	// DecodeScalars reads len(dst) scalars from src, which must have len(dst)·ScalarLen bytes. If a
	// value is r or more, the error is of type *zkbench.DecodeError, with Path "[i]" and Offset
	// within src.
	DecodeScalars(dst []S, src []byte) error

	// Points.
	IsIdentity(p *P) bool
	EqualPoints(a, b *P) bool
	AddPoints(z, a, b *P)
	SubPoints(z, a, b *P)
	NegPoint(z, a *P)
	// MulPoint sets z = s·a by double-and-add. It is slow and simple, for the textbook verifiers
	// and for tests, and not constant-time.
	MulPoint(z, a *P, s *S)
	// AppendPoints appends the compressed encodings of p, PointLen bytes each. It encodes the
	// identity too, which DecodePoints refuses.
	AppendPoints(dst []byte, p ...P) []byte
	// DecodePoints reads len(dst) points from src, which must have len(dst)·PointLen bytes. It
	// refuses encodings that are not canonical, points off the curve, the identity and, if check is
	// Subgroup, points outside the prime-order subgroup. The error is of type *zkbench.DecodeError,
	// as for DecodeScalars.
	DecodePoints(dst []P, src []byte, check PointCheck) error
	// HashToPoint hashes msg to a point by the random-oracle form of hash_to_curve (RFC 9380). The
	// RFC has no suite for FP256BN; there it uses the library's hash to the group. It returns
	// ErrParams if domain has more than 255 bytes.
	HashToPoint(domain string, msg []byte) (P, error)
	// ClearTorsion multiplies p by an integer that is invertible modulo r and that maps every
	// component outside the prime-order subgroup to the identity. If the cofactor is one, it does
	// nothing.
	ClearTorsion(p *P)

	// NewTable precomputes multiples of points for fixed-base sums. It returns ErrParams if opts
	// are out of range or if a point is the identity.
	NewTable(points []P, opts TableOptions) (Table[S, P], error)
	// MSM returns Σ scalars[i]·points[i] for points that arrive with a proof. MSM accepts any points on
	// the curve. For points outside the subgroup, the result is correct up to a component that
	// ClearTorsion removes.
	MSM(ctx context.Context, ex executor.Executor, points []P, scalars []S) (P, error)
}

// TableOptions set how much memory a Table may take to make its sums faster.
type TableOptions struct {
	// Window is the width in bits of the digits that index the table, 2 to 12. If it is 0, a
	// default applies that was chosen by measurement (docs/arithmetic.md).
	Window int
	// Spacing is the number of digits that share one table position. Memory shrinks by this factor,
	// and each sum does (Spacing-1)·Window doublings once. If it is 0, a default applies.
	Spacing int
}

// SmallTables returns options for tables that take a third of the default's memory. Use them on
// machines with little cache, or if many processes share a cache. A sum takes longer (docs/arithmetic.md
// has a table).
func SmallTables() TableOptions { return TableOptions{Window: 8, Spacing: 8} }

// Table holds precomputed multiples of fixed points. It is immutable and safe for concurrent use.
// Group.NewTable makes one. Other packages cannot implement Table, except by embedding one.
type Table[S, P any] interface {
	sealed

	Len() int   // number of points
	Bytes() int // memory of the precomputed multiples
	// MSM sets dst[j] = Σ_i scalars[j][i]·points[i], with len(scalars[j]) <= Len. Zero scalars cost
	// nothing. It computes all sums together, so one call with many short sums is cheaper than many
	// calls.
	MSM(ctx context.Context, ex executor.Executor, dst []P, scalars [][]S) error
	// MSMConstantTime computes the same sums as MSM, without the precomputed multiples. For each
	// digit it reads all sixteen multiples of the point, keeps one by masks, and adds it by
	// complete formulas. So its sequence of group operations and memory addresses does not depend
	// on the scalars. It is much slower than MSM. It returns ErrParams on groups that have no such
	// method.
	MSMConstantTime(ctx context.Context, dst []P, scalars [][]S) error
}
