package merkle_test

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/merkle"
	"github.com/zkbench/zkbench/goldilocks/poseidon"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// numbered returns the elements of the published trees: number i is 0x9E37...15 (i + 1).
func numbered(n int) []goldilocks.Element {
	all := make([]goldilocks.Element, n)
	for i := range all {
		all[i] = goldilocks.Reduce(0x9E3779B97F4A7C15 * uint64(i+1))
	}
	return all
}

func build(t testing.TB, k goldilocks.Kernel, shape merkle.Shape) *merkle.Tree {
	t.Helper()
	return must.Get(merkle.Build(t.Context(), executor.Pool(), shape, numbered(shape.Rows*shape.Width), k))(t)
}

// TestTop: on every kernel the top is what others publish.
func TestTop(t *testing.T) {
	t.Parallel()
	compared := 0
	for line := range strings.Lines(golden.Read(t, "goldilocks/poseidon_goldilocks.txt")) {
		var shape merkle.Shape
		words := strings.Fields(line)
		if len(words) != 7 || words[0] != "root" {
			continue
		}
		must.Get(fmt.Sscanf(words[1]+" "+words[2], "rows=%d cols=%d", &shape.Rows, &shape.Width))(t)
		var want poseidon.Digest
		for i, w := range words[3:] {
			v := must.Get(strconv.ParseUint(w, 16, 64))(t)
			want[i] = goldilocks.Element(v)
		}
		for _, k := range goldilocks.Kernels() {
			golden.Equal(t, fmt.Sprintf("top of %v on %v", shape, k), want, build(t, k, shape).Top())
			compared++
		}
	}
	if compared < 9 {
		t.Errorf("%d trees were compared", compared)
	}
}

// top computes the top of a tree by the rule in the package's doc comment.
func top(rows []goldilocks.Element, width int) poseidon.Digest {
	var level []poseidon.Digest
	for r := range slices.Chunk(rows, width) {
		level = append(level, poseidon.LinearHash(r))
	}
	for len(level) > 1 {
		var above []poseidon.Digest
		for pair := range slices.Chunk(level, 2) {
			if len(pair) == 2 {
				above = append(above, poseidon.Compress(pair[0], pair[1]))
			} else {
				above = append(above, pair[0])
			}
		}
		level = above
	}
	return level[0]
}

// TestTree: any number of rows of any width, on every kernel and executor: the top is that
// of the rule, every path and cap verifies, and no other row, index, shape or root does.
func TestTree(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		shape := merkle.Shape{Rows: rapid.IntRange(1, 70).Draw(rt, "rows"), Width: rapid.IntRange(1, 20).Draw(rt, "width")}
		rows := numbered(shape.Rows * shape.Width)
		k := rapid.SampledFrom(goldilocks.Kernels()).Draw(rt, "kernel")
		ex := rapid.SampledFrom([]executor.Executor{executor.Serial(), executor.Pool(), executor.Unbounded()}).Draw(rt, "executor")
		tree := must.Get(merkle.Build(t.Context(), ex, shape, rows, k))(rt)
		if tree.Top() != top(rows, shape.Width) {
			rt.Fatalf("%v: top %x", shape, tree.Top())
		}
		index := rapid.IntRange(0, shape.Rows-1).Draw(rt, "index")
		row := must.Get(tree.Row(index))(rt)
		path := must.Get(tree.Path(index))(rt)
		root := tree.Root()
		if err := merkle.Verify(root, shape, index, row, path); err != nil {
			rt.Fatalf("%v, row %d: %v", shape, index, err)
		}
		forge(rt, root, shape, index, row, path)

		height := rapid.IntRange(0, 8).Draw(rt, "height")
		digests := must.Get(tree.Cap(height))(rt)
		cap := must.Get(merkle.NewCap(root, shape, height, digests))(rt)
		short := must.Get(tree.PathToCap(index, height))(rt)
		must.Do(rt, cap.Verify(index, row, short), "cap of", height)
		other := slices.Clone(row)
		other[0] = other[0].Add(1)
		must.Fail(rt, cap.Verify(index, other, short), zkbench.ErrProof, "another row by the cap")
		flip(rt, digests)
		if _, err := merkle.NewCap(root, shape, height, digests); !refused(err) {
			rt.Fatalf("another cap: %v", err)
		}
	})
}

