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

// tally counts values by bucket. A tally is as large for one value as for 10^8.
type tally [buckets]uint32

func (t *tally) add(v time.Duration) { t[bucket(v)]++ }

// total is the sum of tallies.
type total [buckets]uint64

// take adds t to the totals and clears it.
func (t *tally) take(into ...*total) {
	for i, n := range t {
		if n > 0 {
			for _, sum := range into {
				sum[i] += uint64(n)
			}
			t[i] = 0
		}
	}
}

func (t *total) count() (n uint64) {
	for _, c := range t {
		n += c
	}
	return n
}

// percentiles returns the middle of the bucket that holds each percentile, in
// ns; the percentiles ascend. Without values all are 0.
func (t *total) percentiles(ps ...float64) []float64 {
	values := make([]float64, len(ps))
	n := t.count()
	if n == 0 {
		return values
	}
	seen, next := uint64(0), 0
	for i, c := range t {
		seen += c
		for next < len(ps) && float64(seen) >= math.Ceil(ps[next]*float64(n)/100) && seen > 0 {
			values[next] = float64(lowest(i)+lowest(i+1)-1) / 2
			next++
		}
		if next == len(ps) {
			break
		}
	}
	return values
}

// cell is a bucket and its count: a total, without its empty buckets.
type cell struct {
	bucket uint32
	n      uint32
}

func (t *total) cells() []cell {
	used := 0
	for _, c := range t {
		if c > 0 {
			used++
		}
	}
	cells := make([]cell, 0, used)
	for i, c := range t {
		if c > 0 {
			cells = append(cells, cell{uint32(i), uint32(c)})
		}
	}
	return cells
}

func newHistogram() *hdrhistogram.Histogram {
	return hdrhistogram.New(1, int64(maxLatency), significant)
}

// histogram returns the totals as an HDR histogram, whose buckets are the same.
func (t *total) histogram() *hdrhistogram.Histogram {
	h := newHistogram()
	for i, c := range t {
		if c > 0 {
			_ = h.RecordValues(lowest(i), int64(c)) // within the range
		}
	}
	return h
}
