package runner

import (
	"math"
	"math/bits"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The loop counts latencies in the buckets of an HDR histogram with three
// significant figures. Each value below 2^11 ns has a bucket of its own. Above
// that, values with the same eleven leading bits share a bucket, so a bucket's
// width is at most 1/1024 of its values. Counting a value is an increment; the
// histogram is made after the window.
const (
	leading    = 11
	half       = 1 << (leading - 1)
	maxLatency = 24 * time.Hour
	buckets    = (47-leading)*half + 2*half // 24 hours are below 2^47 ns

	significant = 3 // figures
)

// bucket returns the index of v, which is clamped to 0..maxLatency.
func bucket(v time.Duration) int {
	n := uint64(min(max(v, 0), maxLatency))
	shift := max(bits.Len64(n)-leading, 0)
	return shift<<(leading-1) + int(n>>shift)
}

// lowest returns the minimum value of a bucket, in ns.
func lowest(bucket int) int64 {
	if bucket < 2*half {
		return int64(bucket)
	}
	shift := bucket>>(leading-1) - 1
	return int64(bucket-shift<<(leading-1)) << shift
}

// span is the range of buckets with a count, from low up to but not including high.
// Work that is done for each interval visits only this range.
type span struct{ low, high int }

func (s *span) include(low, high int) {
	if s.high == 0 {
		*s = span{low, high}
		return
	}
	s.low, s.high = min(s.low, low), max(s.high, high)
}

// tally counts values by bucket. Its size does not depend on how many there are.
type tally struct {
	span
	n [buckets]uint64
}

func (t *tally) add(v time.Duration) {
	i := bucket(v)
	t.n[i]++
	if i < t.low || i >= t.high {
		t.include(i, i+1)
	}
}

func (t *tally) merge(other *tally) {
	if other.high == 0 {
		return
	}
	t.include(other.low, other.high)
	for i := other.low; i < other.high; i++ {
		t.n[i] += other.n[i]
	}
}

func (t *tally) clear() {
	clear(t.n[t.low:t.high])
	t.span = span{}
}

func (t *tally) count() (n uint64) {
	for _, c := range t.n[t.low:t.high] {
		n += c
	}
	return n
}

// above counts the values above a limit in ns. It does not count the bucket that contains
// the limit.
func (t *tally) above(limit float64) (n uint64) {
	for i := t.low; i < t.high; i++ {
		if float64(lowest(i)) > limit {
			n += t.n[i]
		}
	}
	return n
}

// percentiles returns the middle of the bucket that holds each percentile, in ns. The
// percentiles must ascend. If the tally is empty, all results are 0.
func (t *tally) percentiles(ps ...float64) []float64 {
	values := make([]float64, len(ps))
	n := t.count()
	if n == 0 {
		return values
	}
	seen, next := uint64(0), 0
	for i := t.low; i < t.high && next < len(ps); i++ {
		seen += t.n[i]
		for next < len(ps) && float64(seen) >= math.Ceil(ps[next]*float64(n)/100) && seen > 0 {
			values[next] = float64(lowest(i)+lowest(i+1)-1) / 2
			next++
		}
	}
	return values
}

// cell is a non-empty bucket with its count.
type cell struct {
	bucket int
	n      uint64
}

func (t *tally) cells() []cell {
	used := 0
	for _, c := range t.n[t.low:t.high] {
		if c > 0 {
			used++
		}
	}
	cells := make([]cell, 0, used)
	for i := t.low; i < t.high; i++ {
		if t.n[i] > 0 {
			cells = append(cells, cell{i, t.n[i]})
		}
	}
	return cells
}

func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, int64(maxLatency), significant)
}

// histogram returns the tally as an HDR histogram, whose buckets are the same.
func (t *tally) histogram() *hdrhistogram.Histogram {
	h := newHistogram()
	for i := t.low; i < t.high; i++ {
		if t.n[i] > 0 {
			_ = h.RecordValues(lowest(i), int64(t.n[i])) // within the range
		}
	}
	return h
}
