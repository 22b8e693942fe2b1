package group

import (
	"math/bits"
	"slices"
)

// These constants bound the terms that are summed together, so that a tree stays in the
// second-level cache, and the length from which a bucket is long.
const (
	termsInCache = 8192
	longBucket   = 512
	longestShort = 4096
)

// longFrom returns the length from which a bucket is summed by itself. A bucket far longer than the
// rest would leave most lanes empty beside it. Buckets of about the same length share their
// inversions.
func longFrom(terms, buckets int) int32 {
	return int32(min(max(longBucket, 4*terms/buckets), longestShort))
}

// bucketCount returns the number of a window's buckets.
func (s *shape) bucketCount() int { return 1 << (s.width - 1) }

// bucketSums sets the bucket sums of windows lo to hi-1. Bucket k of a window collects the points
// whose digit there is ±k.
func (s *scratch[E, PE]) bucketSums(task *scratch[E, PE], lo, hi int) {
	nb := s.bucketCount()
	sums := s.sums[lo*nb : hi*nb]
	if !s.inOneTree(task, sums, lo, hi) {
		s.sort(task, lo, hi)
		s.inTurn(task, sums)
	}
}

// weigh sets accumulator i to the weighted sum of windows lo to hi-1, from the sums of their
// buckets. Bucket k = 2^h·q + r of a window is in row q and column r of a matrix, so Σ k·bucket_k =
// 2^h·Σ q·row_q + Σ r·column_r. Each of these two is Σ 2^b·(sum of the lines whose number has bit
// b). Two trees compute the sums, and Horner's rule joins them.
func (s *scratch[E, PE]) weigh(task *scratch[E, PE], i, lo, hi int) {
	t := &task.tree
	nb := s.bucketCount()
	sums := s.sums[lo*nb : hi*nb]
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
	t.begin((hi-lo)*s.width, 0)
	for k := range task.lines {
		if task.lines[k] == zero {
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
	t.reduce(task.lines, minPairs)
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

// inTurn sets sums from task.sorted, a few buckets at a time.
func (s *scratch[E, PE]) inTurn(task *scratch[E, PE], sums []affine[E]) {
	count, filled := len(sums), 0
	for k := range count {
		if task.offsets[k+1] > task.offsets[k] {
			filled++
		}
	}
	long := longFrom(len(task.sorted), max(filled, 1))
	for first := 0; first < count; {
		end := first
		for end < count && task.offsets[end+1]-task.offsets[first] <= termsInCache && task.offsets[end+1]-task.offsets[end] < long {
			end++
		}
		if end > first {
			s.shortBuckets(task, sums[first:end], first)
		}
		if end < count && task.offsets[end+1]-task.offsets[end] >= long {
			sums[end] = s.longBucket(task, end)
			end++
		}
		first = end
	}
}

// sort sets task.sorted to the picks of windows lo to hi-1, by bucket.
func (s *scratch[E, PE]) sort(task *scratch[E, PE], lo, hi int) {
	buckets := s.bucketCount()
	task.offsets = resize(task.offsets, (hi-lo)*buckets+1)
	clear(task.offsets)
	for w := lo; w < hi; w++ {
		behind := task.offsets[(w-lo)*buckets:] // of the bucket of digit d: at d
		for _, d := range s.window(w) {
			if d != 0 {
				behind[abs(int(d))]++
			}
		}
	}
	for k := range len(task.offsets) - 1 {
		task.offsets[k+1] += task.offsets[k]
	}
	task.sorted = resize(task.sorted, int(task.offsets[len(task.offsets)-1]))
	task.next = append(task.next[:0], task.offsets...)
	for w := lo; w < hi; w++ {
		next := task.next[(w-lo)*buckets:]
		for j, d := range s.window(w) {
			if d != 0 {
				at := &next[abs(int(d))-1]
				task.sorted[*at] = s.pick(j, int(d>>15|1))
				*at++
			}
		}
	}
}

// shortBuckets sets sums to the sums of the buckets from first on.
func (s *scratch[E, PE]) shortBuckets(task *scratch[E, PE], sums []affine[E], first int) {
	t, at := &task.tree, task.offsets
	end, longest := first+len(sums), int32(0)
	for k := first; k < end; k++ {
		longest = max(longest, at[k+1]-at[k])
	}
	if int(longest)*(end-first) > 2*int(at[end]-at[first]) {
		longest = 0 // as runs these would be mostly empty
	}
	t.begin(end-first, int(longest))
	t.fill(task.sorted, at[first:end+1])
	task.store(sums, s.entries)
}

// longBucket returns the sum of bucket k, computed in pieces.
func (s *scratch[E, PE]) longBucket(task *scratch[E, PE], k int) (total affine[E]) {
	t := &task.tree
	var zero affine[E]
	sum := func(z *affine[E], entries []affine[E], picks []uint32) {
		t.begin(1, len(picks))
		t.fill(picks, []int32{0, int32(len(picks))})
		t.reduce(entries, 1)
		t.rows.pack(task.row[:1], 0)
		*z = task.row[0]
	}
	task.row = resize(task.row, 1)
	picks := task.sorted[task.offsets[k]:task.offsets[k+1]]
	pieces := make([]affine[E], 0, len(picks)/termsInCache+1)
	var of []uint32
	for chunk := range slices.Chunk(picks, termsInCache) {
		var z affine[E]
		if sum(&z, s.entries, chunk); z != zero {
			of = append(of, uint32(len(pieces)))
			pieces = append(pieces, z)
		}
	}
	if len(of) > 0 {
		sum(&total, pieces, of)
	}
	return total
}
