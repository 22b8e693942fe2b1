package merkle_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/merkle"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// FuzzOpenFile: bytes are a malformed file, or a tree whose head is that of its digests, as
// many as its shape has.
func FuzzOpenFile(f *testing.F) {
	_, good := treeFile(f)
	f.Add(good)
	f.Add(good[:64])
	f.Add(put(good, 8, 1<<40))
	f.Add(put(good, 64+32, goldilocks.Modulus))
	f.Fuzz(func(t *testing.T, data []byte) {
		path := filepath.Join(t.TempDir(), "tree")
		must.Do(t, os.WriteFile(path, data, 0o600))
		tree, err := merkle.OpenFile(path)
		if err != nil {
			if !errors.Is(err, zkbench.ErrMalformed) {
				t.Error(err)
			}
			return
		}
		defer tree.Close()
		shape := tree.Shape()
		if len(data) != 64+32*shape.Nodes() {
			t.Errorf("%d bytes are a tree of %v", len(data), shape)
		}
		top, err := tree.Top()
		root := rootOf(top, shape)
		if err != nil || !bytes.Equal(data[24:56], encode(root[:])) {
			t.Errorf("another root is in the head; error %v", err)
		}
		for _, index := range []int{0, shape.Rows / 2, shape.Rows - 1} {
			if _, err := tree.Path(index); err != nil && !errors.Is(err, zkbench.ErrMalformed) {
				t.Error(err)
			}
		}
	})
}

// FuzzBuildFile: of any bytes as rows, those which are as many canonical elements as the
// shape has are the tree in memory; all else is malformed and leaves nothing.
func FuzzBuildFile(f *testing.F) {
	f.Add(uint8(2), uint8(2), encode(numbered(6)))
	f.Add(uint8(2), uint8(2), encode(numbered(6))[:47])
	f.Add(uint8(0), uint8(0), encode([]goldilocks.Element{goldilocks.Modulus}))
	f.Fuzz(func(t *testing.T, rows, width uint8, data []byte) {
		shape := merkle.Shape{Rows: int(rows)%40 + 1, Width: int(width)%20 + 1}
		folder := t.TempDir()
		got, err := buildFile(t, shape, bytes.NewReader(data), filepath.Join(folder, "tree"))
		elements := make([]goldilocks.Element, len(data)/8)
		whole := len(data) == 8*shape.Rows*shape.Width
		for i := range elements {
			elements[i] = goldilocks.Element(binary.LittleEndian.Uint64(data[8*i:]))
			whole = whole && elements[i].Canonical()
		}
		if !whole {
			must.Fail(t, err, zkbench.ErrMalformed, "%d bytes as %v", len(data), shape)
			nothingLeft(t, folder)
			return
		}
		must.Do(t, err)
		tree := must.Get(merkle.Build(t.Context(), executor.Serial(), shape, elements, goldilocks.Portable()))(t)
		golden.Equal(t, "root", tree.Root(), must.Get(got.Root())(t))
	})
}

// FuzzVerifyMulti: of any indices, rows and path, those of the tree alone pass. The fuzzer
// gives what is to be changed of them, so that it need not find a path.
func FuzzVerifyMulti(f *testing.F) {
	f.Add(uint8(5), uint8(3), []byte{1, 4}, []byte{}, []byte{}, int8(0))
	f.Add(uint8(5), uint8(3), []byte{4, 1}, []byte{}, []byte{}, int8(0))
	f.Add(uint8(70), uint8(9), []byte{0, 1, 2, 69}, []byte{0, 0, 1}, []byte{}, int8(1))
	f.Add(uint8(8), uint8(1), []byte{7, 7}, []byte{}, []byte{0, 0, 0, 0, 0, 0, 0, 0xff}, int8(-1))
	f.Add(uint8(8), uint8(1), []byte{255}, []byte{}, []byte{}, int8(0))
	f.Fuzz(func(t *testing.T, rowCount, width uint8, at, rowEdit, pathEdit []byte, longer int8) {
		shape := merkle.Shape{Rows: int(rowCount)%80 + 1, Width: int(width)%12 + 1}
		tree := build(t, goldilocks.Kernel{}, shape)
		indices := make([]int, len(at))
		right := len(at) > 0
		for i, b := range at {
			indices[i] = int(int8(b))
			right = right && indices[i] >= 0 && indices[i] < shape.Rows && (i == 0 || indices[i] > indices[i-1])
		}
		path, err := tree.MultiPath(indices)
		if (err == nil) != right || err != nil && !errors.Is(err, zkbench.ErrParams) {
			t.Fatalf("path of %v of %v: %v", indices, shape, err)
		}
		rows := make([][]goldilocks.Element, len(indices))
		for i, index := range indices {
			rows[i] = make([]goldilocks.Element, shape.Width)
			if row, err := tree.Row(index); err == nil {
				rows[i] = slices.Clone(row)
			}
		}
		for i, b := range rowEdit {
			if row := i / 8 / shape.Width; row < len(rows) {
				rows[row][i/8%shape.Width] ^= goldilocks.Element(b) << (i % 8 * 8)
				right = right && b == 0
			}
		}
		for i, b := range pathEdit {
			if i/32 < len(path) {
				path[i/32][i/8%4] ^= goldilocks.Element(b) << (i % 8 * 8)
				right = right && b == 0
			}
		}
		switch {
		case longer > 0:
			path, right = append(path, make([]poseidon.Digest, longer)...), false
		case longer < 0 && len(path) > 0:
			path, right = path[:max(len(path)+int(longer), 0)], false
		}
		err = merkle.VerifyMulti(tree.Root(), shape, indices, rows, path)
		if (err == nil) != right || err != nil && !refused(err) && !errors.Is(err, zkbench.ErrParams) {
			t.Errorf("%v of %v: %v", indices, shape, err)
		}
	})
}
