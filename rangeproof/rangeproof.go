// Package rangeproof is the contract of the range-proof systems: that the
// values v_j inside Pedersen commitments V_j = v_j·G + r_j·H lie in [0, 2^bits).
//
// Who wants a range proof and nothing else takes a System of bulletproof or csp:
//
//	system, err := bulletproof.NewSystem(group.BN254(), 64, 1)
//	blinding, err := system.RandomBlinding(nil)
//	commitment, proof, err := system.Prove(ctx, ex, message, []uint64{7}, [][]byte{blinding}, nil)
//
// and the verifier, with a System of the same parameters:
//
//	claim, err := system.Decode(message, 1, commitment, proof)
//	err = system.Verify(ctx, ex, claim)
//
// A Protocol is one system over one group, for use inside another protocol; the
// sub-packages implement it. Protocols work on a shared basis and a transcript
// that the caller has bound to its parameters and statement, and add their
// verification equations to an accumulator, so that a caller merges many proofs
// into one multi-scalar multiplication.
package rangeproof

import (
	"context"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/group"
	"github.com/zkbench/zkbench/transcript"
)

// The two generators of the commitment key, first in every basis.
const (
	ValueFamily    = "value"    // G
	BlindingFamily = "blinding" // H
)

// KeyFamilies returns both as families of one generator each.
func KeyFamilies() []group.Family {
	return []group.Family{{Name: ValueFamily, Count: 1}, {Name: BlindingFamily, Count: 1}}
}

// Shape is the number of points and scalars in an encoded proof: first the
// points, then the scalars, nothing else. It depends only on the parameters and
// the number of commitments, so an encoded proof needs no lengths.
type Shape struct{ Points, Scalars int }

// Proof is a decoded proof of its protocol's Shape.
type Proof[S, P any] struct {
	Points  []P
	Scalars []S
}

// Witness opens the commitments: V_j = Values[j]·G + Blindings[j]·H.
type Witness[S any] struct {
	Values    []uint64
	Blindings []S
}

// Protocol is a range-proof system with fixed parameters: bit length, early
// stop. It is immutable and safe for concurrent use. Scratch is taken once per
// call.
type Protocol[S, P any] interface {
	// Name is the proof type that users type: bulletproof, csp,
	// bulletproof-agg.
	Name() string
	// Bits is the bit length n, 1 to 64.
	Bits() int
	// MaxCommitments is the largest number of commitments that one proof
	// covers: 1 where there is one proof per output.
	MaxCommitments() int
	// Shape is that of a proof for m commitments.
	Shape(m int) Shape
	// AppendParams absorbs name, bit length and every other parameter.
	AppendParams(t *transcript.Transcript)

	// Prove proves the witness's values for the commitments V, drawing its
	// nonces from nonces. It absorbs V and every message into t, the last one
	// too. A value of 2^bits or more is refused.
	Prove(ctx context.Context, ex executor.Executor, t *transcript.Transcript, V []P, w Witness[S], nonces transcript.Nonces) (*Proof[S, P], error)

	// WithTable is the same protocol, whose sums go to another table of its basis'
	// points: provers that run in step share one (group.Together). So Prove takes its
	// sums in the goroutine that it is called in.
	WithTable(table group.Table[S, P]) Protocol[S, P]

	// Replay absorbs V and the proof's messages into t exactly as Prove did,
	// collects the challenges, and does the checks that need no group
	// operation. The equations remain to be checked: the caller draws weights
	// after all transcripts are final and passes them to Accumulate.
	Replay(t *transcript.Transcript, V []P, proof *Proof[S, P]) (Equations[S, P], error)
}

// Equations are the verification equations of one replayed proof.
type Equations[S, P any] interface {
	// Accumulate adds every equation to acc, each multiplied by a weight of
	// its own drawn from weights.
	Accumulate(acc *group.Accumulator[S, P], weights *group.Weights[S, P])
}
