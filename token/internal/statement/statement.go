// Package statement is what stands between an action and its proof: what package
// token/action encodes, and the parameters of package token prove and verify.
package statement

import (
	"context"
	"io"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/transcript"
)

// Field is a field of an encoded action and where it starts there.
type Field struct {
	Bytes  []byte
	Offset int
}

// Statement is what an action claims: that its outputs are worth its inputs (a
// transfer) or, without inputs, are well-formed (an issue), all of one type, with
// values in range.
type Statement struct {
	Anchor []byte // what the proof shall be bound to
	// Action is the encoding of the whole action but its proof: token ids,
	// owners, commitments, metadata.
	Action          []byte
	Inputs, Outputs []Field // compressed commitments
}

// Witness opens a statement's commitments, in order. O is token.Opening.
type Witness[O any] struct {
	Inputs, Outputs []O
	// Seed is 32 fresh random bytes, drawn once per action.
	Seed [transcript.SeedLen]byte
}

// Claim is a decoded statement with its proof, ready to be verified under the
// parameters that decoded it.
type Claim interface {
	// WithAnchor returns the claim with another anchor in its statement.
	WithAnchor(anchor []byte) Claim
}

// ProofSystem proves and verifies statements; O is token.Opening.
type ProofSystem[O any] interface {
	// Rand is the source of randomness that provers use where they are given
	// none.
	Rand() io.Reader
	// Blind sets the blindings of the witness's outputs, derived from all else in the
	// witness and from the anchor: others for other statements even where a seed
	// repeats. The error is an ErrParams or an ErrLimit.
	Blind(w *Witness[O], anchor []byte) error
	// Prove proves a statement. Types, sums and ranges of the openings are checked,
	// and what is wrong with them is an ErrParams; whether they open the statement's
	// commitments is not: a proof from others does not verify.
	Prove(ctx context.Context, ex executor.Executor, st *Statement, w *Witness[O]) ([]byte, error)
	// Decode decodes the points of a statement and its proof. The error is a
	// *zkbench.DecodeError with the offsets that the statement gives, or an
	// ErrParams for numbers of tokens that no statement has.
	Decode(st *Statement, proof Field) (Claim, error)
	// Verify verifies claims of these parameters, all in one multi-scalar
	// multiplication. If that fails, the bad ones are found by bisection and
	// each is named by a *zkbench.CheckError that wraps ErrProof; the errors
	// are joined.
	Verify(ctx context.Context, ex executor.Executor, claims ...Claim) error
}
