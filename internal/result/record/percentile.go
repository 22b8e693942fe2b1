package record

import (
	"math"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// NearestRank is the definition of the percentiles that this version writes: the percentile p
// of n values is the value of rank ⌈p n / 100⌉ in ascending order.
const NearestRank = "nearest-rank"

// Percentile is the nearest-rank percentile of a histogram, 0 of none: the upper end of the
// bucket that holds the value of that rank. The histogram's own percentile rounds to the
// nearest whole rank instead: of 3,861 values four lie above its P99.9, not three.
func Percentile(h *hdrhistogram.Histogram, p float64) float64 {
	n := h.TotalCount()
	if n == 0 {
		return 0
	}
	return float64(h.ValueAtPercentile(100 * float64(rank(p, n)) / float64(n)))
}

// rank is ⌈p n / 100⌉, at least 1, of a product whose rounding must not make it one more.
func rank(p float64, n int64) int64 {
	return max(1, int64(math.Ceil(p*float64(n)/100*(1-1e-12))))
}

// above is how many of n values lie above their percentile p: n(1 - p/100), rounded down.
func above(p float64, n int64) int64 { return n - rank(p, n) }

// Carries tells whether n values have a percentile p that is worth showing: one of them at
// least lies above it, else it is their maximum. Every number of values has a median. 0 is no
// percentile.
func Carries(p float64, n int64) bool {
	return p == 0 || p == P50.Percentile && n > 0 || above(p, n) >= 1
}

// Enough is how many values must lie above a percentile for it to be judged by: with fewer
// another run would give quite another one.
const Enough = 10

// Few tells whether a percentile p of n values rests on few of them. 0 is no percentile.
func Few(p float64, n int64) bool { return p > 0 && above(p, n) < Enough }

// Percentile is the histogram and the percentile that the figure is of; ok is false for a
// figure that is none.
func (q Quantity) Percentile() (histogram string, p float64, ok bool) {
	for _, histogram := range []string{HistLatency, HistResponse, HistWait} {
		for _, s := range []Statistic{P50, P95, P99, P999, P9999} {
			if StatisticOf(histogram, s).name == q.name {
				return histogram, s.Percentile, true
			}
		}
	}
	return "", 0, false
}

// needs is the percentile that a window must have for the figure: itself, or the upper quartile
// of an interquartile range.
func (q Quantity) needs() (p float64, ok bool) {
	if q.name == LatencyIQR.name {
		return 75, true
	}
	_, p, ok = q.Percentile()
	return p, ok
}

// Few tells whether the record's figure is a percentile, or is made of one, that rests on few
// operations.
func (r *Record) Few(q Quantity) bool {
	p, ok := q.needs()
	done, known := r.Counter(CountDone)
	return ok && known && Few(p, int64(done.Value))
}

// dropUncarried takes away percentiles that another version has written of too few operations.
func (r *Record) dropUncarried() {
	done, known := r.Counter(CountDone)
	if !known {
		return
	}
	r.Metrics = slices.DeleteFunc(r.Metrics, func(m Metric) bool {
		p, ok := m.Quantity.needs()
		return ok && !Carries(p, int64(done.Value))
	})
}

// percentilesByRank computes the percentiles of a record of another definition anew, from the
// histograms that it has, so that figures of two versions differ by what was measured only.
func (r *Record) percentilesByRank() {
	if r.Percentiles == NearestRank {
		return
	}
	for _, encoded := range r.Histograms {
		h, err := encoded.Decode()
		if err != nil {
			continue // whoever draws it says so
		}
		for _, s := range []Statistic{P50, P95, P99, P999, P9999} {
			name := StatisticOf(encoded.Name, s).name
			for i := range r.Metrics {
				if r.Metrics[i].name == name {
					r.Metrics[i].Value = Percentile(h, s.Percentile)
				}
			}
		}
	}
	r.Percentiles = NearestRank
}
