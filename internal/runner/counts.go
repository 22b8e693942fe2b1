package runner

import (
	"math"
	"math/bits"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// The loop counts latencies in the buckets of an HDR histogram of three
// significant figures: of values up to 2^11 ns each has its own, above that the
// eleven leading bits decide, so a bucket is at most 1/1024 wide, relative to
// its values. Counting one is an increment; the histogram is made after the
// window.
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

// lowest returns the least value of a bucket, in ns.
func lowest(bucket int) int64 {
	if bucket < 2*half {
		return int64(bucket)
	}
	shift := bucket>>(leading-1) - 1
	return int64(bucket-shift<<(leading-1)) << shift
}

// span is the range of buckets that hold anything: low to high, without high.
// What is done interval by interval passes over it, not over all buckets.
type span struct{ low, high int }

func (s *span) include(low, high int) {
	if s.high == 0 {
		*s = span{low, high}
		return
	}
	s.low, s.high = min(s.low, low), max(s.high, high)
}

// tally counts values by bucket. A tally is as large for one value as for 10^8.
type tally struct {
	span
	n [buckets]uint32
}

func (t *tally) add(v time.Duration) {
	i := bucket(v)
	t.n[i]++
	if i < t.low || i >= t.high {
		t.include(i, i+1)
	}
}

// total is the sum of tallies.
type total struct {
	span
	n [buckets]uint64
}

// add adds t.
func (s *total) add(t *tally) {
	if t.high == 0 {
		return
	}
	s.include(t.low, t.high)
	for i := t.low; i < t.high; i++ {
		s.n[i] += uint64(t.n[i])
	}
}

func (t *tally) clear() {
	clear(t.n[t.low:t.high])
	t.span = span{}
}

func (s *total) clear() {
	clear(s.n[s.low:s.high])
	s.span = span{}
}

func (s *total) count() (n uint64) {
	for _, c := range s.n[s.low:s.high] {
		n += c
	}
	return n
}

// percentiles returns the middle of the bucket that holds each percentile, in
// ns; the percentiles ascend. Without values all are 0.
func (s *total) percentiles(ps ...float64) []float64 {
	values := make([]float64, len(ps))
	n := s.count()
	if n == 0 {
		return values
	}
	seen, next := uint64(0), 0
	for i := s.low; i < s.high && next < len(ps); i++ {
		seen += s.n[i]
		for next < len(ps) && float64(seen) >= math.Ceil(ps[next]*float64(n)/100) && seen > 0 {
			values[next] = float64(lowest(i)+lowest(i+1)-1) / 2
			next++
		}
	}
	return values
}

// cell is a bucket and its count: a total, without its empty buckets.
type cell struct {
	bucket uint32
	n      uint32
}

func (s *total) cells() []cell {
	used := 0
	for _, c := range s.n[s.low:s.high] {
		if c > 0 {
			used++
		}
	}
	cells := make([]cell, 0, used)
	for i := s.low; i < s.high; i++ {
		if s.n[i] > 0 {
			cells = append(cells, cell{uint32(i), uint32(s.n[i])})
		}
	}
	return cells
}

func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, int64(maxLatency), significant)
}

// histogram returns the totals as an HDR histogram, whose buckets are the same.
func (s *total) histogram() *hdrhistogram.Histogram {
	h := newHistogram()
	for i := s.low; i < s.high; i++ {
		if s.n[i] > 0 {
			_ = h.RecordValues(lowest(i), int64(s.n[i])) // within the range
		}
	}
	return h
}