func refused(err error) bool {
	return errors.Is(err, zkbench.ErrProof) || errors.Is(err, zkbench.ErrMalformed)
}

// flip flips a bit of the digests.
func flip(rt *rapid.T, digests []poseidon.Digest) {
	i, j := rapid.IntRange(0, len(digests)-1).Draw(rt, "digest"), rapid.IntRange(0, poseidon.DigestLen-1).Draw(rt, "word")
	digests[i][j] ^= 1 << rapid.IntRange(0, 63).Draw(rt, "bit")
}

// forge tries everything else that could pass for the row.
func forge(rt *rapid.T, root poseidon.Digest, shape merkle.Shape, index int, row []goldilocks.Element, path []poseidon.Digest) {
	other := slices.Clone(row)
	other[len(other)-1] ^= 1 << rapid.IntRange(0, 63).Draw(rt, "bit of the row")
	if err := merkle.Verify(root, shape, index, other, path); !refused(err) {
		rt.Fatalf("another row: %v", err)
	}
	if len(path) > 0 {
		wrong := slices.Clone(path)
		flip(rt, wrong)
		if err := merkle.Verify(root, shape, index, row, wrong); !refused(err) {
			rt.Fatalf("another path: %v", err)
		}
		for _, wrong := range [][]poseidon.Digest{path[1:], append(slices.Clone(path), path[0]), nil} {
			must.Fail(rt, merkle.Verify(root, shape, index, row, wrong), zkbench.ErrParams, "a path of %d digests, there are %d", len(wrong), len(path))
		}
	}
	for i := range shape.Rows {
		if i != index {
			must.Fail(rt, merkle.Verify(root, shape, i, row, path), must.ErrAny, "row %d for %d", index, i)
		}
	}
	// The shape is bound by the root alone: all else fits.
	for _, wrong := range []merkle.Shape{{shape.Rows + 1, shape.Width}, {max(shape.Rows-1, index+1, 1), shape.Width}, {2 * shape.Rows, shape.Width}} {
		if wrong == shape {
			continue
		}
		must.Fail(rt, merkle.Verify(root, wrong, index, row, path), must.ErrAny, "%v for %v", shape, wrong)
	}
	plain := root
	plain[0] = plain[0].Add(1)
	must.Fail(rt, merkle.Verify(plain, shape, index, row, path), zkbench.ErrProof, "another root")
	for _, i := range []int{-1, shape.Rows} {
		must.Fail(rt, merkle.Verify(root, shape, i, row, path), zkbench.ErrParams, "row %d of %d", i, shape.Rows)
	}
	must.Fail(rt, merkle.Verify(root, shape, index, append(slices.Clone(row), 0), path), zkbench.ErrParams, "a longer row")
}

// TestTopIsNoRoot: the digests of two rows are a row of eight with the same top, and with
// another root; the plain top is accepted nowhere.
func TestTopIsNoRoot(t *testing.T) {
	t.Parallel()
	tree := build(t, goldilocks.Portable(), merkle.Shape{Rows: 2, Width: 8})
	pair := must.Get(tree.Cap(1))(t)
	row := append(slices.Clone(pair[0][:]), pair[1][:]...)
	single := merkle.Shape{Rows: 1, Width: 8}
	shorter := must.Get(merkle.Build(t.Context(), executor.Serial(), single, row, goldilocks.Portable()))(t)
	if shorter.Top() != tree.Top() {
		t.Fatal("the example shows nothing: the tops differ")
	}
	if shorter.Root() == tree.Root() {
		t.Error("a row of digests passes for two rows")
	}
	must.Fail(t, merkle.Verify(tree.Root(), single, 0, row, nil), zkbench.ErrProof, "the digests of two rows as a row")
	must.Fail(t, merkle.Verify(shorter.Top(), single, 0, row, nil), zkbench.ErrProof, "the plain top as the root")
}

// rootOf computes the commitment by the package's doc comment: the top, the width and the number of
// rows as the rate, "zkroot1" as the capacity.
func rootOf(top poseidon.Digest, shape merkle.Shape) poseidon.Digest {
	tag := append([]byte("zkroot1"), 0)
	s := poseidon.State{
		top[0], top[1], top[2], top[3], goldilocks.Element(shape.Width), goldilocks.Element(shape.Rows), 0, 0,
		goldilocks.Element(binary.LittleEndian.Uint64(tag)), 0, 0, 0,
	}
	s.Permute()
	return poseidon.Digest(s[:4])
}

