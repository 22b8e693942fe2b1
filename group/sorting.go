package group

import (
	"cmp"
	"context"
	"runtime"

	"github.com/zkbench/zkbench/executor"
)

// sorting is the working memory for buckets with too many terms for one tree: of a window, or of a
// few. It is kept apart from a task's scratch, because the window's tasks share it.
type sorting[E comparable] struct {
	offsets []int32     // bucket -> where its picks begin; one entry more than buckets
	next    []int32     // range of terms, bucket -> where the range's next pick goes
	sorted  []uint32    // picks by bucket
	jobs    []job       // that sum them
	pieces  []affine[E] // by job: its sum, if it is of a piece of a long bucket
	sums    []affine[E] // of buckets, if the window is weighed alone
	lines   []affine[E] // then of the columns and rows of buckets
	memory  *offHeap    // of sorted
}

// job is the work of a task: to sum buckets first to end-1, or a piece of a long bucket.
type job struct {
	first, end int32
	lo, hi     int32 // of the picks
	long       bool
}

// These constants bound the length from which a bucket is long.
const (
	longBucket   = 512
	longestShort = 4096
)

// longFrom returns the length from which a bucket is summed by itself. A bucket far longer than the
// rest would leave most lanes empty beside it. Buckets of about the same length share their
// inversions.
func longFrom(terms, buckets int) int32 {
	return int32(min(max(longBucket, 4*terms/buckets), longestShort))
}

// leastSorted is the number of integers that a task sorts, which takes far longer than a call of Do.
const leastSorted = 1 << 15

// sortRanges returns in how many ranges the integers of a window are sorted. Each range counts its
// picks for every bucket, so a range has several times as many integers as there are buckets.
func (s *shape) sortRanges(ex executor.Executor) int {
	if ex.Width() == 1 {
		return 1
	}
	m := s.parts * s.n
	return max(1, min(m/leastSorted, m/(4*s.bucketCount())))
}

// A sum sorts and weighs few windows at once, since each needs memory of its own: at least windowsTogether, whose tasks
// are enough for 16 processors, or more if they have no more than sortedTogether integers.
const (
	windowsTogether = 3
	sortedTogether  = windowsTogether << 19
)

// windowsTogether returns the largest number of windows that are sorted and weighed at once.
func (s *shape) windowsTogether() int {
	return max(windowsTogether, sortedTogether/(s.parts*s.n))
}

// treesTogether is the number of terms that all trees of a sum may have at once, unless more tasks than
// treesTogether/leastAdditions run at once.
const treesTogether = 8 * termsInCache

// treeTerms returns how many terms a task sums in one tree. Smaller trees take longer for each term, so they have
// termsInCache unless more than 8 tasks run at once.
func treeTerms(ex executor.Executor) int {
	tasks := cmp.Or(ex.Width(), runtime.GOMAXPROCS(0))
	return min(termsInCache, max(leastAdditions, treesTogether/tasks))
}

// sortedSums sets sums to the bucket sums of windows lo to hi-1. The task that calls it lends its
// scratch to the tasks that it begins.
func (s *sums[E, PE]) sortedSums(ctx context.Context, ex executor.Executor, sc, task *scratch[E, PE], by *sorting[E], sums []affine[E], lo, hi int) error {
	if err := s.sort(ctx, ex, sc, task, by, lo, hi); err != nil {
		return err
	}
	terms := treeTerms(ex)
	by.cut(int32(terms))
	err := s.each(ctx, ex, task, len(by.jobs), func(task *scratch[E, PE], i int) {
		task.tree.rows.resize(terms * 9 / 8) // at once, so that no scratch grows from job to job; some points fill up the last vectors of runs
		j := &by.jobs[i]
		if j.long {
			by.pieces[i] = task.sumOf(sc.entries, by.sorted[j.lo:j.hi])
			return
		}
		task.shortBuckets(sc.entries, by, sums[j.first:j.end], int(j.first))
	})
	if err != nil {
		return err
	}
	task.joinLong(by, sums)
	return nil
}

// sort sets by.sorted to the picks of windows lo to hi-1, by bucket and within a bucket in order.
func (s *sums[E, PE]) sort(ctx context.Context, ex executor.Executor, sc, task *scratch[E, PE], by *sorting[E], lo, hi int) error {
	nb := sc.bucketCount()
	count := (hi - lo) * nb
	ranges := pieces{sc.parts * sc.n, sc.sortRanges(ex)}
	by.next = resize(by.next, ranges.count*count)
	err := s.each(ctx, ex, task, ranges.count, func(_ *scratch[E, PE], i int) {
		first, end := ranges.bounds(i)
		next := by.next[i*count : (i+1)*count]
		clear(next)
		for w := lo; w < hi; w++ {
			next := next[(w-lo)*nb : (w-lo+1)*nb]
			for _, d := range sc.window(w)[first:end] {
				if d != 0 {
					next[abs(int(d))-1]++
				}
			}
		}
	})
	if err != nil {
		return err
	}
	by.offsets = resize(by.offsets, count+1)
	at := int32(0)
	for k := range count {
		by.offsets[k] = at
		for i := k; i < len(by.next); i += count {
			by.next[i], at = at, at+by.next[i]
		}
	}
	by.offsets[count] = at
	by.sorted = room(by.memory, by.sorted, int(at))
	return s.each(ctx, ex, task, ranges.count, func(_ *scratch[E, PE], i int) {
		first, end := ranges.bounds(i)
		for w := lo; w < hi; w++ {
			next := by.next[i*count+(w-lo)*nb : i*count+(w-lo+1)*nb]
			for j, d := range sc.window(w)[first:end] {
				if d != 0 {
					at := &next[abs(int(d))-1]
					by.sorted[*at] = sc.pick(first+j, int(d>>15|1))
					*at++
				}
			}
		}
	})
}

