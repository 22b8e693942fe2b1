// Package merkle builds and verifies trees of Poseidon digests over rows of Goldilocks elements.
// Nothing here is constant-time: everything that is built, opened and verified is public.
//
// A leaf is the LinearHash of a row. A tree may have any number of leaves: if a level has an odd
// number of digests, the last has no sibling and moves up unchanged. If the number of leaves is a
// power of two, the tree is that of Polygon's Hermez prover. If the rows also have at most eight
// elements, it is the tree of plonky2 too. In plonky2 a leaf is the HashOrNoop of a row.
//
// Top is the top digest that those two provers publish. It is not a commitment: a row of eight
// elements and a pair of digests can have the same Top, and Top does not fix the number of rows.
// Root is a commitment, and verifiers accept no other value. It is the result of one permutation
// over Top, the rows' width, their number and a domain tag.
//
// In a *zkbench.DecodeError, Offset counts eight bytes per element, even if the elements are in
// memory.
package merkle

import (
	"fmt"
	"math/bits"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
)

// Shape is the size of the data that a tree commits to. Rows is the number of rows, and Width is
// the number of elements in each row.
type Shape struct{ Rows, Width int }

// MaxRows and MaxWidth bound a shape. Both of its numbers become elements of the permutation that
// computes Root.
const (
	MaxRows  = 1 << (29 + 11*(^uint(0)>>63)) // 2^40; 2^29 if an int has 32 bits
	MaxWidth = 1 << 20
)

// Check returns zkbench.ErrParams if Rows is not from 1 to MaxRows or Width is not from 1 to
// MaxWidth.
func (s Shape) Check() error {
	if s.Rows < 1 || s.Rows > MaxRows {
		return fmt.Errorf("%w: rows: %d; accepted: 1 to %d", zkbench.ErrParams, s.Rows, int64(MaxRows))
	}
	if s.Width < 1 || s.Width > MaxWidth {
		return fmt.Errorf("%w: width: %d; accepted: 1 to %d", zkbench.ErrParams, s.Width, MaxWidth)
	}
	return nil
}

// Levels returns the number of levels, including the leaves and the top.
func (s Shape) Levels() int { return bits.Len(uint(s.Rows-1)) + 1 }

// nodesAt returns the number of digests of a level. Level 0 is the leaves.
func (s Shape) nodesAt(level int) int { return (s.Rows-1)>>level + 1 }

// Nodes returns the number of digests of all levels, or 0 if Check refuses the shape.
func (s Shape) Nodes() int {
	if s.Check() != nil {
		return 0
	}
	n := 0
	for level := range s.Levels() {
		n += s.nodesAt(level)
	}
	return n
}

// offset returns the index of a level's first digest among all digests, which start with the
// leaves.
func (s Shape) offset(level int) int {
	n := 0
	for l := range level {
		n += s.nodesAt(l)
	}
	return n
}

// pathLen returns the number of siblings on the way from a row to level top.
func (s Shape) pathLen(index, top int) (n int) {
	for level := range top {
		if sibling := index>>level ^ 1; sibling < s.nodesAt(level) {
			n++
		}
	}
	return n
}

// domain is the tag of roots: "zkroot1" with its first letter lowest. Their capacity starts with
// it. The capacity of Compress starts with a zero. The capacity of Hash starts with the length plus
// 1, which is smaller for every possible input, since the tag is above 2^53. The capacity of
// LinearHash is zeros or a digest, whose other three elements would have to be zero.
const domain = 0x31746f6f726b7a

// Root returns the commitment to a tree of this shape with the given top digest. Check must accept
// the shape.
func (s Shape) Root(top poseidon.Digest) poseidon.Digest {
	state := s.RootState(top)
	state.Permute()
	return poseidon.Digest(state[:poseidon.DigestLen])
}

// RootState returns the state that Root permutes. A circuit that computes a root needs it.
func (s Shape) RootState(top poseidon.Digest) (state poseidon.State) {
	copy(state[:], top[:])
	state[poseidon.DigestLen] = goldilocks.Element(s.Width)
	state[poseidon.DigestLen+1] = goldilocks.Element(s.Rows)
	state[poseidon.Rate] = domain
	return state
}

// checkIndex returns an error if there is no row with this index, or if Check refuses the shape.
func (s Shape) checkIndex(index int) error {
	if err := s.Check(); err != nil {
		return err
	}
	if index < 0 || index >= s.Rows {
		return fmt.Errorf("%w: index: %d; accepted: 0 to %d", zkbench.ErrParams, index, s.Rows-1)
	}
	return nil
}
