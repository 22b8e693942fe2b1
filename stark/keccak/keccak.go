// Package keccak proves Keccak-256 of messages by package stark: a table of permutations, a row a
// round, and one of sponges, a row a block, linked by messages: a permutation's number, and the
// state before it or after. The statement is "I know m_i of length n_i with Keccak-256(m_i) = h_i". Whoever
// makes a system says whether the messages are public, hidden, which takes parameters of zero knowledge, or
// exposed: not in the statement, but readable from a proof.
//
// Each table is proved alone too, of states that are public: PermutationTable and SpongeTable.
package keccak

import (
	"context"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/air"
	"github.com/zkbench/zkbench/stark/security"
)

// Claim is what is said of a message.
type Claim struct {
	Length int
	Digest [keccak.Digest]byte
	// Message is the message itself, where messages are public; nil where they are not.
	Message []byte
}

// Claims are what is true of messages, with the messages themselves if they are stark.Public.
func Claims(messages [][]byte, of stark.Visibility) (claims []Claim) {
	for _, m := range messages {
		c := Claim{Length: len(m), Digest: keccak.Sum256(m)}
		if of == stark.Public {
			c.Message = append([]byte{}, m...) // not nil where it is empty
		}
		claims = append(claims, c)
	}
	return claims
}

// table is one of a system's.
type table interface {
	table() *air.Table
	columns() int
	rows(permutations int) int // that are filled, at least
}

// tables are a system of both, or of one.
type tables struct {
	*stark.System
	params   stark.Params
	all      []table
	messages int // of a statement, for each block at most
}

func newTables(c stark.Config, messages int, all ...table) (tables, error) {
	var stated []*air.Table
	for _, t := range all {
		stated = append(stated, t.table())
	}
	inner, err := stark.New(c, stated...)
	return tables{inner, c.Params, all, messages}, err
}

// heights are those of the tables, for so many blocks.
func (t *tables) heights(blocks int) (rows stark.Form) {
	for _, one := range t.all {
		rows = append(rows, t.params.Height(max(leastRows, one.rows(blocks))))
	}
	return rows
}

// maxBlocks is more than any table has room for.
const maxBlocks = 1 << 28

// check refuses numbers of blocks of which there is no proof.
func check(blocks int) error {
	if blocks < 1 || blocks > maxBlocks {
		return fmt.Errorf("%w: %d blocks, accepted are 1 to %d", zkbench.ErrParams, blocks, maxBlocks)
	}
	return nil
}

// Proved is what is proved of the soundness of a proof of so many blocks, of as many messages at most.
func (t *tables) Proved(blocks int) (security.Report, error) {
	if err := check(blocks); err != nil {
		return security.Report{}, err
	}
	p, err := t.Security(t.heights(blocks), t.messages*blocks)
	if err != nil {
		return security.Report{}, err
	}
	return p.Best()
}

// Widths are the numbers of columns, permutations before sponges.
func (t *tables) Widths() (columns []int) {
	for _, one := range t.all {
		columns = append(columns, one.columns())
	}
	return columns
}

// Cells are those of the traces of so many blocks.
func (t *tables) Cells(blocks int) (n int) {
	widths := t.Widths()
	for i, rows := range t.heights(blocks) {
		n += rows * widths[i]
	}
	return n
}

// Memory is what a proof of so many blocks takes at most, about, in bytes.
func (t *tables) Memory(blocks int) (uint64, error) {
	if err := check(blocks); err != nil {
		return 0, err
	}
	return t.System.Memory(t.heights(blocks))
}

// System proves and verifies hashes, by both tables.
type System struct {
	tables
	sponge sponge
}

// New returns a system of a configuration. Messages that are stark.Public are part of statements; stark.Hidden
// is refused if the parameters have no zero knowledge, without which a message can be read from its proof.
func New(c stark.Config, messages stark.Visibility) (*System, error) {
	if err := messages.Check(c.Params, stark.Public, stark.Hidden, stark.Exposed); err != nil {
		return nil, fmt.Errorf("messages: %w", err)
	}
	s := sponge{newPermutation(c.Field), messages}
	t, err := newTables(c, 2, s.permutation, s)
	if err != nil {
		return nil, err
	}
	return &System{t, s}, nil
}

// Prove proves the claims that are true of messages, one at least.
func (s *System) Prove(ctx context.Context, ex executor.Executor, messages [][]byte, about []byte, options stark.Options) ([]byte, error) {
	statement, err := s.Statement(Claims(messages, s.sponge.messages), about)
	if err != nil {
		return nil, err
	}
	return s.System.Prove(ctx, ex, s.Traces(messages), statement, options)
}

// Traces are those of the tables, for messages.
func (s *System) Traces(messages [][]byte) []stark.Trace {
	blocks := absorb(messages)
	heights := s.heights(len(blocks))
	return []stark.Trace{s.sponge.permutation.trace(heights[0], permuted(blocks)), s.sponge.trace(heights[1], blocks, len(messages))}
}

// Verify checks a proof of claims, in their order.
func (s *System) Verify(proof []byte, claims []Claim, about []byte) error {
	statement, err := s.Statement(claims, about)
	if err != nil {
		return err
	}
	return s.System.Verify(proof, statement)
}

// Statement is what a proof of claims is about. The heights of the tables follow from the lengths.
func (s *System) Statement(claims []Claim, about []byte) (stark.Statement, error) {
	messages, err := s.sponge.claimed(claims)
	if err != nil {
		return stark.Statement{}, err
	}
	return stark.Statement{Forms: []stark.Form{s.heights(blocksOf(claims))}, Messages: messages, Context: about}, nil
}
