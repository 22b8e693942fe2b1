// Package merkle is trees of Poseidon digests over rows of Goldilocks elements. Nothing here
// is constant-time: what is built, opened and verified is public.
//
// A leaf is the LinearHash of a row. Of a level with an odd number of digests the last one
// has no sibling and moves up as it is, so that a tree may have any number of leaves. With
// a power of two it is the tree of Polygon's Hermez prover and, where a row has eight
// elements or fewer, of plonky2, whose leaves are HashOrNoop.
//
// Top is the plain top digest, which these publish. It is no commitment: it does not tell a
// row of eight elements from two digests, nor how many rows there are. Root is, and it is
// the only value that verifiers take: one permutation over Top, the rows' width, their
// number and a domain tag.
//
// The Offset of a *zkbench.DecodeError counts eight bytes an element, also where the
// elements are in memory.
package merkle

import (
	"fmt"
	"math/bits"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
)

// Shape is what a tree is over: Rows rows of Width elements.
type Shape struct{ Rows, Width int }

// Bounds of a shape. Both numbers are elements of the permutation that makes Root.
const (
	MaxRows  = 1 << (29 + 11*(^uint(0)>>63)) // 2^40; 2^29 where an int has 32 bits
	MaxWidth = 1 << 20
)

// Check returns a zkbench.ErrParams for a shape that no tree has.
func (s Shape) Check() error {
	if s.Rows < 1 || s.Rows > MaxRows {
		return fmt.Errorf("%w: rows: %d; accepted: 1 to %d", zkbench.ErrParams, s.Rows, int64(MaxRows))
	}
	if s.Width < 1 || s.Width > MaxWidth {
		return fmt.Errorf("%w: width: %d; accepted: 1 to %d", zkbench.ErrParams, s.Width, MaxWidth)
	}
	return nil
}

// Levels is the number of levels, leaves and top included.
func (s Shape) Levels() int { return bits.Len(uint(s.Rows-1)) + 1 }

// nodesAt is the number of digests of a level; level 0 is the leaves'.
func (s Shape) nodesAt(level int) int { return (s.Rows-1)>>level + 1 }

// Nodes is the number of digests of all levels; 0 for a shape that no tree has.
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

// offset is where a level begins among the nodes, the leaves' first.
func (s Shape) offset(level int) int {
	n := 0
	for l := range level {
		n += s.nodesAt(l)
	}
	return n
}

// pathLen is the number of siblings on the way from a row to a level.
func (s Shape) pathLen(index, top int) (n int) {
	for level := range top {
		if sibling := index>>level ^ 1; sibling < s.nodesAt(level) {
			n++
		}
	}
	return n
}

// domain is the tag of roots, "zkroot1" with its first letter lowest. Their capacity begins
// with it. That of Compress begins with a zero, that of Hash with the length plus 1, which is
// less for any input there is (the tag is above 2^53), and that of LinearHash is zeros or a
// digest, of which the other three elements would have to be zero.
const domain = 0x31746f6f726b7a

// Root is the commitment to a tree of this shape with that top.
func (s Shape) Root(top poseidon.Digest) poseidon.Digest {
	state := s.RootState(top)
	state.Permute()
	return poseidon.Digest(state[:poseidon.DigestLen])
}

// RootState is the state that Root permutes: what a circuit that makes a root takes.
func (s Shape) RootState(top poseidon.Digest) (state poseidon.State) {
	copy(state[:], top[:])
	state[poseidon.DigestLen] = goldilocks.Element(s.Width)
	state[poseidon.DigestLen+1] = goldilocks.Element(s.Rows)
	state[poseidon.Rate] = domain
	return state
}

// checkIndex returns an error for a row that is not there, and for a shape that no tree has.
func (s Shape) checkIndex(index int) error {
	if err := s.Check(); err != nil {
		return err
	}
	if index < 0 || index >= s.Rows {
		return fmt.Errorf("%w: index: %d; accepted: 0 to %d", zkbench.ErrParams, index, s.Rows-1)
	}
	return nil
}
