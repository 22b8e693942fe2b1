package keccak

import (
	"context"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/stark"
)

// The statement about a table alone takes the other table's place on the buses. It lists, in order, the
// states before and after all permutations, and the prover cannot choose them. A proof of each table, both
// for one list of states, therefore proves what System proves. But the list reveals the messages: a block is
// the exclusive or of the state before its permutation and the state after the one before. For a message's
// first block, the latter is zeros.

// PermutationTable proves and verifies the statement "for each i, Out_i = Keccak-f(In_i)". It uses only the
// table of permutations, which has a row for each round of a permutation.
type PermutationTable struct {
	tables
	permutation permutation
}

// NewPermutationTable returns a system that has only the table of permutations.
func NewPermutationTable(c stark.Config) (*PermutationTable, error) {
	p := newPermutation(c.Field)
	t, err := newTables(context.Background(), executor.Serial(), c, 2, p)
	if err != nil {
		return nil, err
	}
	return &PermutationTable{t, p}, nil
}

// Prove proves that Out is Keccak-f(In) for each of the given states. The proof is bound to the bytes in
// bindTo. Prove returns zkbench.ErrWitness if an Out is not Keccak-f(In), and zkbench.ErrParams if there are
// no states.
func (t *PermutationTable) Prove(ctx context.Context, ex executor.Executor, states []States, bindTo []byte, options stark.Options) ([]byte, error) {
	statement, err := t.Statement(states, bindTo)
	if err != nil {
		return nil, err
	}
	return t.System.Prove(ctx, ex, []stark.Trace{t.permutation.trace(t.heights(len(states))[0], states)}, statement, options)
}

// Verify checks a proof that Out is Keccak-f(In) for each of the given states. The proof must be bound to
// the bytes of the parameter bindTo. The states must be in the order in which they were proved.
func (t *PermutationTable) Verify(proof []byte, states []States, bindTo []byte) error {
	statement, err := t.Statement(states, bindTo)
	if err != nil {
		return err
	}
	return t.System.Verify(proof, statement)
}

// Statement returns the statement that Out is Keccak-f(In) for each of the given states, with the parameter
// bindTo as the context. It returns zkbench.ErrParams if there are no states.
func (t *PermutationTable) Statement(states []States, bindTo []byte) (stark.Statement, error) {
	messages, err := t.permutation.exchange(states, -1)
	if err != nil {
		return stark.Statement{}, err
	}
	return stark.Statement{Forms: []stark.Form{t.heights(len(states))}, Messages: messages, Context: bindTo}, nil
}

// SpongeTable proves and verifies the statement "if Out_j = Keccak-f(In_j) for each j, then Keccak-256(m_i)
// = h_i and m_i has length n_i". Here In_j and Out_j are public: the states before and after permutation j,
// counted over all blocks of all messages in order. The statement does not say that Out_j really is
// Keccak-f(In_j). SpongeTable uses only the table of sponges, which has a row for each block of a message.
// The messages m_i are not secret.
type SpongeTable struct {
	tables
	sponge sponge
}

// NewSpongeTable returns a system that has only the table of sponges. Its statements contain the states
// before and after each permutation, which reveal the messages. If the messages are stark.Public, the
// statements contain the messages too. If they are stark.Exposed, the states alone reveal them. Hidden
// messages are refused with zkbench.ErrParams.
func NewSpongeTable(c stark.Config, messages stark.Visibility) (*SpongeTable, error) {
	if err := messages.Check(c.Params, stark.Public, stark.Exposed); err != nil {
		return nil, fmt.Errorf("messages: %w", err)
	}
	s := sponge{newPermutation(c.Field), messages}
	t, err := newTables(context.Background(), executor.Serial(), c, 4, s)
	if err != nil {
		return nil, err
	}
	return &SpongeTable{t, s}, nil
}

// Prove proves the length and digest of each message. The proof relies on the permutations that
// Permutations returns for the messages, and is bound to the bytes in bindTo. There must be
// at least one message.
func (t *SpongeTable) Prove(ctx context.Context, ex executor.Executor, messages [][]byte, bindTo []byte, options stark.Options) ([]byte, error) {
	blocks := absorb(messages)
	statement, err := t.Statement(Claims(messages, t.sponge.messages), permuted(blocks), bindTo)
	if err != nil {
		return nil, err
	}
	return t.System.Prove(ctx, ex, []stark.Trace{t.sponge.trace(t.heights(len(blocks))[0], blocks, len(messages))}, statement, options)
}

// Verify checks a proof of the claims. The proof relies on the permutations in states. The claims and the
// permutations must be in the order of the messages. The parameter bindTo is data of the caller's choice,
// to which the proof must be bound.
func (t *SpongeTable) Verify(proof []byte, claims []Claim, states []States, bindTo []byte) error {
	statement, err := t.Statement(claims, states, bindTo)
	if err != nil {
		return err
	}
	return t.System.Verify(proof, statement)
}

// Statement returns the statement of a proof of these claims, with the parameter bindTo as the context.
// The proof relies on the permutations in states, one for each block of the messages. Statement returns
// zkbench.ErrParams if there are no claims, or if the length of states is not the number of blocks.
func (t *SpongeTable) Statement(claims []Claim, states []States, bindTo []byte) (stark.Statement, error) {
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
	return stark.Statement{Forms: []stark.Form{t.heights(len(states))}, Messages: append(messages, permutations...), Context: bindTo}, nil
}
