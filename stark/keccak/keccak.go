// Package keccak proves Keccak-256 of messages by package stark: a table of permutations, a row a
// round, and one of sponges, a row a block, linked by messages: a permutation's number, and the
// state before it or after. The statement is "I know m_i of length n_i with Keccak-256(m_i) = h_i";
// the messages are secret, as far as a proof that is not zero-knowledge keeps them, or public.
package keccak

import (
	"context"
	"encoding/binary"
	"fmt"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/stark"
	"github.com/zkbench/zkbench/stark/security"
)

// Claim is what is said of a message.
type Claim struct {
	Length int
	Digest [keccak.Digest]byte
	// Message is the message itself, where messages are public; nil where they are not.
	Message []byte
}

// Claims are what is true of messages.
func Claims(messages [][]byte, public bool) (claims []Claim) {
	for _, m := range messages {
		c := Claim{Length: len(m), Digest: keccak.Sum256(m)}
		if public {
			c.Message = append([]byte{}, m...) // not nil where it is empty
		}
		claims = append(claims, c)
	}
	return claims
}

// System proves and verifies hashes.
type System struct {
	*stark.System
	sponge sponge
}

// New returns a system of a configuration; with public the messages are part of statements.
func New(c stark.Config, public bool) (*System, error) {
	s := sponge{permutation{16}, public}
	if c.Field == stark.Goldilocks {
		s.limbBits = 32
	}
	inner, err := stark.New(c, s.permutation.table(), s.table())
	if err != nil {
		return nil, err
	}
	return &System{inner, s}, nil
}

// Prove proves the claims that are true of messages, one at least.
func (s *System) Prove(ctx context.Context, ex executor.Executor, messages [][]byte, about []byte, options stark.Options) ([]byte, error) {
	statement, err := s.Statement(Claims(messages, s.sponge.public), about)
	if err != nil {
		return nil, err
	}
	return s.System.Prove(ctx, ex, s.Traces(messages), statement, options)
}

// Traces are those of the tables, for messages.
func (s *System) Traces(messages [][]byte) []stark.Trace {
	blocks := absorb(messages)
	states := make([][keccak.Lanes]uint64, len(blocks))
	for i := range blocks {
		states[i] = blocks[i].in()
	}
	return []stark.Trace{s.sponge.permutation.trace(states), s.sponge.trace(blocks, len(messages))}
}

// Verify checks a proof of claims, in their order.
func (s *System) Verify(proof []byte, claims []Claim, about []byte) error {
	statement, err := s.Statement(claims, about)
	if err != nil {
		return err
	}
	return s.System.Verify(proof, statement)
}

// heights are those of the tables, for so many blocks.
func (s *System) heights(blocks int) []int {
	return []int{s.sponge.permutation.rows(blocks), s.sponge.rows(blocks)}
}

// Proved is what is proved of the soundness of a proof of so many blocks, of as many messages at most.
func (s *System) Proved(blocks int) (security.Report, error) {
	p, err := s.Security(s.heights(blocks), 2*blocks)
	if err != nil {
		return security.Report{}, err
	}
	return p.Best()
}

// Widths are the numbers of columns, of permutations and of sponges.
func (s *System) Widths() [2]int {
	return [2]int{s.sponge.permutation.columns(), s.sponge.columns()}
}

// Memory is what a proof of so many blocks takes at most, about, in bytes.
func (s *System) Memory(blocks int) (uint64, error) { return s.System.Memory(s.heights(blocks)) }

// Statement is what a proof of claims is about: it receives, of each message, what the sponges send
// when its last block is absorbed, and, of public messages, all blocks.
func (s *System) Statement(claims []Claim, about []byte) (statement stark.Statement, err error) {
	statement.Context = about
	if len(claims) == 0 {
		return statement, fmt.Errorf("%w: no message", zkbench.ErrParams)
	}
	limbs := func(data []byte) (all []uint64) {
		for ; len(data) > 0; data = data[s.sponge.limbBits/8:] {
			if s.sponge.limbBits == 16 {
				all = append(all, uint64(binary.LittleEndian.Uint16(data)))
			} else {
				all = append(all, uint64(binary.LittleEndian.Uint32(data)))
			}
		}
		return all
	}
	receive := func(bus string, tuple ...uint64) {
		statement.Messages = append(statement.Messages, stark.Message{Bus: bus, Times: -1, Tuple: tuple})
	}
	for i, c := range claims {
		if c.Length < 0 || c.Length > maxLength || s.sponge.public != (c.Message != nil) || s.sponge.public && len(c.Message) != c.Length {
			return statement, fmt.Errorf("%w: message %d of %d bytes, %d of them public, accepted are up to %d, and all where messages are public, else none", zkbench.ErrParams, i, c.Length, len(c.Message), maxLength)
		}
		receive(busHash, append([]uint64{uint64(i), uint64(c.Length)}, limbs(c.Digest[:])...)...)
		if !s.sponge.public {
			continue
		}
		padded := keccak.Padded(keccak.Keccak256, c.Message)
		for before := 0; before < len(padded); before += keccak.Rate {
			receive(busBlock, append([]uint64{uint64(i), uint64(before)}, limbs(padded[before:][:keccak.Rate])...)...)
		}
	}
	return statement, nil
}

// maxLength is far below both fields' orders, so that lengths are counted without a wrap.
const maxLength = 1 << 28
