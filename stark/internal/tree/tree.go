// Package tree is Merkle trees over columns: leaf i is the hash of what stands at i in each of
// them, so that nothing is transposed. What commits to a tree is a cap, a level near the top;
// shape and height are the verifier's to know.
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

// Digest is what a hash gives: 32 bytes, as words whose least significant byte is the first.
type Digest [DigestBytes / 8]uint64

// Hash is what a tree over elements is made of. Leaves and nodes are told apart by their depth,
// which a verifier knows, and not by the hash.
type Hash[E any] interface {
	Name() string
	// Leaves sets dst[i] to the hash of columns[0][i], columns[1][i], ...: at least one column, none
	// shorter than dst.
	Leaves(dst []Digest, columns [][]E)
	// Leaf is the same of one row.
	Leaf(row []E) Digest
	// Nodes sets dst[i] to the hash of pairs[2i] and pairs[2i+1]; dst may be the beginning of pairs.
	Nodes(dst, pairs []Digest)
}

// Tree is the digests of a tree of 2^k leaves, but for those of the lowest levels: what is needed of these can be hashed
// again.
type Tree[E any] struct {
	hash    Hash[E]
	omitted int        // how many levels, from the leaves on
	levels  [][]Digest // those above, the cap last
	scratch *sync.Pool // of *[]Digest
}

const (
	// chunk is how many digests are one task.
	chunk = 512
	// Most is how many levels are omitted at most: an eighth of the digests is left, and for each leaf that is shown eight
	// are hashed again.
	Most = 3
	// logLanes is of how many nodes of an omitted level are hashed at a time.
	logLanes = 3
)

// New is a tree of 2^log leaves, none hashed yet, under a cap of 2^capLog digests, or of all
// leaves where these are fewer. Leaves are set in whole runs of 2^run, those of one part of the tree.
func New[E any](hash Hash[E], log, capLog, run int) *Tree[E] {
	capLog = min(capLog, log)
	t := &Tree[E]{hash: hash, omitted: max(0, min(Most, run-logLanes, log-capLog)), scratch: new(sync.Pool)}
	log -= t.omitted
	all := make([]Digest, 2<<log-1<<capLog)
	for ; log >= capLog; log-- {
		t.levels = append(t.levels, all[:1<<log:1<<log])
		all = all[1<<log:]
	}
	return t
}

// RunOf is the logarithm of how many leaves Leaves sets at a time, at least, of 2^log.
func RunOf(log int) int { return min(log, bits.Len(chunk)-1) }

// Leaves hashes the leaves from first on: of each column all that it holds.
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

// Set hashes the leaves from first on at once.
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

// Grow hashes the levels above the leaves, when all of these are there, and returns the cap.
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

// Cap is what commits to the tree.
func (t *Tree[E]) Cap() []Digest { return t.levels[len(t.levels)-1] }

// Lower is levels that a tree omits: of nodes of the lowest one that it keeps what is below them.
type Lower map[int][][]Digest

// Again adds to lower what is omitted around leaves, hashed once more: row gives the elements of any leaf around them.
func (t *Tree[E]) Again(ctx context.Context, ex executor.Executor, lower Lower, leaves []int, row func(leaf int) []E) error {
	if t.omitted == 0 {
		return nil
	}
	var above []int
	for _, leaf := range leaves {
		above = append(above, leaf>>t.omitted)
	}
	above = slices.Compact(above)
	below := make([][][]Digest, len(above))
	err := ex.Do(ctx, len(above), func(_ context.Context, i int) error {
		below[i] = t.below(above[i], row)
		return nil
	})
	for i, node := range above {
		lower[node] = below[i]
	}
	return err
}

// below is the levels below a node of the lowest one that is kept, the leaves first.
func (t *Tree[E]) below(node int, row func(leaf int) []E) (levels [][]Digest) {
	n := 1 << t.omitted
	var columns [][]E
	for i := range n {
		for j, e := range row(node<<t.omitted + i) {
			if i == 0 {
				columns = append(columns, make([]E, n))
			}
			columns[j][i] = e
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

// Path is the digests that the leaves of rising indices need, beside what they give each other, on
// their way to the cap: of each level, the lowest first, from left to right. Again has added what is omitted around them.
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

// PathLen is the length of a Path of rising indices of 2^log leaves under a cap of 2^capLog.
func PathLen(log, capLog int, indices []int) (n int) {
	walk(log-min(capLog, log), indices, func(_, _ int, paired bool) {
		if !paired {
			n++
		}
	})
	return n
}

// walk visits level by level the nodes that are known, from left to right, of two siblings the
// left one.
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

// climb checks that rows are as many as indices, which rise, in a tree of 2^log leaves under a cap of so
// many digests, and path's digests as many as these need, and returns the nodes of the cap's level over them, from
// left to right. Where visit is not nil it is given each node on the way with its sibling, level by level.
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

// Verify checks that rows are those of the indices, which rise, in the tree of 2^log leaves with
// that cap. Any number of digests but PathLen, and of rows but one for each index, is a
// zkbench.ErrMalformed; other rows are a zkbench.ErrProof.
func Verify[E any](hash Hash[E], log int, top []Digest, indices []int, rows [][]E, path []Digest) error {
	digests, err := climb(hash, log, len(top), indices, rows, path, nil)
	if err != nil {
		return err
	}
	for i, node := 0, -1; i < len(indices); i++ {
		if at := indices[i] * len(top) >> log; at != node { // which digest of the cap is above it
			node = at
			if digests[0] != top[at] {
				return fmt.Errorf("%w: rows that do not lead to the cap", zkbench.ErrProof)
			}
			digests = digests[1:]
		}
	}
	return nil
}

// Paths are the siblings, from below to the cap of so many digests, of each index: what Verify is given, of each
// index apart. Errors are those of Verify; whether rows lead to the cap is not looked at.
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

// Append appends the digest's bytes.
func (d Digest) Append(b []byte) []byte {
	for _, w := range d {
		b = binary.LittleEndian.AppendUint64(b, w)
	}
	return b
}
