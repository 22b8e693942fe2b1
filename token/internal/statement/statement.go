// Package statement connects actions with their proofs. Package token/action encodes statements; the parameters
// of package token prove and verify them.
package statement

import (
	"context"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/transcript"
)

// Field is a field of an encoded action, with the offset at which the field starts in the
// encoding.
type Field struct {
	Bytes  []byte
	Offset int
}

// Statement says what an action's proof shows: all tokens have one type, and values are in range. If there are
// inputs (a transfer), the values of the outputs add up to those of the inputs.
type Statement struct {
	Anchor []byte // what the proof is bound to
	// Action is the encoding of the whole action without its proof: token ids, owners, commitments, metadata.
	Action          []byte
	Inputs, Outputs []Field // compressed commitments
}

// Witness holds the openings of a statement's commitments, in order. The type parameter O stands for
// token.Opening.
type Witness[O any] struct {
	Inputs, Outputs []O
	// Seed is 32 fresh random bytes, drawn once per action.
	Seed [transcript.SeedLen]byte
}

// Claim is a deferred verification: a decoded statement with its proof. The parameters that decoded them can
// verify the proof later.
type Claim interface {
	// WithAnchor returns a copy of the claim with another anchor in its statement.
	WithAnchor(anchor []byte) Claim
}

// ProofSystem proves and verifies statements. Every token.CryptoParams is one, which a type assertion shows. The type
// parameter O stands for token.Opening.
type ProofSystem[O any] interface {
	// Blind sets the blindings of the witness's outputs. They are derived from the rest of the witness and from
	// the anchor, so they differ for different statements even if a seed repeats. Blind returns ErrParams or
	// ErrLimit if the witness or the anchor is bad.
	Blind(w *Witness[O], anchor []byte) error
	// Prove proves a statement. It returns ErrParams if types, sums or ranges of the openings are wrong. It
	// does not check that they open the statement's commitments: if they do not, the proof does not verify.
	Prove(ctx context.Context, ex executor.Executor, st *Statement, w *Witness[O]) ([]byte, error)
	// Decode decodes the points of a statement and its proof. It returns a *zkbench.DecodeError with the
	// offsets that the statement gives, or ErrParams if no statement can have that number of tokens.
	Decode(st *Statement, proof Field) (Claim, error)
	// Verify verifies claims that these parameters decoded, all in one multi-scalar multiplication. If that
	// fails, bisection finds the bad claims. The error then joins one *zkbench.CheckError for each bad claim,
	// which wraps ErrProof.
	Verify(ctx context.Context, ex executor.Executor, claims ...Claim) error
}
