// Package keccak proves Keccak-256 of messages with package stark. It uses two tables. The table of
// permutations has a row for each round of a permutation. The table of sponges has a row for each block of a
// message. Tuples on buses (package stark/air) link the tables. Each tuple has the number of a permutation
// and the state before or after that permutation. The statement is "I know m_i of length n_i with
// Keccak-256(m_i) = h_i".
//
// The messages that a System hashes are public, hidden or exposed (stark.Visibility). Hidden messages need
// parameters with zero knowledge. Exposed ones are not in the statement, but can be read from a proof.
//
// PermutationTable and SpongeTable prove each table alone, for states that are public.
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

// Claim states the length and digest of one message.
type Claim struct {
	Length int
	Digest [keccak.Digest]byte
	// Message is the message itself if messages are public, and nil otherwise.
	Message []byte
}

// Claims returns a Claim with the length and digest of each message. The claims include the messages
// themselves if visibility is stark.Public.
func Claims(messages [][]byte, visibility stark.Visibility) (claims []Claim) {
	for _, m := range messages {
		c := Claim{Length: len(m), Digest: keccak.Sum256(m)}
		if visibility == stark.Public {
			c.Message = append([]byte{}, m...) // not nil even if it is empty
		}
		claims = append(claims, c)
	}
	return claims
}

// table describes one of a system's tables.
type table interface {
	table() *air.Table
	columns() int
	rows(permutations int) int // minimum number of filled rows
}

// tables is a system of both tables or of one.
type tables struct {
	*stark.System
	params   stark.Params
	all      []table
	messages int // maximum number of bus messages in a statement for each block
}

func newTables(ctx context.Context, ex executor.Executor, c stark.Config, messages int, all ...table) (tables, error) {
	var stated []*air.Table
	for _, t := range all {
		stated = append(stated, t.table())
	}
	inner, err := stark.NewOn(ctx, ex, c, stated...)
	return tables{inner, c.Params, all, messages}, err
}

// heights returns the tables' heights for a number of blocks.
func (t *tables) heights(blocks int) (rows stark.Form) {
	for _, one := range t.all {
		rows = append(rows, t.params.Height(max(leastRows, one.rows(blocks))))
	}
	return rows
}

// maxBlocks is more than any table has room for.
const maxBlocks = 1 << 28

// check refuses numbers of blocks that cannot be proved.
func check(blocks int) error {
	if blocks < 1 || blocks > maxBlocks {
		return fmt.Errorf("%w: %d blocks, accepted are 1 to %d", zkbench.ErrParams, blocks, maxBlocks)
	}
	return nil
}

// Proved reports the proved soundness of a proof of the given number of blocks, in the worst case that each
// is a message of its own. It returns zkbench.ErrParams if no proof can have that many blocks.
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

// Widths returns the number of columns of each table, permutations before sponges.
func (t *tables) Widths() (columns []int) {
	for _, one := range t.all {
		columns = append(columns, one.columns())
	}
	return columns
}

// Cells returns the number of cells in the traces of the given number of blocks.
func (t *tables) Cells(blocks int) (n int) {
	widths := t.Widths()
	for i, rows := range t.heights(blocks) {
		n += rows * widths[i]
	}
	return n
}

// Memory estimates the most memory, in bytes, that a proof of the given number of blocks takes. It returns
// zkbench.ErrParams if no proof can have that many blocks.
func (t *tables) Memory(blocks int) (uint64, error) {
	if err := check(blocks); err != nil {
		return 0, err
	}
	return t.System.Memory(t.heights(blocks))
}

// LeanMemory estimates what Memory does, but for a proof with stark.Options.Lean.
func (t *tables) LeanMemory(blocks int) (uint64, error) {
	if err := check(blocks); err != nil {
		return 0, err
	}
	return t.System.LeanMemory(t.heights(blocks))
}

// System proves the Keccak-256 digests of messages, and verifies such proofs. It uses the table of
// permutations and the table of sponges.
type System struct {
	tables
	sponge sponge
}

// New returns a system with the tables of permutations and sponges. The second argument says who can read
// the hashed messages. If this argument is stark.Public, the messages are part of the system's statements.
// New returns zkbench.ErrParams for stark.Hidden if the parameters lack zero knowledge, because a message
// could be read from its proof.
func New(c stark.Config, messages stark.Visibility) (*System, error) {
	return newOn(context.Background(), executor.Serial(), c, messages)
}

// newOn is New on an executor.
func newOn(ctx context.Context, ex executor.Executor, c stark.Config, messages stark.Visibility) (*System, error) {
	if err := messages.Check(c.Params, stark.Public, stark.Hidden, stark.Exposed); err != nil {
		return nil, fmt.Errorf("messages: %w", err)
	}
	s := sponge{newPermutation(c.Field), messages}
	t, err := newTables(ctx, ex, c, 2, s.permutation, s)
	if err != nil {
		return nil, err
	}
	return &System{t, s}, nil
}

// Prove proves the length and digest of each message. The proof is bound to the bytes in
// bindTo. There must be at least one message.
func (s *System) Prove(ctx context.Context, ex executor.Executor, messages [][]byte, bindTo []byte, options stark.Options) ([]byte, error) {
	statement, err := s.Statement(Claims(messages, s.sponge.messages), bindTo)
	if err != nil {
		return nil, err
	}
	return s.System.Prove(ctx, ex, s.Traces(messages), statement, options)
}

// Traces returns the traces of the tables of permutations and sponges for a proof of the digests of the
// messages.
func (s *System) Traces(messages [][]byte) []stark.Trace {
	blocks := absorb(messages)
	heights := s.heights(len(blocks))
	return []stark.Trace{s.sponge.permutation.trace(heights[0], permuted(blocks)), s.sponge.trace(heights[1], blocks, len(messages))}
}

// Verify checks a proof of the claims. The claims must be in the order of the messages. The proof must be
// bound to the bytes in bindTo.
func (s *System) Verify(proof []byte, claims []Claim, bindTo []byte) error {
	statement, err := s.Statement(claims, bindTo)
	if err != nil {
		return err
	}
	return s.System.Verify(proof, statement)
}

// Statement returns the statement of a proof of these claims, with the parameter bindTo as the context.
// The heights of the tables follow from the lengths of the messages. Statement returns zkbench.ErrParams
// if there are no claims or a claim is invalid.
func (s *System) Statement(claims []Claim, bindTo []byte) (stark.Statement, error) {
	messages, err := s.sponge.claimed(claims)
	if err != nil {
		return stark.Statement{}, err
	}
	return stark.Statement{Forms: []stark.Form{s.heights(blocksOf(claims))}, Messages: messages, Context: bindTo}, nil
}
