package merkle_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
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

// opened holds the arguments of a tree's verifiers, for one row, two rows, and a cap.
type opened struct {
	root    poseidon.Digest
	shape   merkle.Shape
	index   int
	row     []goldilocks.Element
	path    []poseidon.Digest
	indices []int
	rows    [][]goldilocks.Element
	multi   []poseidon.Digest
	height  int
	cap     []poseidon.Digest
	short   []poseidon.Digest // the path to the cap
}

// open opens rows 1 and 4 of a tree of five, whose last has no sibling on two levels.
func open(t *testing.T, rows []goldilocks.Element) opened {
	t.Helper()
	o := opened{shape: merkle.Shape{Rows: 5, Width: len(rows) / 5}, index: 1, indices: []int{1, 4}, height: 2}
	tree := must.Get(merkle.Build(t.Context(), executor.Serial(), o.shape, rows, goldilocks.Portable()))(t)
	for _, i := range o.indices {
		row := must.Get(tree.Row(i))(t)
		o.rows = append(o.rows, slices.Clone(row))
	}
	o.root, o.row = tree.Root(), slices.Clone(o.rows[0])
	o.path, o.multi = must.Get(tree.Path(o.index))(t), must.Get(tree.MultiPath(o.indices))(t)
	o.cap, o.short = must.Get(tree.Cap(o.height))(t), must.Get(tree.PathToCap(o.index, o.height))(t)
	must.Do(t, errors.Join(o.verify(), o.verifyMulti(), o.newCap(), o.verifyCap()))
	return o
}

func (o opened) verify() error { return merkle.Verify(o.root, o.shape, o.index, o.row, o.path) }

func (o opened) verifyMulti() error {
	return merkle.VerifyMulti(o.root, o.shape, o.indices, o.rows, o.multi)
}

func (o opened) newCap() error {
	_, err := merkle.NewCap(o.root, o.shape, o.height, o.cap)
	return err
}

func (o opened) verifyCap() error {
	c, err := merkle.NewCap(o.root, o.shape, o.height, o.cap)
	if err != nil {
		return err
	}
	return c.Verify(o.index, o.row, o.short)
}

