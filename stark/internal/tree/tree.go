// Package tree builds Merkle trees over columns. Leaf i is the hash of element i of every column, so that
// columns need not be transposed. A tree is committed to by its cap, a level near the top. Verifiers must
// know the shape and height of the tree.
package tree

import (
	"context"
	"encoding/binary"
	"fmt"
	"math/bits"
	"slices"
	"sync"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
)

// DigestBytes is the length of a digest in bytes.
const DigestBytes = 32

// Digest is the output of a hash: 32 bytes, as four little-endian words.
type Digest [DigestBytes / 8]uint64

// Hash hashes the leaves and nodes of a tree over elements. It need not hash leaves differently from nodes,
// because verifiers know the depth of each leaf and node.
type Hash[E any] interface {
	Name() string
	// Leaves sets dst[i] to the hash of columns[0][i], columns[1][i], ... There must be at least one column,
	// and none may be shorter than dst.
	Leaves(dst []Digest, columns [][]E)
	// Leaf returns the hash of one row.
	Leaf(row []E) Digest
	// Nodes sets dst[i] to the hash of pairs[2i] and pairs[2i+1]. The slice dst may be the beginning of
	// pairs.
	Nodes(dst, pairs []Digest)
}

// Tree stores the digests of a tree with 2^k leaves. It may omit the lowest levels. If a path needs digests
// of these levels, they are computed again.
type Tree[E any] struct {
	hash    Hash[E]
	omitted int        // number of levels that are not stored, from the leaves on
	levels  [][]Digest // the levels above them, the cap last
	scratch *sync.Pool // of *[]Digest
}

const (
	// chunk is the number of digests in one task.
	chunk = 512
	// Most is the maximum number of levels that it is useful to omit. A tree that omits so many levels stores an
	// eighth of the digests. Then eight leaves are hashed again for each leaf that is opened.
	Most = 3
	// logLanes is the base-2 logarithm of how many nodes of an omitted level are hashed at a time.
	logLanes = 3
)

// New returns a tree of 2^log leaves, of which none is hashed yet. The tree's cap has 2^capLog digests, or
// consists of all leaves if there are fewer. The parameter omit is the number of levels that the tree omits. It
// omits fewer if there are not so many below the cap, or if run, the logarithm of a number of leaves, is not so
// far above 3. The leaves must be set in aligned groups of 2^run leaves if omit is not 0. The function memory
// returns memory for so many digests.
func New[E any](hash Hash[E], log, capLog, run, omit int, memory func(n int) []Digest) *Tree[E] {
	capLog = min(capLog, log)
	t := &Tree[E]{hash: hash, omitted: max(0, min(omit, run-logLanes, log-capLog)), scratch: new(sync.Pool)}
	log -= t.omitted
	all := memory(2<<log - 1<<capLog)
	for ; log >= capLog; log-- {
		t.levels = append(t.levels, all[:1<<log:1<<log])
		all = all[1<<log:]
	}
	return t
}

// RunOf returns the logarithm of a number of leaves, for the parameter run of the function New. It is meant for a
// tree whose leaves are set by calls of Leaves with 2^log leaves each: each such call sets aligned groups of
// 2^RunOf(log) leaves.
func RunOf(log int) int { return min(log, bits.Len(chunk)-1) }

// Leaves hashes leaves, one for each row of the columns. The parameter first is the index of the first of
// these leaves.
func (t *Tree[E]) Leaves(ctx context.Context, ex executor.Executor, first int, columns [][]E) error {
	n := len(columns[0])
	return ex.Do(ctx, (n+chunk-1)/chunk, func(_ context.Context, i int) error {
		from, to := i*chunk, min((i+1)*chunk, n)
		part := make([][]E, len(columns))
		for j, c := range columns {
			part[j] = c[from:to]
		}
		t.Set(first+from, part)
		return nil
	})
}

// Set hashes the same leaves as Leaves would, but in the calling goroutine.
func (t *Tree[E]) Set(first int, columns [][]E) {
	n := len(columns[0])
	if t.omitted == 0 {
		t.hash.Leaves(t.levels[0][first:first+n], columns)
		return
	}
	memory, is := t.scratch.Get().(*[]Digest)
	if !is || len(*memory) < n {
		memory = new(make([]Digest, n))
	}
	defer t.scratch.Put(memory)
	below := (*memory)[:n]
	t.hash.Leaves(below, columns)
	for range t.omitted - 1 {
		t.hash.Nodes(below[:len(below)/2], below)
		below = below[:len(below)/2]
	}
	t.hash.Nodes(t.levels[0][first>>t.omitted:][:len(below)/2], below)
}

