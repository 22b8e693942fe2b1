package merkle

import (
	"fmt"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
)

// Verify checks that row is the row of that index among those that root commits to. The
// verifier must know the shape: it is bound by root, and a prover's word for it is checked
// with it.
//
// An index, a row or a path of the wrong length is an ErrParams; an element that is not
// canonical is an ErrMalformed; a row that is another is an ErrProof.
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

// climb returns the digest of a level to which a path leads from a row.
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

// notCanonical is the error of an element that is another's value plus the modulus.
func notCanonical(path string, offset int) error {
	return &zkbench.DecodeError{Path: path, Offset: offset, Reason: "not below the modulus"}
}

// Cap is a level near the top that a verifier has checked against the root, so that paths
// end there. It is made by NewCap.
type Cap struct {
	shape   Shape
	level   int
	digests []poseidon.Digest
}

// NewCap checks that digests are the cap of that height of the tree that root commits to.
// A height below 0 or above 20 and a wrong number of digests are an ErrParams, an element
// that is not canonical is an ErrMalformed, another cap an ErrProof.
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

// Verify is Verify with a path that ends at the cap.
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

// maxCap bounds the height of caps.
const maxCap = 20

// capLevel is the lowest level with at most 2^height digests.
func (s Shape) capLevel(height int) (int, error) {
	if err := s.Check(); err != nil {
		return 0, err
	}
	if height < 0 || height > maxCap {
		return 0, fmt.Errorf("%w: height of the cap: %d; accepted: 0 to %d", zkbench.ErrParams, height, maxCap)
	}
	return max(s.Levels()-1-height, 0), nil
}