// TestArguments: one argument that no tree has, and all else as it should be, is an
// ErrParams of every verifier that takes it.
func TestArguments(t *testing.T) {
	t.Parallel()
	verify, multi, newCap, byCap := opened.verify, opened.verifyMulti, opened.newCap, opened.verifyCap
	type verifiers []func(opened) error
	zeros := func(n int) []poseidon.Digest { return make([]poseidon.Digest, n) }
	// fit sets what else fits a shape of which row 0 alone is looked at.
	fit := func(o *opened, shape merkle.Shape, pathLen int) {
		row := make([]goldilocks.Element, max(shape.Width, 0))
		o.shape, o.index, o.row, o.path = shape, 0, row, zeros(pathLen)
		o.indices, o.rows, o.multi = []int{0}, [][]goldilocks.Element{row}, zeros(pathLen)
		o.height, o.cap = 0, zeros(1)
	}
	for _, test := range []struct {
		name string
		edit func(o *opened)
		by   verifiers
	}{
		{"shape=no rows", func(o *opened) { fit(o, merkle.Shape{Rows: 0, Width: 1}, 0) }, verifiers{verify, multi, newCap}},
		{"shape=negative rows", func(o *opened) { fit(o, merkle.Shape{Rows: -1, Width: 1}, 0) }, verifiers{verify, multi, newCap}},
		{"shape=no width", func(o *opened) { fit(o, merkle.Shape{Rows: 1, Width: 0}, 0) }, verifiers{verify, multi, newCap}},
		{"shape=negative width", func(o *opened) { fit(o, merkle.Shape{Rows: 1, Width: -1}, 0) }, verifiers{verify, multi, newCap}},
		{"shape=too many rows", func(o *opened) { fit(o, merkle.Shape{Rows: merkle.MaxRows + 1, Width: 1}, 41) }, verifiers{verify, multi, newCap}},
		{"shape=overflow", func(o *opened) { fit(o, merkle.Shape{Rows: math.MaxInt/2 + 1, Width: 1}, 62) }, verifiers{verify, multi, newCap}},
		{"shape=too wide", func(o *opened) { fit(o, merkle.Shape{Rows: 1, Width: merkle.MaxWidth + 1}, 0) }, verifiers{verify, multi, newCap}},
		{"index=negative", func(o *opened) { o.index = -1 }, verifiers{verify, byCap}},
		{"index=too large", func(o *opened) { o.index = 5 }, verifiers{verify, byCap}},
		{"row=none", func(o *opened) { o.row = nil }, verifiers{verify, byCap}},
		{"row=shorter", func(o *opened) { o.row = o.row[1:] }, verifiers{verify, byCap}},
		{"row=longer", func(o *opened) { o.row = append(o.row, 0) }, verifiers{verify, byCap}},
		{"path=none", func(o *opened) { o.path, o.short = nil, nil }, verifiers{verify, byCap}},
		{"path=shorter", func(o *opened) { o.path, o.short = o.path[1:], o.short[1:] }, verifiers{verify, byCap}},
		{"path=longer", func(o *opened) { o.path, o.short = append(o.path, zeros(1)...), append(o.short, zeros(1)...) }, verifiers{verify, byCap}},
		{"indices=none", func(o *opened) { o.indices, o.rows, o.multi = nil, nil, nil }, verifiers{multi}},
		{"indices=not rising", func(o *opened) { slices.Reverse(o.indices); slices.Reverse(o.rows) }, verifiers{multi}},
		{"indices=twice", func(o *opened) { o.indices[1] = 1 }, verifiers{multi}},
		{"indices=negative", func(o *opened) { o.indices[0] = -1 }, verifiers{multi}},
		{"indices=too large", func(o *opened) { o.indices[1] = 5 }, verifiers{multi}},
		{"rows=none", func(o *opened) { o.rows = nil }, verifiers{multi}},
		{"rows=fewer", func(o *opened) { o.rows = o.rows[:1] }, verifiers{multi}},
		{"rows=more", func(o *opened) { o.rows = append(o.rows, o.row) }, verifiers{multi}},
		{"rows=one shorter", func(o *opened) { o.rows[1] = o.rows[1][1:] }, verifiers{multi}},
		{"rows=one longer", func(o *opened) { o.rows[1] = append(o.rows[1], 0) }, verifiers{multi}},
		{"multi path=none", func(o *opened) { o.multi = nil }, verifiers{multi}},
		{"multi path=shorter", func(o *opened) { o.multi = o.multi[1:] }, verifiers{multi}},
		{"multi path=longer", func(o *opened) { o.multi = append(o.multi, zeros(1)...) }, verifiers{multi}},
		{"height=negative", func(o *opened) { fit(o, merkle.Shape{Rows: 1, Width: 1}, 0); o.height = -1 }, verifiers{newCap}},
		// The lowest level is the cap of any height above the tree's.
		{"height=above the highest", func(o *opened) { fit(o, merkle.Shape{Rows: 1, Width: 1}, 0); o.height = 21 }, verifiers{newCap}},
		{"height=another", func(o *opened) { o.height = 1 }, verifiers{newCap}},
		{"cap=none", func(o *opened) { o.cap = nil }, verifiers{newCap}},
		{"cap=fewer", func(o *opened) { o.cap = o.cap[1:] }, verifiers{newCap}},
		{"cap=more", func(o *opened) { o.cap = append(o.cap, o.cap[0]) }, verifiers{newCap}},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := open(t, numbered(5*3))
			test.edit(&o)
			for i, verifier := range test.by {
				must.Fail(t, verifier(o), zkbench.ErrParams, "verifier %d", i)
			}
		})
	}
}