// Grow hashes the levels above the leaves and returns the cap. All leaves must have been set.
func (t *Tree[E]) Grow(ctx context.Context, ex executor.Executor) ([]Digest, error) {
	for i, level := range t.levels[1:] {
		below := t.levels[i]
		err := ex.Do(ctx, (len(level)+chunk-1)/chunk, func(_ context.Context, i int) error {
			from, to := i*chunk, min((i+1)*chunk, len(level))
			t.hash.Nodes(level[from:to], below[2*from:2*to])
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return t.Cap(), nil
}

// Cap returns the cap, which commits to the tree.
func (t *Tree[E]) Cap() []Digest { return t.levels[len(t.levels)-1] }

// Lower holds digests of levels that a tree omits. It maps the index of a node of the lowest stored level to
// the digests below this node, one slice for each level, the leaves first.
type Lower map[int][][]Digest

// Again returns the elements of the given leaves, which must be in rising order. It recomputes the omitted
// digests around them and adds these digests to the parameter lower. The function row must return the elements of
// any leaf near the given ones. It is called once for each leaf.
func (t *Tree[E]) Again(ctx context.Context, ex executor.Executor, lower Lower, leaves []int, row func(leaf int) []E) (rows [][]E, err error) {
	var above []int
	for _, leaf := range leaves {
		above = append(above, leaf>>t.omitted)
	}
	above = slices.Compact(above)
	near, below := make([][][]E, len(above)), make([][][]Digest, len(above))
	err = ex.Do(ctx, len(above), func(_ context.Context, i int) error {
		for leaf := range 1 << t.omitted {
			near[i] = append(near[i], row(above[i]<<t.omitted+leaf))
		}
		below[i] = t.below(near[i])
		return nil
	})
	if err != nil {
		return nil, err
	}
	for i, node := range above {
		lower[node] = below[i]
		for ; len(leaves) > 0 && leaves[0]>>t.omitted == node; leaves = leaves[1:] {
			rows = append(rows, near[i][leaves[0]-node<<t.omitted])
		}
	}
	return rows, nil
}

// below hashes the levels below a node of the lowest stored level, the leaves first. It takes the leaves' elements.
func (t *Tree[E]) below(rows [][]E) (levels [][]Digest) {
	n := len(rows)
	if n == 1 {
		return nil
	}
	columns, cells := make([][]E, len(rows[0])), make([]E, len(rows[0])*n)
	for j := range columns {
		columns[j] = cells[j*n:][:n]
		for i, row := range rows {
			columns[j][i] = row[j]
		}
	}
	level := make([]Digest, n)
	t.hash.Leaves(level, columns)
	for {
		levels = append(levels, level)
		if n /= 2; n == 1 {
			return levels
		}
		above := make([]Digest, n)
		t.hash.Nodes(above, level)
		level = above
	}
}

// Path returns the digests that lead from the leaves at rising indices to the cap, except those that
// follow from the leaves themselves. The digests are ordered by level, the lowest first, and from left to
// right. If the tree omits levels, Again must have added the digests around these leaves to lower.
func (t *Tree[E]) Path(indices []int, lower Lower) (path []Digest) {
	walk(t.omitted+len(t.levels)-1, indices, func(level, node int, paired bool) {
		switch up := t.omitted - level; {
		case paired:
		case up > 0:
			path = append(path, lower[node>>up][level][node&(1<<up-1)^1])
		default:
			path = append(path, t.levels[-up][node^1])
		}
	})
	return path
}

// PathLen returns the length of a Path for leaves at rising indices, in a tree of 2^log leaves with a cap of
// 2^capLog digests.
func PathLen(log, capLog int, indices []int) (n int) {
	walk(log-min(capLog, log), indices, func(_, _ int, paired bool) {
		if !paired {
			n++
		}
	})
	return n
}

// walk visits the known nodes level by level, from left to right. If both siblings are known, it visits the
// left one, with paired set.
func walk(levels int, indices []int, visit func(level, node int, paired bool)) {
	at := slices.Clone(indices)
	for level := range levels {
		above := at[:0]
		for i := 0; i < len(at); i++ {
			node := at[i]
			paired := i+1 < len(at) && at[i+1] == node^1
			visit(level, node, paired)
			if paired {
				i++
			}
			above = append(above, node>>1)
		}
		at = above
	}
}

// climb hashes rows and path up to the cap's level and returns the nodes of that level over the rows, from
// left to right. The tree has 2^log leaves and a cap of top digests; indices must rise. climb returns
// zkbench.ErrMalformed if there is not one row for each index, or if path does not have the length that they
// need. If visit is not nil, it is called for each node on the way, level by level, with the node and its
// sibling.
func climb[E any](hash Hash[E], log, top int, indices []int, rows [][]E, path []Digest, visit func(level, node int, pair [2]Digest)) ([]Digest, error) {
	levels := 0
	for top<<levels < 1<<log {
		levels++
	}
	if top<<levels != 1<<log || len(rows) != len(indices) {
		return nil, fmt.Errorf("%w: %d rows of %d under a cap of %d digests over 2^%d leaves", zkbench.ErrMalformed, len(rows), len(indices), top, log)
	}
	if want := PathLen(log, log-levels, indices); len(path) != want {
		return nil, fmt.Errorf("%w: a path of %d digests, accepted are %d", zkbench.ErrMalformed, len(path), want)
	}
	digests := make([]Digest, len(rows))
	for i, row := range rows {
		digests[i] = hash.Leaf(row)
	}
	// The nodes of a level, each with its sibling, are hashed together.
	at := slices.Clone(indices)
	for level := range levels {
		var pairs []Digest
		above := at[:0]
		known := digests
		walk(1, at, func(_, node int, paired bool) {
			var pair [2]Digest
			pair[node&1], known = known[0], known[1:]
			other := &path
			if paired {
				other = &known
			}
			pair[node&1^1], *other = (*other)[0], (*other)[1:]
			pairs = append(pairs, pair[:]...)
			if visit != nil {
				visit(level, node>>1, pair)
			}
		})
		for _, node := range at {
			if n := len(above); n == 0 || above[n-1] != node>>1 {
				above = append(above, node>>1)
			}
		}
		digests = pairs[:len(pairs)/2]
		hash.Nodes(digests, pairs)
		at = above
	}
	return digests, nil
}

// Verify checks rows against a tree of 2^log leaves. The parameter top is the cap of the tree. Each rows[i]
// must be the leaf at indices[i], and the indices must rise. Verify returns zkbench.ErrMalformed if path does
// not have PathLen digests or if there is not one row for each index. It returns zkbench.ErrProof if the rows
// are not these leaves.
func Verify[E any](hash Hash[E], log int, top []Digest, indices []int, rows [][]E, path []Digest) error {
	digests, err := climb(hash, log, len(top), indices, rows, path, nil)
	if err != nil {
		return err
	}
	for i, node := 0, -1; i < len(indices); i++ {
		if at := indices[i] * len(top) >> log; at != node { // at is the cap's digest above the leaf
			node = at
			if digests[0] != top[at] {
				return fmt.Errorf("%w: rows do not lead to the cap", zkbench.ErrProof)
			}
			digests = digests[1:]
		}
	}
	return nil
}

// Paths splits the path that Verify takes into one path for each index. Each of these paths lists the
// siblings from the leaf to the cap. The parameter top is the number of digests in the cap. Paths returns
// the same errors as Verify, but it does not check whether the rows lead to the cap.
func Paths[E any](hash Hash[E], log, top int, indices []int, rows [][]E, path []Digest) ([][]Digest, error) {
	type place struct{ level, node int }
	pairs := make(map[place][2]Digest)
	levels := 0
	_, err := climb(hash, log, top, indices, rows, path, func(level, node int, pair [2]Digest) {
		pairs[place{level, node}] = pair
		levels = max(levels, level+1)
	})
	if err != nil {
		return nil, err
	}
	all := make([][]Digest, len(indices))
	for i, index := range indices {
		for level := range levels {
			all[i] = append(all[i], pairs[place{level, index >> 1}][index&1^1])
			index >>= 1
		}
	}
	return all, nil
}

// Append appends the digest's bytes to b.
func (d Digest) Append(b []byte) []byte {
	for _, w := range d {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}
