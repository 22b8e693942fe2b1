package merkle_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/goldilocks/merkle"
	"github.com/zkbench/zkbench/internal/must"
)

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
			must.NotDo(rt, merkle.VerifyMulti(root, shape, indices, rows, path[1:]), zkbench.ErrParams, "a shorter path")
		}
		at := rapid.IntRange(0, len(rows)-1).Draw(rt, "row")
		wrong := slices.Clone(rows)
		wrong[at] = slices.Clone(rows[at])
		wrong[at][3] = wrong[at][3].Add(1)
		must.NotDo(rt, merkle.VerifyMulti(root, shape, indices, wrong, path), zkbench.ErrProof, "another row")
		must.NotDo(rt, merkle.VerifyMulti(root, shape, indices, rows[1:], path), zkbench.ErrParams, "a row less")
		if len(rows) > 1 {
			slices.Reverse(wrong)
			must.NotDo(rt, merkle.VerifyMulti(root, shape, indices, wrong, path), must.ErrAny, "rows in another order")
		}
	})
	tree := build(t, goldilocks.Portable(), merkle.Shape{Rows: 4, Width: 8})
	for _, wrong := range [][]int{nil, {1, 1}, {2, 1}, {-1}, {4}} {
		must.NotGet(tree.MultiPath(wrong))(t, zkbench.ErrParams, "%v", wrong)
	}
}