// TestNotCanonical: the modulus in the place of a zero, of which all digests are the same,
// is refused, with its place.
func TestNotCanonical(t *testing.T) {
	t.Parallel()
	type element = *goldilocks.Element
	for _, test := range []struct {
		name   string
		width  int
		of     func(o *opened) element
		verify func(opened) error
		path   string
		offset int
	}{
		{"row", 3, func(o *opened) element { return &o.row[2] }, opened.verify, "row[2]", 16},
		{"row by the cap", 3, func(o *opened) element { return &o.row[2] }, opened.verifyCap, "row[2]", 16},
		{"row of one", 1, func(o *opened) element { return &o.row[0] }, opened.verify, "row[0]", 0},
		{"row of nine", 9, func(o *opened) element { return &o.row[8] }, opened.verify, "row[8]", 64},
		{"path", 3, func(o *opened) element { return &o.path[0][3] }, opened.verify, "path[0][3]", 24},
		{"path to the cap", 3, func(o *opened) element { return &o.short[0][0] }, opened.verifyCap, "path[0][0]", 0},
		{"cap", 3, func(o *opened) element { return &o.cap[2][1] }, opened.newCap, "cap[2][1]", 72},
		{"rows", 3, func(o *opened) element { return &o.rows[1][2] }, opened.verifyMulti, "row[2]", 16},
		{"rows of nine", 9, func(o *opened) element { return &o.rows[0][8] }, opened.verifyMulti, "row[8]", 64},
		{"multi path", 3, func(o *opened) element { return &o.multi[0][2] }, opened.verifyMulti, "path[0][2]", 16},
	} {
		o := open(t, make([]goldilocks.Element, 5*test.width))
		e := test.of(&o)
		if *e != 0 {
			t.Fatalf("%s: the example shows nothing: %d", test.name, *e)
		}
		*e = goldilocks.Modulus
		err := test.verify(o)
		decode, ok := errors.AsType[*zkbench.DecodeError](err)
		if !ok || decode.Path != test.path || decode.Offset != test.offset {
			t.Errorf("%s: %v", test.name, err)
		}
	}
}

// TestCapIsItsOwn: neither what NewCap was given nor what Tree.Cap returned is kept.
func TestCapIsItsOwn(t *testing.T) {
	t.Parallel()
	tree := build(t, goldilocks.Portable(), merkle.Shape{Rows: 4, Width: 3})
	top := tree.Top()
	row := must.Get(tree.Row(2))(t)
	for height := range 4 { // of 2, the tree's, and more: the leaves
		digests := must.Get(tree.Cap(height))(t)
		c := must.Get(merkle.NewCap(tree.Root(), tree.Shape(), height, digests))(t)
		path := must.Get(tree.PathToCap(2, height))(t)
		clear(digests)
		must.Do(t, c.Verify(2, row, path), "height", height)
	}
	golden.Equal(t, "the tree's top", top, tree.Top())
}

// TestTreeArguments: rows and caps that a tree has not.
func TestTreeArguments(t *testing.T) {
	t.Parallel()
	tree := build(t, goldilocks.Portable(), merkle.Shape{Rows: 5, Width: 3})
	for _, index := range []int{-1, 5} {
		must.FailGet(tree.Row(index))(t, zkbench.ErrParams, "row %d", index)
		must.FailGet(tree.Path(index))(t, zkbench.ErrParams, "path of %d", index)
		must.FailGet(tree.PathToCap(index, 1))(t, zkbench.ErrParams, "path of %d to a cap", index)
	}
	for _, height := range []int{-1, 21} {
		must.FailGet(tree.Cap(height))(t, zkbench.ErrParams, "cap of height %d", height)
		must.FailGet(tree.PathToCap(0, height))(t, zkbench.ErrParams, "path to a cap of height %d", height)
	}
	row, err := tree.Row(0)
	if err != nil || cap(row) != 3 {
		t.Errorf("a row of 3 has room for %d; what is appended would be in the next; error %v", cap(row), err)
	}
}

// TestZeroTree: of a tree that Build has not made nothing panics, and nothing verifies.
func TestZeroTree(t *testing.T) {
	t.Parallel()
	var tree merkle.Tree
	if tree.Top() != (poseidon.Digest{}) || tree.Root() != (poseidon.Digest{}) {
		t.Errorf("top %x, root %x", tree.Top(), tree.Root())
	}
	_, row := tree.Row(0)
	_, path := tree.Path(0)
	_, multi := tree.MultiPath([]int{0})
	_, caps := tree.Cap(0)
	_, open := new(merkle.File).Path(0)
	var none merkle.Cap
	for i, err := range []error{
		row, path, multi, caps, open, none.Verify(0, nil, nil),
		merkle.Verify(tree.Root(), tree.Shape(), 0, nil, nil), merkle.VerifyMulti(tree.Root(), tree.Shape(), []int{0}, nil, nil),
	} {
		if !errors.Is(err, zkbench.ErrParams) || !strings.Contains(err.Error(), "rows: 0") {
			t.Errorf("%d: %v", i, err)
		}
	}
}