// TestRootVectors are values of this package: nobody else has such roots.
func TestRootVectors(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		shape merkle.Shape
		want  poseidon.Digest
	}{
		{merkle.Shape{Rows: 1, Width: 1}, poseidon.Digest{0x14adb049110e1ae7, 0x95ee899bce7f1d45, 0x101b6cd56e1ee787, 0x4d99b7e57c05cca6}},
		{merkle.Shape{Rows: 1, Width: 8}, poseidon.Digest{0xa66e2dc6d82b2e20, 0x6cac0fe4a9fd2d49, 0x7a0d5dc695c0f48b, 0xcc4b0c975fa4a679}},
		{merkle.Shape{Rows: 2, Width: 8}, poseidon.Digest{0x6c6083d4745baa50, 0x155dee6c1cf8ecf9, 0xce4df1082774cc14, 0xdcccd2cdc9dd2c55}},
		{merkle.Shape{Rows: 3, Width: 8}, poseidon.Digest{0x5985fc9d6926f20b, 0x55505a15d666ab6f, 0xa2a89dc11cdcd5bb, 0x4f20de91c8fac3f7}},
		{merkle.Shape{Rows: 16, Width: 13}, poseidon.Digest{0xcc0ec1ad8b88dc64, 0x50dfa56529a0ddfd, 0xcd576b319cfe6f72, 0x2eafa9cccbe26b70}},
		{merkle.Shape{Rows: 100, Width: 4}, poseidon.Digest{0x4c5e0d78e55befa0, 0xdf869764f4a13ce8, 0xb6c428e4382d24cd, 0x1453f8b9b52d5661}},
		{merkle.Shape{Rows: 4096, Width: 8}, poseidon.Digest{0x18c80b02de348edf, 0xdad43877038ff085, 0xd032afc69679031a, 0xf82c88d2cb882062}},
	} {
		tree := build(t, goldilocks.Portable(), test.shape)
		if got := tree.Root(); got != test.want || got != rootOf(tree.Top(), test.shape) {
			t.Errorf("%v: %#x", test.shape, got)
		}
	}
}

// TestBuildRefuses: shapes and rows of which there is no tree.
func TestBuildRefuses(t *testing.T) {
	t.Parallel()
	ctx, ex := t.Context(), executor.Serial()
	for _, test := range []struct {
		name  string
		shape merkle.Shape
		rows  []goldilocks.Element
		want  error
	}{
		{"no rows", merkle.Shape{Rows: 0, Width: 8}, nil, zkbench.ErrParams},
		{"no width", merkle.Shape{Rows: 1, Width: 0}, nil, zkbench.ErrParams},
		{"negative", merkle.Shape{Rows: -1, Width: 8}, nil, zkbench.ErrParams},
		{"overflow", merkle.Shape{Rows: math.MaxInt/2 + 1, Width: 8}, nil, zkbench.ErrParams},
		{"too wide", merkle.Shape{Rows: 1, Width: 1<<20 + 1}, numbered(1<<20 + 1), zkbench.ErrParams},
		{"too few", merkle.Shape{Rows: 2, Width: 8}, numbered(15), zkbench.ErrParams},
		{"too many", merkle.Shape{Rows: 2, Width: 8}, numbered(17), zkbench.ErrParams},
		{"not canonical", merkle.Shape{Rows: 2, Width: 2}, []goldilocks.Element{0, 1, 2, goldilocks.Modulus}, zkbench.ErrMalformed},
	} {
		must.FailGet(merkle.Build(ctx, ex, test.shape, test.rows))(t, test.want, "%s", test.name)
	}
}

// TestBuildPlace: the error of an element that is not canonical has its place, also past the
// first task.
func TestBuildPlace(t *testing.T) {
	t.Parallel()
	shape := merkle.Shape{Rows: 1200, Width: 3}
	rows := numbered(shape.Rows * shape.Width)
	rows[1100*3+1] = goldilocks.Modulus
	_, err := merkle.Build(t.Context(), executor.Pool(), shape, rows)
	decode, ok := errors.AsType[*zkbench.DecodeError](err)
	if !ok || decode.Path != "rows[1100][1]" || decode.Offset != 8*(1100*3+1) {
		t.Error(err)
	}
}
