package merkle

import (
	"fmt"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
)

// Verify checks that root commits to the given row at the given index. Root binds the shape, so a
// verifier may take the shape from the prover.
//
// Verify returns ErrParams if the index, the length of the row or the length of the path is wrong.
// It returns ErrMalformed if an element is not canonical, and ErrProof if root commits to another
// row.
func Verify(root poseidon.Digest, shape Shape, index int, row []goldilocks.Element, path []poseidon.Digest) error {
	top, err := shape.climb(index, row, path, shape.Levels()-1)
	if err != nil {
		return err
	}
	if shape.Root(top) != root {
		return fmt.Errorf("%w: path: it does not lead from the row to the root", zkbench.ErrProof)
	}
	return nil
}

// climb returns the digest on level top to which path leads from row.
func (s Shape) climb(index int, row []goldilocks.Element, path []poseidon.Digest, top int) (poseidon.Digest, error) {
	var d poseidon.Digest
	if err := s.checkIndex(index); err != nil {
		return d, err
	}
	if err := s.checkRow(row); err != nil {
		return d, err
	}
	if want := s.pathLen(index, top); len(path) != want {
		return d, fmt.Errorf("%w: path: %d digests; accepted: %d", zkbench.ErrParams, len(path), want)
	}
	if err := checkDigests("path", path); err != nil {
		return d, err
	}
	d = poseidon.LinearHash(row)
	for level := range top {
		i := index >> level
		switch {
		case i^1 >= s.nodesAt(level): // it has no sibling
		case i&1 == 0:
			d, path = poseidon.Compress(d, path[0]), path[1:]
		default:
			d, path = poseidon.Compress(path[0], d), path[1:]
		}
	}
	return d, nil
}

func (s Shape) checkRow(row []goldilocks.Element) error {
	if len(row) != s.Width {
		return fmt.Errorf("%w: row: %d elements; accepted: %d", zkbench.ErrParams, len(row), s.Width)
	}
	for i, e := range row {
		if !e.Canonical() {
			return notCanonical(fmt.Sprintf("row[%d]", i), elementBytes*i)
		}
	}
	return nil
}

func checkDigests(what string, digests []poseidon.Digest) error {
	for i := range digests {
		for j, e := range digests[i] {
			if !e.Canonical() {
				return notCanonical(fmt.Sprintf("%s[%d][%d]", what, i, j), digestBytes*i+elementBytes*j)
			}
		}
	}
	return nil
}

// notCanonical returns the error for an element that is not below the modulus.
func notCanonical(path string, offset int) error {
	return &zkbench.DecodeError{Path: path, Offset: offset, Reason: "not below the modulus"}
}

// Cap is a level of a tree near its top. NewCap has checked it against the root, so a path may end
// at this level instead of the top. Create it with NewCap.
type Cap struct {
	shape   Shape
	level   int
	digests []poseidon.Digest
}

// NewCap checks that digests are the cap of the given height, in the tree that root commits to.
//
// It returns ErrParams if height is not from 0 to 20 or if the number of digests is wrong. It
// returns ErrMalformed if an element is not canonical, and ErrProof if root commits to another cap.
func NewCap(root poseidon.Digest, shape Shape, height int, digests []poseidon.Digest) (*Cap, error) {
	level, err := shape.capLevel(height)
	if err != nil {
		return nil, err
	}
	if len(digests) != shape.nodesAt(level) {
		return nil, fmt.Errorf("%w: cap: %d digests; accepted: %d", zkbench.ErrParams, len(digests), shape.nodesAt(level))
	}
	if err := checkDigests("cap", digests); err != nil {
		return nil, err
	}
	c := &Cap{shape, level, slices.Clone(digests)}
	up := slices.Clone(digests)
	for len(up) > 1 {
		pairs := len(up) / 2
		odd := len(up) % 2
		for i := range pairs {
			up[i] = poseidon.Compress(up[2*i], up[2*i+1])
		}
		if odd == 1 {
			up[pairs] = up[2*pairs]
		}
		up = up[:pairs+odd]
	}
	if shape.Root(up[0]) != root {
		return nil, fmt.Errorf("%w: cap: it does not lead to the root", zkbench.ErrProof)
	}
	return c, nil
}

// Verify checks that the root given to NewCap commits to the given row at the given index. The path
// must lead from the row to the cap. The method returns the same errors as the function Verify.
func (c *Cap) Verify(index int, row []goldilocks.Element, path []poseidon.Digest) error {
	d, err := c.shape.climb(index, row, path, c.level)
	if err != nil {
		return err
	}
	if c.digests[index>>c.level] != d {
		return fmt.Errorf("%w: path: it does not lead from the row to the cap", zkbench.ErrProof)
	}
	return nil
}

// maxCap is the maximum height of a cap.
const maxCap = 20

// capLevel returns the lowest level with at most 2^height digests.
func (s Shape) capLevel(height int) (int, error) {
	if err := s.Check(); err != nil {
		return 0, err
	}
	if height < 0 || height > maxCap {
		return 0, fmt.Errorf("%w: height of the cap: %d; accepted: 0 to %d", zkbench.ErrParams, height, maxCap)
	}
	return max(s.Levels()-1-height, 0), nil
}