// cut divides the buckets into jobs of at most the given number of terms: a few buckets, or a piece of a bucket that
// is summed by itself.
func (by *sorting[E]) cut(most int32) {
	at := by.offsets
	count, filled := len(at)-1, 0
	for k := range count {
		if at[k+1] > at[k] {
			filled++
		}
	}
	long := min(longFrom(len(by.sorted), max(filled, 1)), most)
	by.jobs = by.jobs[:0]
	for first := 0; first < count; {
		end := first
		for end < count && at[end+1]-at[first] <= most && at[end+1]-at[end] < long {
			end++
		}
		if end > first {
			by.jobs = append(by.jobs, job{int32(first), int32(end), at[first], at[end], false})
		}
		if end < count && at[end+1]-at[end] >= long {
			for lo := at[end]; lo < at[end+1]; lo += most {
				by.jobs = append(by.jobs, job{int32(end), int32(end + 1), lo, min(lo+most, at[end+1]), true})
			}
			end++
		}
		first = end
	}
	by.pieces = resize(by.pieces, len(by.jobs))
}

// shortBuckets sets sums to the sums of the buckets from first on.
func (s *scratch[E, PE]) shortBuckets(entries []affine[E], by *sorting[E], sums []affine[E], first int) {
	t, at := &s.tree, by.offsets
	// No bucket at the end is filled if the digits of a scalar's highest window are short. So many would keep the others
	// from being runs, in which few buckets leave no lanes empty.
	used := len(sums)
	for used > 1 && at[first+used] == at[first+used-1] {
		used--
	}
	clear(sums[used:])
	sums = sums[:used]
	end, longest := first+len(sums), int32(0)
	for k := first; k < end; k++ {
		longest = max(longest, at[k+1]-at[k])
	}
	if int(longest)*(end-first) > 2*int(at[end]-at[first]) {
		longest = 0 // as runs these would be mostly empty
	}
	t.begin(end-first, int(longest))
	t.fill(by.sorted, at[first:end+1])
	s.store(sums, entries)
}

// sumOf returns the sum of the entries that picks selects.
func (s *scratch[E, PE]) sumOf(entries []affine[E], picks []uint32) affine[E] {
	t := &s.tree
	t.begin(1, len(picks))
	t.fill(picks, []int32{0, int32(len(picks))})
	t.reduce(entries, 1)
	s.row = resize(s.row, 1)
	t.rows.pack(s.row, 0)
	return s.row[0]
}

// joinLong sets the sums of long buckets to the sums of their pieces.
func (s *scratch[E, PE]) joinLong(by *sorting[E], sums []affine[E]) {
	var zero affine[E]
	var picks []uint32
	for lo := 0; lo < len(by.jobs); {
		j, hi := by.jobs[lo], lo+1
		for hi < len(by.jobs) && by.jobs[hi].first == j.first {
			hi++
		}
		switch {
		case !j.long:
		case hi == lo+1:
			sums[j.first] = by.pieces[lo]
		default:
			picks = picks[:0]
			for i := lo; i < hi; i++ {
				if by.pieces[i] != zero {
					picks = append(picks, uint32(i))
				}
			}
			if sums[j.first] = zero; len(picks) > 0 {
				sums[j.first] = s.sumOf(by.pieces, picks)
			}
		}
		lo = hi
	}
}

// linesOfTask is the number of additions of a task that sums columns or rows of buckets.
const linesOfTask = leastAdditions

// weighAlone does what weigh does, for one window with many buckets, whose columns and rows are summed
// in tasks: the last window of a sum would otherwise keep one processor busy alone.
func (s *sums[E, PE]) weighAlone(ctx context.Context, ex executor.Executor, sc, task *scratch[E, PE], by *sorting[E], i, w int) error {
	nb := len(by.sums)
	tasks := nb / linesOfTask
	if ex.Width() == 1 || tasks == 0 {
		sc.weigh(task, by.sums, i, w, w+1)
		return nil
	}
	columns := 1 << ((sc.width - 1) / 2)
	rows := nb/columns + 1
	by.lines = resize(by.lines, columns+rows)
	err := s.each(ctx, ex, task, 2*tasks, func(task *scratch[E, PE], k int) {
		left, right, top, bottom := 0, columns, 0, rows
		lines := by.lines[columns:]
		if k < tasks {
			left, right = k*columns/tasks, (k+1)*columns/tasks
			lines = by.lines[left:right]
		} else {
			top, bottom = (k-tasks)*rows/tasks, (k-tasks+1)*rows/tasks
			lines = lines[top:bottom]
		}
		task.sumLines(by.sums, lines, left, right, top, bottom, columns, k < tasks)
	})
	if err != nil {
		return err
	}
	sc.weighLines(task, by.lines, i, w, w+1)
	return nil
}

// sumLines sets lines to the sums of some columns, or of some rows, of buckets. The bucket with weight
// k = columns·q + r is in row q and column r; row 0 and column 0 have no weight.
func (s *scratch[E, PE]) sumLines(buckets, lines []affine[E], left, right, top, bottom, columns int, byColumn bool) {
	var zero affine[E]
	t := &s.tree
	t.begin(len(lines), 0)
	for q := top; q < bottom; q++ {
		for r := left; r < right; r++ {
			k := q*columns + r - 1
			if k < 0 || k >= len(buckets) || buckets[k] == zero {
				continue
			}
			switch {
			case byColumn && r != 0:
				t.add(int32(r-left), uint32(k))
			case !byColumn && q != 0:
				t.add(int32(q-top), uint32(k))
			}
		}
	}
	s.store(lines, buckets)
}
