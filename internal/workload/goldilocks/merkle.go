package goldilocks

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"sync"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/merkle"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/workload"
)

// treeAxes returns the axes of the workloads with trees. def holds the default numbers of leaves.
func treeAxes(def ...int) []workload.Axis {
	return []workload.Axis{
		workload.IntAxis(workload.Axis{Name: "leaves", Usage: "numbers of leaves", Smoke: "1024"}, 1, 1<<26, def...),
		workload.IntAxis(workload.Axis{Name: "width", Usage: "numbers of elements per leaf", Smoke: "8"}, 1, 1<<10, 8),
		kernelAxis(), workload.ExecutorAxis(executor.Names()),
	}
}

// treeCase holds what all cases with trees have.
type treeCase struct {
	setting
	shape merkle.Shape
}

func newTreeCase(ctx context.Context, c workload.Case, seed uint64, axes []workload.Axis) (t treeCase, err error) {
	if err := readInts(c, axes, &t.shape.Rows, &t.shape.Width); err != nil {
		return t, err
	}
	t.setting, err = settingOf(ctx, c, seed)
	return t, err
}

func (t treeCase) rows(seq uint64) []goldilocks.Element {
	return corpus(t.seed, seq, t.shape.Rows*t.shape.Width)
}

func (t treeCase) build(ctx context.Context, rows []goldilocks.Element) (*merkle.Tree, error) {
	return merkle.Build(ctx, t.executor, t.shape, rows, t.kernel)
}

func (t treeCase) Metrics(context.Context) ([]record.Metric, error) {
	return []record.Metric{
		record.Permutations.Metric(float64(t.permutations())),
		record.TreeSize.Metric(float64(32 * t.shape.Nodes())),
	}, nil
}

// permutations returns the number of Poseidon permutations that a tree takes, for its leaves
// and for the nodes above. Leaves with at most four elements take none.
func (t treeCase) permutations() int {
	perLeaf := (t.shape.Width + poseidon.Rate - 1) / poseidon.Rate
	if t.shape.Width <= poseidon.DigestLen {
		perLeaf = 0
	}
	return t.shape.Rows*perLeaf + t.shape.Rows - 1
}

// treeMemory returns a Def.Memory that calls of with the bytes of all rows and the bytes of a tree's digests.
func treeMemory(axes []workload.Axis, of func(rows, tree uint64) workload.Memory) func(workload.Case) (workload.Memory, error) {
	return func(c workload.Case) (workload.Memory, error) {
		var shape merkle.Shape
		if err := readInts(c, axes, &shape.Rows, &shape.Width); err != nil {
			return workload.Memory{}, err
		}
		return of(uint64(shape.Rows)*uint64(shape.Width)*elementBytes, uint64(shape.Nodes())*poseidon.DigestLen*elementBytes), nil
	}
}

// MerkleBuild returns the workload that builds a Merkle tree over rows in memory.
func MerkleBuild() workload.Def {
	axes := treeAxes(1<<10, 1<<12, 1<<14, 1<<16, 1<<18, 1<<20, 1<<22)
	return workload.Def{
		Name: "MerkleBuild", Noun: "building a Merkle tree", Doc: "build a Merkle tree of Poseidon digests over rows in memory, and return its root", Axes: axes,
		Memory: treeMemory(axes, func(rows, tree uint64) workload.Memory { return workload.Memory{Input: rows, Operation: 2 * tree} }),
		New: func(ctx context.Context, c workload.Case, seed uint64) (workload.Instance, error) {
			t, err := newTreeCase(ctx, c, seed, axes)
			return &merkleBuild{treeCase: t}, err
		},
	}
}

type merkleBuild struct{ treeCase }

// leaves holds the rows of a tree. root returns the root that the portable kernel computes, which it does only once.
type leaves struct {
	rows []goldilocks.Element
	root func() ([]byte, error)
}

func (m *merkleBuild) Input(_ context.Context, seq uint64) (any, error) {
	rows := m.rows(seq)
	return &leaves{rows, sync.OnceValues(func() ([]byte, error) {
		tree, err := merkle.Build(context.Background(), executor.Pool(), m.shape, rows, goldilocks.Portable())
		if err != nil {
			return nil, err
		}
		return encode(tree.Root()), nil
	})}, nil
}

func (m *merkleBuild) Run(ctx context.Context, input any) ([]byte, error) {
	tree, err := m.build(ctx, input.(*leaves).rows)
	if err != nil {
		return nil, err
	}
	return encode(tree.Root()), nil
}

// Check builds the tree with the portable kernel, once for each input.
func (m *merkleBuild) Check(_ context.Context, input any, output []byte) error {
	want, err := input.(*leaves).root()
	if err == nil && !bytes.Equal(output, want) {
		err = fmt.Errorf("a tree of %d leaves on %v has another root", m.shape.Rows, m.kernel)
	}
	return err
}

// MerkleOpen returns the workload that opens a row of a Merkle tree: it makes, encodes and verifies the row's path.
func MerkleOpen() workload.Def {
	axes := treeAxes(1<<10, 1<<16, 1<<20)
	return workload.Def{
		Name: "MerkleOpen", Noun: "the path of a row in a Merkle tree", Doc: "make the path of a row in a Merkle tree, encode it and verify it", Axes: axes,
		Memory: treeMemory(axes, func(rows, tree uint64) workload.Memory { return workload.Memory{Base: rows + tree} }),
		New: func(ctx context.Context, c workload.Case, seed uint64) (workload.Instance, error) {
			t, err := newTreeCase(ctx, c, seed, axes)
			if err != nil {
				return nil, err
			}
			tree, err := t.build(ctx, t.rows(0))
			if err != nil {
				return nil, err
			}
			return &merkleOpen{treeCase: t, tree: tree, root: tree.Root()}, nil
		},
	}
}

type merkleOpen struct {
	treeCase
	tree *merkle.Tree
	root poseidon.Digest
}

// Input returns the index of a random row.
func (m *merkleOpen) Input(_ context.Context, seq uint64) (any, error) {
	return rand.New(rand.NewPCG(m.seed, seq)).IntN(m.shape.Rows), nil
}

func (m *merkleOpen) Run(_ context.Context, input any) ([]byte, error) {
	index := input.(int)
	path, err := m.tree.Path(index)
	if err != nil {
		return nil, err
	}
	row, err := m.tree.Row(index)
	if err != nil {
		return nil, err
	}
	return encode(path...), merkle.Verify(m.root, m.shape, index, row, path)
}

// Check verifies the encoded path, and makes sure that a changed path is refused.
func (m *merkleOpen) Check(_ context.Context, input any, output []byte) error {
	index := input.(int)
	row, err := m.tree.Row(index)
	if err != nil {
		return err
	}
	path := decode(output)
	if err := merkle.Verify(m.root, m.shape, index, row, path); err != nil {
		return err
	}
	if len(path) > 0 {
		path[0][0] = path[0][0].Add(1)
		if merkle.Verify(m.root, m.shape, index, row, path) == nil {
			return fmt.Errorf("a changed path of row %d passes", index)
		}
	}
	return nil
}

func (m *merkleOpen) Metrics(ctx context.Context) ([]record.Metric, error) {
	path, err := m.tree.Path(0)
	return []record.Metric{record.PathSize.Metric(float64(8 * poseidon.DigestLen * len(path)))}, err
}
