package keccak

import (
	"context"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/recursion"
)

// Batch is the form of what one proof is of: so many messages, of so many blocks in all at most.
type Batch struct{ Messages, Blocks int }

// Aggregation proves batches of messages in one proof, whose size hardly depends on them: of each batch a
// proof, and by recursion one of all. Messages are not public.
type Aggregation struct {
	system *System
	batch  Batch
	rows   []int
	tree   *recursion.Tree
}

// lowest is by how much the table of sponges is lower than that of permutations, at most. A verifier's program
// grows with how many columns are stacked, and so with that; the cells of more rows cost less.
const lowest = 8

// NewAggregation returns what proves so many batches of a form.
func NewAggregation(sets recursion.Sets, batch Batch, batches int) (*Aggregation, error) {
	if batch.Messages < 1 || batch.Blocks < batch.Messages {
		return nil, fmt.Errorf("%w: batches of %d messages and %d blocks, accepted are 1 message and more, of a block and more each", zkbench.ErrParams, batch.Messages, batch.Blocks)
	}
	s, err := New(sets.Children(sets.Child.Height(batch.Blocks*keccak.Rounds)), false)
	if err != nil {
		return nil, err
	}
	a := &Aggregation{system: s, batch: batch, rows: s.heights(batch.Blocks)}
	a.rows[1] = max(a.rows[1], a.rows[0]/lowest)
	like, err := s.Statement(make([]Claim, batch.Messages), nil)
	if err != nil {
		return nil, err
	}
	a.tree, err = recursion.NewTree(sets, recursion.NewChild(s.System, a.rows, like), batches)
	return a, err
}

// Tree is what makes one proof of those of all batches.
func (a *Aggregation) Tree() *recursion.Tree { return a.tree }

// Batches proves each batch: what Tree is given.
func (a *Aggregation) Batches(ctx context.Context, ex executor.Executor, batches [][][]byte, options stark.Options) (proofs []recursion.Proof, err error) {
	for i, messages := range batches {
		blocks := absorb(messages)
		if len(messages) != a.batch.Messages || len(blocks) > a.batch.Blocks {
			return nil, fmt.Errorf("%w: batch %d has %d messages of %d blocks, accepted are %d of up to %d", zkbench.ErrParams, i, len(messages), len(blocks), a.batch.Messages, a.batch.Blocks)
		}
		about, err := a.system.Statement(Claims(messages, false), nil)
		if err != nil {
			return nil, err
		}
		traces := a.system.Traces(messages)
		for t := range traces {
			traces[t].Rows = a.rows[t]
		}
		proof, err := a.system.System.Prove(ctx, ex, traces, about, options)
		if err != nil {
			return nil, err
		}
		proofs = append(proofs, recursion.Proof{Bytes: proof, Statement: about})
	}
	return proofs, nil
}

// Prove proves the claims that are true of all batches' messages.
func (a *Aggregation) Prove(ctx context.Context, ex executor.Executor, batches [][][]byte, options stark.Options) ([]byte, error) {
	proofs, err := a.Batches(ctx, ex, batches, options)
	if err != nil {
		return nil, err
	}
	return a.tree.Prove(ctx, ex, proofs, options)
}

// Verify checks a proof of the claims of each batch.
func (a *Aggregation) Verify(proof []byte, batches [][]Claim) error {
	var statements []stark.Statement
	for _, claims := range batches {
		about, err := a.system.Statement(claims, nil)
		if err != nil {
			return err
		}
		statements = append(statements, about)
	}
	return a.tree.Verify(proof, statements)
}

// Memory is what proving takes at most, about, in bytes.
func (a *Aggregation) Memory() (uint64, error) {
	most, err := a.system.System.Memory(a.rows)
	if err != nil {
		return 0, err
	}
	rest, err := a.tree.Memory()
	return max(most, rest), err
}
