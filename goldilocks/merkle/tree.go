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

// Tree is a tree in memory: its rows, which are the caller's, and all digests in one
// allocation, 32 (2 Rows - 1) bytes for a power of two. It is made by Build: of a zero Tree
// Top and Root are zeros, with which nothing verifies, and the rest is an ErrParams.
type Tree struct {
	shape Shape
	rows  []goldilocks.Element
	nodes []poseidon.Digest // the leaves' level first, the top last
}

// Sizes in bytes, in memory and in files.
const (
	elementBytes = 8
	digestBytes  = elementBytes * poseidon.DigestLen
)

// chunk is how many digests are one task: whole registers of every kernel, and few enough
// tasks that handing them out costs nothing beside 512 permutations.
const chunk = 512

// Build builds the tree over rows, one after the other, on a kernel and an executor. The
// tree keeps rows, which must not change.
//
// Rows that are not Shape.Rows × Shape.Width elements, or none at all, are an ErrParams; an
// element that is not canonical is a *zkbench.DecodeError with its place; a tree for which
// there is no memory is an ErrLimit with its size, before anything is allocated.
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

// bytes is what the digests need.
func (s Shape) bytes() uint64 { return uint64(s.Nodes()) * digestBytes }

// leaves makes the lowest level.
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

// level makes a level from the one below.
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

// nodesOf are the digests of a level.
func (t *Tree) nodesOf(level int) []poseidon.Digest {
	from := t.shape.offset(level)
	return t.nodes[from : from+t.shape.nodesAt(level)]
}

// inChunks does work on 0..n in chunks.
func inChunks(ctx context.Context, ex executor.Executor, n int, work func(from, to int) error) error {
	return ex.Do(ctx, (n+chunk-1)/chunk, func(_ context.Context, i int) error {
		return work(i*chunk, min((i+1)*chunk, n))
	})
}

// Shape is what the tree is over.
func (t *Tree) Shape() Shape { return t.shape }

// Top is the plain top digest. No verifier takes it: see Root.
func (t *Tree) Top() (top poseidon.Digest) {
	if len(t.nodes) > 0 {
		top = t.nodes[len(t.nodes)-1]
	}
	return top
}

// Root is the commitment to the rows.
func (t *Tree) Root() (root poseidon.Digest) {
	if len(t.nodes) > 0 {
		root = t.shape.Root(t.Top())
	}
	return root
}

// Row is the row of that index, which must not be changed; its error is an ErrParams.
func (t *Tree) Row(index int) ([]goldilocks.Element, error) {
	if err := t.shape.checkIndex(index); err != nil {
		return nil, err
	}
	w := t.shape.Width
	return t.rows[index*w : (index+1)*w : (index+1)*w], nil
}

// Path are the siblings on the way from a row to the top, the lowest first. A row that is
// not there is an ErrParams.
func (t *Tree) Path(index int) ([]poseidon.Digest, error) { return t.PathToCap(index, 0) }

// PathToCap is the path of a row to the cap of that height: what Cap.Verify takes.
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

// Cap are the digests of the lowest level that has at most 2^height; height 0 is the top
// alone. A height below 0 or above 20 is an ErrParams.
func (t *Tree) Cap(height int) ([]poseidon.Digest, error) {
	level, err := t.shape.capLevel(height)
	if err != nil {
		return nil, err
	}
	return slices.Clone(t.nodesOf(level)), nil
}
