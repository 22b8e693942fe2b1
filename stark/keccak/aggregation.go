package keccak

import (
	"context"
	"fmt"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/recursion"
)

// Batch is the size of a batch. Messages is its number of messages. Blocks is the maximum number of blocks
// of all its messages together.
type Batch struct{ Messages, Blocks int }

// Aggregation proves the digests of several batches of messages in one proof. The size of this proof hardly
// depends on the batches. Aggregation proves each batch and combines these proofs by recursion. Messages are
// stark.Exposed: they are not in the statement, but nothing hides them, because proofs of package recursion
// have no zero knowledge.
type Aggregation struct {
	system *System
	batch  Batch
	form   stark.Form // form of each batch's proof
	tree   *recursion.Tree
}

// lowest bounds how many times lower the table of sponges is than that of permutations. A verifier's program
// grows with the number of columns in a stack, and so with that ratio. The cells of more rows cost less.
const lowest = 8

// NewAggregation returns an Aggregation for the given number of batches, which all have the same size. It
// returns zkbench.ErrParams if a batch has no message, fewer blocks than messages, or too many blocks, or if
// there are no batches.
func NewAggregation(params recursion.TreeParams, batch Batch, batches int) (*Aggregation, error) {
	return NewAggregationOn(context.Background(), executor.Serial(), params, batch, batches)
}

// NewAggregationOn returns what NewAggregation returns. The executor splits the work among processors.
func NewAggregationOn(ctx context.Context, ex executor.Executor, params recursion.TreeParams, batch Batch, batches int) (*Aggregation, error) {
	if batch.Messages < 1 || batch.Blocks < batch.Messages || batch.Blocks > maxBlocks {
		return nil, fmt.Errorf("%w: batches of %d messages and %d blocks, accepted are at least 1 message, at least as many blocks as messages, and at most %d blocks", zkbench.ErrParams, batch.Messages, batch.Blocks, maxBlocks)
	}
	s, err := newOn(ctx, ex, params.Children(params.Child.Height(batch.Blocks*keccak.Rounds)), stark.Exposed)
	if err != nil {
		return nil, err
	}
	a := &Aggregation{system: s, batch: batch, form: s.heights(batch.Blocks)}
	a.form[1] = max(a.form[1], a.form[0]/lowest)
	if _, err := s.System.Memory(a.form); err != nil { // before memory is allocated for that many claims
		return nil, err
	}
	like, err := a.statement(make([]Claim, batch.Messages))
	if err != nil {
		return nil, err
	}
	if a.tree, err = recursion.NewTreeOn(ctx, ex, params, recursion.NewChild(s.System, like), batches); err != nil {
		return nil, err
	}
	return a, nil
}

// statement returns the statement of a proof of one batch. It has the form of all batches, whatever the
// lengths of its messages are.
func (a *Aggregation) statement(claims []Claim) (stark.Statement, error) {
	about, err := a.system.Statement(claims, nil)
	about.Forms = []stark.Form{slices.Clone(a.form)}
	return about, err
}

// Tree returns the tree that combines the proofs of all batches.
func (a *Aggregation) Tree() *recursion.Tree { return a.tree }

// Batches proves each batch and returns these proofs, one for each batch. The tree that the method Tree
// returns can combine them into one proof. The proofs of the batches are not bound to any context. So anyone
// who has these proofs can combine them into a proof of their claims, in any context.
//
// The proofs of several batches are made at once if they take no more memory together than the tree's largest proof,
// and if options.Span is not set.
func (a *Aggregation) Batches(ctx context.Context, ex executor.Executor, batches [][][]byte, options stark.Options) ([]recursion.Proof, error) {
	for i, messages := range batches {
		if blocks := len(absorb(messages)); len(messages) != a.batch.Messages || blocks > a.batch.Blocks {
			return nil, fmt.Errorf("%w: batch %d has %d messages of %d blocks, accepted are %d of up to %d", zkbench.ErrParams, i, len(messages), blocks, a.batch.Messages, a.batch.Blocks)
		}
	}
	atOnce, err := a.atOnce()
	if err != nil {
		return nil, err
	}
	if options.Span != nil { // it follows one proof
		atOnce = 1
	}
	proofs := make([]recursion.Proof, len(batches))
	for from := 0; from < len(batches); from += atOnce {
		err := ex.Do(ctx, min(atOnce, len(batches)-from), func(_ context.Context, i int) (err error) {
			proofs[from+i], err = a.prove(ctx, ex, batches[from+i], options)
			return err
		})
		if err != nil {
			return nil, err
		}
	}
	return proofs, nil
}

// atOnce returns the number of batches that are proved at once.
func (a *Aggregation) atOnce() (int, error) {
	one, err := a.system.System.Memory(a.form)
	if err != nil {
		return 0, err
	}
	largest, err := a.tree.Memory()
	return int(max(1, largest/max(1, one))), err
}

// prove proves one batch.
func (a *Aggregation) prove(ctx context.Context, ex executor.Executor, messages [][]byte, options stark.Options) (recursion.Proof, error) {
	about, err := a.statement(Claims(messages, stark.Exposed))
	if err != nil {
		return recursion.Proof{}, err
	}
	traces := a.system.Traces(messages)
	for t := range traces {
		traces[t].Rows = a.form[t]
	}
	proof, err := a.system.System.Prove(ctx, ex, traces, about, options)
	return recursion.Proof{Bytes: proof, Statement: about}, err
}

// Prove proves the length and digest of every message of all batches. The proof is bound to the bytes
// in bindTo, which can be, for example, the transaction that the proof belongs to.
func (a *Aggregation) Prove(ctx context.Context, ex executor.Executor, batches [][][]byte, bindTo []byte, options stark.Options) ([]byte, error) {
	proofs, err := a.Batches(ctx, ex, batches, options)
	if err != nil {
		return nil, err
	}
	return a.tree.Prove(ctx, ex, proofs, bindTo, options)
}

// Verify checks a proof of the claims of each batch. The proof must be bound to the bytes in
// bindTo.
func (a *Aggregation) Verify(proof []byte, batches [][]Claim, bindTo []byte) error {
	var statements []stark.Statement
	for _, claims := range batches {
		statement, err := a.statement(claims)
		if err != nil {
			return err
		}
		statements = append(statements, statement)
	}
	return a.tree.Verify(proof, statements, bindTo)
}

// Memory estimates the largest amount of memory, in bytes, that proving takes at any time.
func (a *Aggregation) Memory() (uint64, error) {
	most, err := a.system.System.Memory(a.form)
	if err != nil {
		return 0, err
	}
	rest, err := a.tree.Memory()
	return max(most, rest), err
}
