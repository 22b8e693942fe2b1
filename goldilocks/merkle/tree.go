package merkle

import (
	"context"
	"fmt"
	"slices"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
	"github.com/zkbench/zkbench/internal/sys/memory"
)

// Tree is a tree in memory. Its rows belong to the caller. All digests are in one allocation, which
// takes 32 * (2*Rows - 1) bytes if Rows is a power of two.
//
// Create a Tree with Build. For a zero Tree, Top and Root return zeros, against which nothing
// verifies, and every method that can return an error returns ErrParams.
type Tree struct {
	shape Shape
	rows  []goldilocks.Element
	nodes []poseidon.Digest // the leaves' level first, the top last
}

// These are sizes in bytes, in memory and in files.
const (
	elementBytes = 8
	digestBytes  = elementBytes * poseidon.DigestLen
)

// chunk is the number of digests in one task. It fills whole registers of every kernel, and there
// are few enough tasks that starting them costs nothing compared with 512 permutations.
const chunk = 512

// Build builds a tree, on the given executor and kernel. The parameter rows holds one row after
// another. The tree keeps this slice, so its elements must not change.
//
// Build returns ErrParams if shape.Check refuses the shape, or if rows does not have Rows × Width
// elements. If an element is not canonical, the error is of type *zkbench.DecodeError and says
// where. If there is no memory for the tree, Build returns ErrLimit with the tree's size, before it
// allocates anything.
func Build(ctx context.Context, ex executor.Executor, shape Shape, rows []goldilocks.Element, on ...goldilocks.Kernel) (*Tree, error) {
	if err := shape.Check(); err != nil {
		return nil, err
	}
	// At most 2^40 · 2^20, so the product is exact.
	if int64(len(rows)) != int64(shape.Rows)*int64(shape.Width) {
		return nil, fmt.Errorf("%w: rows: %d elements; accepted: %d rows of %d", zkbench.ErrParams, len(rows), shape.Rows, shape.Width)
	}
	if err := memory.Fits("the tree", shape.bytes()); err != nil {
		return nil, err
	}
	t := &Tree{shape: shape, rows: rows, nodes: make([]poseidon.Digest, shape.Nodes())}
	err := t.leaves(ctx, ex, on)
	for level := 1; level < shape.Levels() && err == nil; level++ {
		err = t.level(ctx, ex, on, level)
	}
	if err != nil {
		return nil, err
	}
	return t, nil
}

// bytes returns the memory that the digests need.
func (s Shape) bytes() uint64 { return uint64(s.Nodes()) * digestBytes }

// leaves computes the lowest level.
func (t *Tree) leaves(ctx context.Context, ex executor.Executor, on []goldilocks.Kernel) error {
	width := t.shape.Width
	return inChunks(ctx, ex, t.shape.Rows, func(from, to int) error {
		rows := t.rows[from*width : to*width]
		for i, e := range rows {
			if !e.Canonical() {
				return notCanonical(fmt.Sprintf("rows[%d][%d]", from+i/width, i%width), elementBytes*(from*width+i))
			}
		}
		poseidon.LeavesAll(t.nodes[from:to], rows, width, on...)
		return nil
	})
}

// level computes a level from the one below.
func (t *Tree) level(ctx context.Context, ex executor.Executor, on []goldilocks.Kernel, level int) error {
	below, here := t.nodesOf(level-1), t.nodesOf(level)
	pairs := len(below) / 2
	if pairs < len(here) {
		here[pairs] = below[2*pairs] // it has no sibling
	}
	return inChunks(ctx, ex, pairs, func(from, to int) error {
		poseidon.CompressAll(here[from:to], below[2*from:2*to], on...)
		return nil
	})
}

// nodesOf returns the digests of a level.
func (t *Tree) nodesOf(level int) []poseidon.Digest {
	from := t.shape.offset(level)
	return t.nodes[from : from+t.shape.nodesAt(level)]
}

// inChunks calls work for 0..n in chunks.
func inChunks(ctx context.Context, ex executor.Executor, n int, work func(from, to int) error) error {
	return ex.Do(ctx, (n+chunk-1)/chunk, func(_ context.Context, i int) error {
		return work(i*chunk, min((i+1)*chunk, n))
	})
}

// Shape returns the number and the width of the tree's rows.
func (t *Tree) Shape() Shape { return t.shape }

// Top returns the digest at the top of the tree. It is not a commitment, and verifiers do not
// accept it: they need Root.
func (t *Tree) Top() (top poseidon.Digest) {
	if len(t.nodes) > 0 {
		top = t.nodes[len(t.nodes)-1]
	}
	return top
}

// Root returns the commitment to the rows.
func (t *Tree) Root() (root poseidon.Digest) {
	if len(t.nodes) > 0 {
		root = t.shape.Root(t.Top())
	}
	return root
}

// Row returns the row with the given index. The caller must not change the row. Row returns
// ErrParams if there is no such row.
func (t *Tree) Row(index int) ([]goldilocks.Element, error) {
	if err := t.shape.checkIndex(index); err != nil {
		return nil, err
	}
	w := t.shape.Width
	return t.rows[index*w : (index+1)*w : (index+1)*w], nil
}

// Path returns the siblings on the way from a row to the top, the lowest first. It returns
// ErrParams if there is no row with this index.
func (t *Tree) Path(index int) ([]poseidon.Digest, error) { return t.PathToCap(index, 0) }

// PathToCap returns the path from a row to the cap of the given height. Cap.Verify takes such a
// path. PathToCap returns ErrParams if there is no row with this index, or if height is not from 0
// to 20.
func (t *Tree) PathToCap(index, height int) ([]poseidon.Digest, error) {
	if err := t.shape.checkIndex(index); err != nil {
		return nil, err
	}
	top, err := t.shape.capLevel(height)
	if err != nil {
		return nil, err
	}
	var path []poseidon.Digest
	for level := range top {
		if sibling := index>>level ^ 1; sibling < t.shape.nodesAt(level) {
			path = append(path, t.nodesOf(level)[sibling])
		}
	}
	return path, nil
}

// Cap returns the digests of the lowest level that has at most 2^height digests. With height 0 this
// is the top alone. Cap returns ErrParams if height is not from 0 to 20.
func (t *Tree) Cap(height int) ([]poseidon.Digest, error) {
	level, err := t.shape.capLevel(height)
	if err != nil {
		return nil, err
	}
	return slices.Clone(t.nodesOf(level)), nil
}
