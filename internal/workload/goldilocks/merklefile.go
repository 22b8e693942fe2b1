package goldilocks

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"

	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/merkle"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
	"github.com/zkbench/zkbench/internal/workload"
)

// fileWindow is the memory in bytes that building a tree in a file takes.
const fileWindow = 16 << 20

// MerkleFile returns the workload that builds a Merkle tree in a file, in the folder for temporary files.
func MerkleFile() workload.Def {
	axes := treeAxes(1<<10, 1<<16)
	return workload.Def{
		Name: "MerkleFile", Noun: "building a Merkle tree in a file", Doc: "read rows and build a Merkle tree of Poseidon digests in a file on disk; return its root and the path of its last row", Axes: axes,
		Memory: treeMemory(axes, func(rows, tree uint64) workload.Memory {
			return workload.Memory{Base: 2 * rows, Input: 3 * rows, Operation: 2*rows + tree + fileWindow} // as elements and as bytes
		}),
		New: func(ctx context.Context, c workload.Case, seed uint64) (workload.Instance, error) {
			t, err := newTreeCase(ctx, c, seed, axes)
			if err != nil {
				return nil, err
			}
			folder, err := os.MkdirTemp("", "zkbench-merkle-")
			return &merkleFile{treeCase: t, folder: folder}, err
		},
	}
}

type merkleFile struct {
	treeCase
	folder string
	files  atomic.Uint64 // the number of files made so far; a file's name is its number
}

// Input returns the rows as bytes.
func (m *merkleFile) Input(_ context.Context, seq uint64) (any, error) {
	return appendElements(nil, m.rows(seq)), nil
}

func (m *merkleFile) Run(ctx context.Context, input any) (output []byte, err error) {
	path := filepath.Join(m.folder, fmt.Sprint(m.files.Add(1)))
	file, err := merkle.BuildFile(ctx, m.executor, m.shape, bytes.NewReader(input.([]byte)), path, m.kernel)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, file.Close(), os.Remove(path)) }()
	root, err := file.Root()
	if err != nil {
		return nil, err
	}
	siblings, err := file.Path(m.shape.Rows - 1)
	return encode(append([]poseidon.Digest{root}, siblings...)...), err
}

// Check builds the tree in memory with the portable kernel.
func (m *merkleFile) Check(ctx context.Context, input any, output []byte) error {
	raw := input.([]byte)
	rows := make([]goldilocks.Element, len(raw)/8)
	for i := range rows {
		if err := rows[i].SetBytes(raw[8*i:][:8]); err != nil {
			return err
		}
	}
	tree, err := merkle.Build(ctx, executor.Pool(), m.shape, rows, goldilocks.Portable())
	if err != nil {
		return err
	}
	siblings, err := tree.Path(m.shape.Rows - 1)
	if err != nil {
		return err
	}
	if !bytes.Equal(output, encode(append([]poseidon.Digest{tree.Root()}, siblings...)...)) {
		return fmt.Errorf("a file of %d leaves on %v is another tree", m.shape.Rows, m.kernel)
	}
	return nil
}

func (m *merkleFile) Close() error { return os.RemoveAll(m.folder) }
