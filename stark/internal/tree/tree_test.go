package tree_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/stark/internal/tree"
)

// TestVerify: rows lead to the cap by one path alone.
func TestVerify(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	golden.Equal(t, "a name", "keccak", tree.Keccak[goldilocks.Element]().Name())
	golden.Equal(t, "a name", "poseidon", tree.Poseidon().Name())
	for _, hash := range []tree.Hash[goldilocks.Element]{tree.Keccak[goldilocks.Element](), tree.Poseidon()} {
		for _, log := range []int{0, 1, 2, 3, 4, 5, 8} {
			for capLog := range 4 {
				n := 1 << log
				columns := make([][]goldilocks.Element, 3)
				for c := range columns {
					for range n {
						columns[c] = append(columns[c], goldilocks.Reduce(random.Uint64()))
					}
				}
				tr := tree.New(hash, log, capLog, tree.RunOf(max(0, log-1)), tree.Most, digests)
				// In two parts, where there are two.
				half := max(1, n/2)
				for from := 0; from < n; from += half {
					part := make([][]goldilocks.Element, len(columns))
					for c := range part {
						part[c] = columns[c][from : from+half]
					}
					must.Do(t, tr.Leaves(t.Context(), executor.Serial(), from, part))
				}
				top := must.Get(tr.Grow(t.Context(), executor.Pool()))(t)
				golden.Equal(t, "the cap's length", 1<<min(log, capLog), len(top))
				row := func(i int) []goldilocks.Element {
					return []goldilocks.Element{columns[0][i], columns[1][i], columns[2][i]}
				}
				for range 8 {
					var indices []int
					for i := range n {
						if random.IntN(max(3, n/8)) == 0 || i == n-1 && len(indices) == 0 {
							indices = append(indices, i)
						}
					}
					var rows [][]goldilocks.Element
					for _, i := range indices {
						rows = append(rows, row(i))
					}
					lower := make(tree.Lower)
					golden.Equal(t, "the leaves", rows, must.Get(tr.Again(t.Context(), executor.Serial(), lower, indices, row))(t))
					path := tr.Path(indices, lower)
					golden.Equal(t, "the path's length", len(path), tree.PathLen(log, capLog, indices))
					name := fmt.Sprintf("%s, 2^%d leaves, %v", hash.Name(), log, indices)
					verify := func(indices []int, rows [][]goldilocks.Element, top, path []tree.Digest) error {
						return tree.Verify(hash, log, top, indices, rows, path)
					}
					if err := verify(indices, rows, top, path); err != nil {
						t.Fatalf("%s: %v", name, err)
					}
					must.Fail(t, verify(indices, rows, top, append(path, tree.Digest{})), zkbench.ErrMalformed, "%s: a path too long", name)
					must.Fail(t, verify(indices, append(rows, rows[0]), top, path), zkbench.ErrMalformed, "%s: a row too many", name)
					must.Fail(t, verify(indices, rows[1:], top, path), zkbench.ErrMalformed, "%s: a row too few", name)
					must.Fail(t, verify(indices, rows, append(top, top...), path), must.ErrAny, "%s: another cap's length", name)
					must.Fail(t, verify(indices, rows, append(top, tree.Digest{}), path), must.ErrAny, "%s: a digest too many", name)
					for i := range path {
						other := slices.Clone(path)
						other[i][3] ^= 1
						must.Fail(t, verify(indices, rows, top, other), zkbench.ErrProof, "%s: digest %d", name, i)
					}
					if len(path) > 0 {
						must.Fail(t, verify(indices, rows, top, path[1:]), zkbench.ErrMalformed, "%s: a path too short", name)
					}
					for i := range rows {
						other := slices.Clone(rows)
						other[i] = slices.Clone(rows[i])
						other[i][1] = other[i][1].Add(1)
						must.Fail(t, verify(indices, other, top, path), zkbench.ErrProof, "%s: row %d", name, i)
					}
					for i, index := range indices {
						for word := range top[0] {
							other := slices.Clone(top)
							other[index>>(log-min(log, capLog))][word] ^= 2
							must.Fail(t, verify(indices, rows, other, path), zkbench.ErrProof, "%s: word %d of the cap over row %d", name, word, i)
						}
					}
				}
			}
		}
	}
}

func digests(n int) []tree.Digest { return make([]tree.Digest, n) }

// TestRuns: leaves that are set in runs of other lengths are the same, and an executor's error is that of what is
// hashed again.
func TestRuns(t *testing.T) {
	t.Parallel()
	const log = 9
	column := make([]goldilocks.Element, 1<<log)
	for i := range column {
		column[i] = goldilocks.Element(i)
	}
	whole, parts := tree.New(tree.Poseidon(), log, 0, 0, 0, digests), tree.New(tree.Poseidon(), log, 0, 6, tree.Most, digests)
	whole.Set(0, [][]goldilocks.Element{column})
	for from, n := 0, 64; from < len(column); from, n = from+n, from+n {
		parts.Set(from, [][]goldilocks.Element{column[from : from+max(n, 64)]})
	}
	top := must.Get(whole.Grow(t.Context(), executor.Serial()))(t)
	golden.Equal(t, "the cap", top, must.Get(parts.Grow(t.Context(), executor.Serial()))(t))
	row := func(i int) []goldilocks.Element { return column[i : i+1] }
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, tr := range []*tree.Tree[goldilocks.Element]{whole, parts} {
		rows := must.Get(tr.Again(t.Context(), executor.Serial(), make(tree.Lower), []int{3, 4, 300}, row))(t)
		golden.Equal(t, "the leaves", [][]goldilocks.Element{row(3), row(4), row(300)}, rows)
		must.FailGet(tr.Again(ctx, executor.Serial(), make(tree.Lower), []int{3}, row))(t, context.Canceled, "hashed again")
	}
}
