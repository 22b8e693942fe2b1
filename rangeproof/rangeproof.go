// Package rangeproof defines the interfaces of range-proof systems. A range proof shows that the
// values v_j inside Pedersen commitments V_j = v_j·G + r_j·H are in [0, 2^bits).
//
// If you only need a range proof, use a System of package bulletproof or csp:
//
//	system, err := bulletproof.NewSystem(group.BN254(), 64, 1)
//	blinding, err := system.RandomBlinding(nil)
//	commitment, proof, err := system.Prove(ctx, ex, message, []uint64{7}, [][]byte{blinding}, nil)
//
// The verifier uses a System with the same parameters:
//
//	claim, err := system.Decode(message, 1, commitment, proof)
//	err = system.Verify(ctx, ex, claim)
//
// A Protocol is one system over one group, for use inside another protocol. The sub-packages
// implement it. Protocols work on a shared basis, and on a transcript that the caller has bound to
// the parameters and the statement. They add their verification equations to an accumulator, so
// that a caller can merge many proofs into one multi-scalar multiplication.
package rangeproof

import (
	"context"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/transcript"
)

// ValueFamily and BlindingFamily name the two generators of the commitment key, which come first in
// every basis.
const (
	ValueFamily    = "value"    // G
	BlindingFamily = "blinding" // H
)

// KeyFamilies returns the families of the commitment key, with one generator each.
func KeyFamilies() []group.Family {
	return []group.Family{{Name: ValueFamily, Count: 1}, {Name: BlindingFamily, Count: 1}}
}

// Shape is the number of points and scalars in an encoded proof, which consists of the points and
// then the scalars. It depends only on the parameters and the number of commitments, so an encoded
// proof needs no lengths.
type Shape struct{ Points, Scalars int }

// Proof is a decoded proof. The method Shape of its protocol returns the number of points and
// scalars.
type Proof[S, P any] struct {
	Points  []P
	Scalars []S
}

// Witness holds the openings of the commitments: V_j = Values[j]·G + Blindings[j]·H.
type Witness[S any] struct {
	Values    []uint64
	Blindings []S
}

// Protocol is a range-proof system with fixed parameters, such as bit length and early stop. It is
// immutable and safe for concurrent use. Each call allocates its working memory once.
//
// Other packages can implement Protocol, and use their protocol with NewSystem.
type Protocol[S, P any] interface {
	// Name returns the name of the proof type, as users type it: bulletproof, csp or
	// bulletproof-agg.
	Name() string
	// Bits returns the bit length n, 1 to 64.
	Bits() int
	// MaxCommitments returns the maximum number of commitments that one proof covers. It is 1 if
	// each output has its own proof.
	MaxCommitments() int
	// Shape returns the shape of a proof for m commitments.
	Shape(m int) Shape
	// AppendParams absorbs name, bit length and every other parameter.
	AppendParams(t *transcript.Transcript)

	// Prove proves that the witness's values for the commitments V are in range, and draws its
	// nonces from nonces. It absorbs V and every message into t, including the last. It refuses
	// values of 2^bits or more.
	Prove(ctx context.Context, ex executor.Executor, t *transcript.Transcript, V []P, w Witness[S], nonces transcript.Nonces) (*Proof[S, P], error)

	// WithTable returns the same protocol with another table for its basis' points. Provers that
	// run together share one such table (group.Together), so Prove must compute its sums in the
	// goroutine that calls it.
	WithTable(table group.Table[S, P]) Protocol[S, P]

	// Replay absorbs V and the proof's messages into t exactly as Prove did, collects the
	// challenges, and makes the checks that need no group operation. It leaves the equations to the
	// caller, who draws weights after all transcripts are final and passes them to Accumulate.
	Replay(t *transcript.Transcript, V []P, proof *Proof[S, P]) (Equations[S, P], error)
}

// Equations are the verification equations of one replayed proof. A package that implements Protocol
// implements Equations too.
type Equations[S, P any] interface {
	// Accumulate adds every equation to acc, multiplied by its own weight drawn from weights.
	Accumulate(acc *group.Accumulator[S, P], weights *group.Weights[S, P])
}
