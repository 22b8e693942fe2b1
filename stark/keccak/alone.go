package keccak

import (
	"context"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/stark"
)

// The statement about a table alone takes the other table's place on the buses: it has, in order, the
// states before all permutations and after them, and the prover has no say in them. So whoever
// accepts a proof of each table, of one list of states, has what System proves. But the list tells
// the messages: a block is the exclusive or of the state before its permutation and the state after
// the one before, which is zeros for a message's first block.

// PermutationTable proves and verifies "for each i, Out_i = Keccak-f(In_i)", by the table of
// permutations alone.
type PermutationTable struct {
	tables
	permutation permutation
}

// NewPermutationTable returns the table of permutations, in a configuration.
func NewPermutationTable(c stark.Config) (*PermutationTable, error) {
	p := newPermutation(c.Field)
	t, err := newTables(c, 2, p)
	if err != nil {
		return nil, err
	}
	return &PermutationTable{t, p}, nil
}

// Prove proves permutations, one at least. One that is none is a zkbench.ErrWitness.
func (t *PermutationTable) Prove(ctx context.Context, ex executor.Executor, states []States, about []byte, options stark.Options) ([]byte, error) {
	statement, err := t.Statement(states, about)
	if err != nil {
		return nil, err
	}
	return t.System.Prove(ctx, ex, []stark.Trace{t.permutation.trace(t.heights(len(states))[0], states)}, statement, options)
}

// Verify checks a proof of permutations, in their order.
func (t *PermutationTable) Verify(proof []byte, states []States, about []byte) error {
	statement, err := t.Statement(states, about)
	if err != nil {
		return err
	}
	return t.System.Verify(proof, statement)
}

// Statement is what a proof of permutations is about. That there is none is a zkbench.ErrParams.
func (t *PermutationTable) Statement(states []States, about []byte) (stark.Statement, error) {
	messages, err := t.permutation.exchange(states, -1)
	if err != nil {
		return stark.Statement{}, err
	}
	return stark.Statement{Forms: []stark.Form{t.heights(len(states))}, Messages: messages, Context: about}, nil
}

// SpongeTable proves and verifies "if Keccak-f permutes these states so, then Keccak-256(m_i) = h_i,
// and m_i has length n_i", by the table of sponges alone. The permutations are those of all blocks of
// all messages, in order. Whether they are permutations it does not say, and m_i is no secret.
type SpongeTable struct {
	tables
	sponge sponge
}

// NewSpongeTable returns the table of sponges, in a configuration. Messages that are stark.Public are part
// of statements, beside the states that tell them; others are stark.Exposed by these.
func NewSpongeTable(c stark.Config, messages stark.Visibility) (*SpongeTable, error) {
	if err := messages.Check(c.Params, stark.Public, stark.Exposed); err != nil {
		return nil, fmt.Errorf("messages: %w", err)
	}
	s := sponge{newPermutation(c.Field), messages}
	t, err := newTables(c, 4, s)
	if err != nil {
		return nil, err
	}
	return &SpongeTable{t, s}, nil
}

// Prove proves the claims that are true of messages, one at least, of their Permutations.
func (t *SpongeTable) Prove(ctx context.Context, ex executor.Executor, messages [][]byte, about []byte, options stark.Options) ([]byte, error) {
	blocks := absorb(messages)
	statement, err := t.Statement(Claims(messages, t.sponge.messages), permuted(blocks), about)
	if err != nil {
		return nil, err
	}
	return t.System.Prove(ctx, ex, []stark.Trace{t.sponge.trace(t.heights(len(blocks))[0], blocks, len(messages))}, statement, options)
}

// Verify checks a proof of claims and of the permutations that they rely on, each in their order.
func (t *SpongeTable) Verify(proof []byte, claims []Claim, states []States, about []byte) error {
	statement, err := t.Statement(claims, states, about)
	if err != nil {
		return err
	}
	return t.System.Verify(proof, statement)
}

// Statement is what a proof of claims is about, and of the permutations that they rely on, one for each
// block. No claims, and another number of permutations, are a zkbench.ErrParams.
func (t *SpongeTable) Statement(claims []Claim, states []States, about []byte) (stark.Statement, error) {
	messages, err := t.sponge.claimed(claims)
	if err != nil {
		return stark.Statement{}, err
	}
	if blocks := blocksOf(claims); len(states) != blocks {
		return stark.Statement{}, fmt.Errorf("%w: %d permutations, accepted are %d, one for each block", zkbench.ErrParams, len(states), blocks)
	}
	permutations, err := t.sponge.exchange(states, 1)
	if err != nil {
		return stark.Statement{}, err
	}
	return stark.Statement{Forms: []stark.Form{t.heights(len(states))}, Messages: append(messages, permutations...), Context: about}, nil
}
