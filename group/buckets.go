package group

import (
	"context"
	"math/bits"
	"slices"

	"github.com/zkbench/zkbench/executor"
)

// termsInCache bounds the terms that are summed together, so that a tree stays in the second-level
// cache.
const termsInCache = 8192

// bucketCount returns the number of a window's buckets.
func (s *shape) bucketCount() int { return 1 << (s.width - 1) }

// bucketSums sets the bucket sums of windows lo to hi-1. Bucket k of a window collects the points
// whose digit there is ±k.
func (s *sums[E, PE]) bucketSums(ctx context.Context, ex executor.Executor, sc, task *scratch[E, PE], lo, hi int) error {
	nb := sc.bucketCount()
	sums := sc.sums[lo*nb : hi*nb]
	if sc.inOneTree(task, sums, lo, hi) {
		return nil
	}
	by := sc.sortings.Get().(*sorting[E])
	defer sc.sortings.Put(by)
	return s.sortedSums(ctx, ex, sc, task, by, sums, lo, hi)
}

// weigh sets accumulator i to the weighted sum of windows lo to hi-1, from the sums of their
// buckets. Bucket k = 2^h·q + r of a window is in row q and column r of a matrix, so Σ k·bucket_k =
// 2^h·Σ q·row_q + Σ r·column_r. Each of these two is Σ 2^b·(sum of the lines whose number has bit
// b). Two trees compute the sums, and Horner's rule joins them.
func (s *scratch[E, PE]) weigh(task *scratch[E, PE], sums []affine[E], i, lo, hi int) {
	t := &task.tree
	nb := s.bucketCount()
	low := (s.width - 1) / 2 // h
	columns := 1 << low
	lines := columns + nb>>low + 1 // of a window: columns, then rows
	var zero affine[E]
	t.begin((hi-lo)*lines, 0)
	for k := range sums {
		if sums[k] == zero {
			continue
		}
		first, weight := k/nb*lines, k%nb+1
		if r := weight % columns; r != 0 {
			t.add(int32(first+r), uint32(k))
		}
		if q := weight / columns; q != 0 {
			t.add(int32(first+columns+q), uint32(k))
		}
	}
	task.lines = resize(task.lines, (hi-lo)*lines)
	task.store(task.lines, sums)
	s.weighLines(task, task.lines, i, lo, hi)
}

// weighLines sets accumulator i to the weighted sum of windows lo to hi-1, from the sums of their
// columns and rows.
func (s *scratch[E, PE]) weighLines(task *scratch[E, PE], sums []affine[E], i, lo, hi int) {
	t := &task.tree
	low := (s.width - 1) / 2
	columns, lines := 1<<low, len(sums)/(hi-lo)
	var zero affine[E]
	t.begin((hi-lo)*s.width, 0)
	for k := range sums {
		if sums[k] == zero {
			continue
		}
		bit, weight := k/lines*s.width, k%lines
		if weight >= columns {
			bit, weight = bit+low, weight-columns
		}
		for ; weight != 0; weight &= weight - 1 {
			t.add(int32(bit+bits.TrailingZeros(uint(weight))), uint32(k))
		}
	}
	t.reduce(sums, minPairs)
	for bit := (hi-lo)*s.width - 1; bit >= 0; bit-- {
		s.acc.double(i)
		t.addColumn(s.acc, i, bit)
	}
}

// inOneTree sets sums by one tree. It reports false if there are too many terms for that. The sum
// of a bucket that is empty, or sums to the identity, is zero.
func (s *scratch[E, PE]) inOneTree(task *scratch[E, PE], sums []affine[E], lo, hi int) bool {
	if (hi-lo)*s.parts*s.n > termsInCache {
		return false
	}
	t := &task.tree
	t.begin(len(sums), 0)
	for w := lo; w < hi; w++ {
		before := int32((w-lo)*s.bucketCount() - 1) // of the bucket of digit d: by d
		for j, d := range s.window(w) {
			if d != 0 {
				t.add(before+int32(abs(int(d))), s.pick(j, int(d>>15|1)))
			}
		}
	}
	if slices.Max(t.count) >= longBucket {
		return false
	}
	task.store(sums, s.entries)
	return true
}

// store sets sums to the sums of the tree's segments.
func (s *scratch[E, PE]) store(sums, entries []affine[E]) {
	t := &s.tree
	t.reduce(entries, 1)
	clear(sums)
	if t.left == 0 {
		return
	}
	s.row = resize(s.row, int(t.width[0]))
	t.rows.pack(s.row, 0)
	for k, c := range t.count {
		if c > 0 {
			sums[k] = s.row[t.rank[k]]
		}
	}
}