// TestVerifyAllocates nothing: no name is made of what is right.
func TestVerifyAllocates(t *testing.T) {
	o := open(t, numbered(5*8))
	if n := testing.AllocsPerRun(20, func() {
		must.Do(t, o.verify())
	}); n != 0 {
		t.Errorf("%.0f allocations", n)
	}
}

// TestNodes: the digests of all levels.
func TestNodes(t *testing.T) {
	t.Parallel()
	for shape, want := range map[merkle.Shape]int{
		{Rows: 1, Width: 1}: 1, {Rows: 2, Width: 1}: 3, {Rows: 5, Width: 9}: 11, {Rows: 8, Width: 1}: 15,
		{Rows: 0, Width: 1}: 0, {Rows: 1, Width: 0}: 0, {Rows: -5, Width: 1}: 0, {Rows: math.MaxInt, Width: math.MaxInt}: 0,
	} {
		golden.Equal(t, fmt.Sprintf("nodes of %v", shape), want, shape.Nodes())
	}
}

// TestMultiPath: any rows together; fewer digests than their paths; any change is seen.
func TestMultiPath(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		shape := merkle.Shape{Rows: rapid.IntRange(1, 70).Draw(rt, "rows"), Width: 8}
		tree := build(t, goldilocks.Kernel{}, shape)
		indices := slices.Compact(slices.Sorted(slices.Values(rapid.SliceOfN(rapid.IntRange(0, shape.Rows-1), 1, 12).Draw(rt, "indices"))))
		path := must.Get(tree.MultiPath(indices))(rt)
		var rows [][]goldilocks.Element
		single := 0
		for _, i := range indices {
			row := must.Get(tree.Row(i))(rt)
			one := must.Get(tree.Path(i))(rt)
			rows, single = append(rows, row), single+len(one)
		}
		root := tree.Root()
		if err := merkle.VerifyMulti(root, shape, indices, rows, path); err != nil {
			rt.Fatalf("%v of %v: %v", indices, shape, err)
		}
		if len(path) > single || len(indices) == shape.Rows && len(path) > 0 {
			rt.Fatalf("%v of %v: %d digests", indices, shape, len(path))
		}
		if len(path) > 0 {
			wrong := slices.Clone(path)
			flip(rt, wrong)
			if err := merkle.VerifyMulti(root, shape, indices, rows, wrong); !refused(err) {
				rt.Fatalf("another path: %v", err)
			}
			must.Fail(rt, merkle.VerifyMulti(root, shape, indices, rows, path[1:]), zkbench.ErrParams, "a shorter path")
		}
		at := rapid.IntRange(0, len(rows)-1).Draw(rt, "row")
		wrong := slices.Clone(rows)
		wrong[at] = slices.Clone(rows[at])
		wrong[at][3] = wrong[at][3].Add(1)
		must.Fail(rt, merkle.VerifyMulti(root, shape, indices, wrong, path), zkbench.ErrProof, "another row")
		must.Fail(rt, merkle.VerifyMulti(root, shape, indices, rows[1:], path), zkbench.ErrParams, "a row less")
		if len(rows) > 1 {
			slices.Reverse(wrong)
			must.Fail(rt, merkle.VerifyMulti(root, shape, indices, wrong, path), must.ErrAny, "rows in another order")
		}
	})
	tree := build(t, goldilocks.Portable(), merkle.Shape{Rows: 4, Width: 8})
	for _, wrong := range [][]int{nil, {1, 1}, {2, 1}, {-1}, {4}} {
		must.FailGet(tree.MultiPath(wrong))(t, zkbench.ErrParams, "%v", wrong)
	}
}
