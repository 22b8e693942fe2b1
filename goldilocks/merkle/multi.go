package merkle

import (
	"fmt"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
)

// MultiPath returns the digests that are needed to verify several rows together. It leaves out
// digests that follow from the rows themselves. The digests are ordered by level, the lowest
// first, and from left to right. It returns ErrParams if there is no index, if an index has no
// row, or if the indices are not strictly increasing.
func (t *Tree) MultiPath(indices []int) ([]poseidon.Digest, error) {
	if err := t.shape.checkIndices(indices); err != nil {
		return nil, err
	}
	var path []poseidon.Digest
	t.shape.walk(indices, func(level, node int, of sibling) {
		if of == wanted {
			path = append(path, t.nodesOf(level)[node^1])
		}
	})
	return path, nil
}

func (s Shape) checkIndices(indices []int) error {
	if len(indices) == 0 {
		return fmt.Errorf("%w: indices: none; accepted: one or more, rising", zkbench.ErrParams)
	}
	for i, index := range indices {
		if err := s.checkIndex(index); err != nil {
			return err
		}
		if i > 0 && index <= indices[i-1] {
			return fmt.Errorf("%w: indices: %d after %d; accepted: rising ones", zkbench.ErrParams, index, indices[i-1])
		}
	}
	return nil
}

// sibling says where a node's sibling comes from.
type sibling int

const (
	wanted sibling = iota // from the path
	known                 // it is the next known node
	none                  // there is none
)

// walk goes from rows to the top, level by level and from left to right. It visits each known node
// that contributes to the level above; of two siblings it visits the left one.
func (s Shape) walk(indices []int, visit func(level, node int, of sibling)) {
	at := slices.Clone(indices)
	for level := range s.Levels() - 1 {
		above := at[:0]
		for i := 0; i < len(at); i++ {
			node, of := at[i], wanted
			switch {
			case node^1 >= s.nodesAt(level):
				of = none
			case i+1 < len(at) && at[i+1] == node^1:
				of = known
				i++
			}
			visit(level, node, of)
			above = append(above, node>>1)
		}
		at = above
	}
}

// VerifyMulti checks that root commits to the given rows at the given indices, which must be
// strictly increasing. VerifyMulti returns the same errors as Verify.
func VerifyMulti(root poseidon.Digest, shape Shape, indices []int, rows [][]goldilocks.Element, path []poseidon.Digest) error {
	if err := shape.checkIndices(indices); err != nil {
		return err
	}
	if len(rows) != len(indices) {
		return fmt.Errorf("%w: rows: %d; accepted: %d, one for each index", zkbench.ErrParams, len(rows), len(indices))
	}
	for i, row := range rows {
		if err := shape.checkRow(row); err != nil {
			return fmt.Errorf("rows[%d]: %w", i, err)
		}
	}
	want := 0
	shape.walk(indices, func(_, _ int, of sibling) {
		if of == wanted {
			want++
		}
	})
	if len(path) != want {
		return fmt.Errorf("%w: path: %d digests; accepted: %d", zkbench.ErrParams, len(path), want)
	}
	if err := checkDigests("path", path); err != nil {
		return err
	}
	// A queue: the remaining digests of the level, then the digests of the level above.
	queue := make([]poseidon.Digest, len(rows), 2*len(rows))
	for i, row := range rows {
		queue[i] = poseidon.LinearHash(row)
	}
	take := func(from *[]poseidon.Digest) (d poseidon.Digest) {
		d, *from = (*from)[0], (*from)[1:]
		return d
	}
	shape.walk(indices, func(_, node int, of sibling) {
		d := take(&queue)
		switch {
		case of == known:
			d = poseidon.Compress(d, take(&queue))
		case of == wanted && node&1 == 0:
			d = poseidon.Compress(d, take(&path))
		case of == wanted:
			d = poseidon.Compress(take(&path), d)
		}
		queue = append(queue, d)
	})
	if shape.Root(queue[0]) != root {
		return fmt.Errorf("%w: path: it does not lead from the rows to the root", zkbench.ErrProof)
	}
	return nil
}
