package record

import (
	"math"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// NearestRank names the definition of percentiles that this version uses: percentile p of n values is the
// value with rank ⌈p n / 100⌉ in ascending order.
const NearestRank = "nearest-rank"

// Percentile returns the nearest-rank percentile p of a histogram, or 0 if the histogram is empty. Let n be the
// number of values. Percentile takes the bucket with the value of rank ⌈p n / 100⌉ (see NearestRank), and
// returns the upper end of this bucket. The histogram's own method rounds p n / 100 to the nearest integer
// instead. With that method, four of 3,861 values are above the P99.9; with Percentile, three are.
func Percentile(h *hdrhistogram.Histogram, p float64) float64 {
	n := h.TotalCount()
	if n == 0 {
		return 0
	}
	return float64(h.ValueAtPercentile(100 * float64(rank(p, n)) / float64(n)))
}

// rank returns ⌈p n / 100⌉, at least 1. Rounding errors of the product do not increase it.
func rank(p float64, n int64) int64 {
	return max(1, int64(math.Ceil(p*float64(n)/100*(1-1e-12))))
}

// above returns how many of n values are above their percentile p: n(1 - p/100), rounded down.
func above(p float64, n int64) int64 { return n - rank(p, n) }

// Carries reports whether n values are enough to show their percentile p. At least one value must be above the
// percentile, because otherwise the percentile is the maximum. A median can be shown for any n above 0. If p is
// 0, which is not a percentile, Carries returns true.
func Carries(p float64, n int64) bool {
	return p == 0 || p == P50.Percentile && n > 0 || above(p, n) >= 1
}

// Enough is the number of values that must be above a percentile before zkbench judges by the percentile. With
// fewer values above it, another run could give a very different percentile.
const Enough = 10

// Few reports whether fewer than Enough of n values are above their percentile p. If p is 0, which is not a
// percentile, Few returns false.
func Few(p float64, n int64) bool { return p > 0 && above(p, n) < Enough }

// Percentile returns the name of the histogram and the number p if q is percentile p of a histogram. Otherwise
// ok is false.
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

// needs returns the percentile that a window must have for the figure. For a percentile it is the figure itself,
// and for the interquartile range the upper quartile.
func (q Quantity) needs() (p float64, ok bool) {
	if q.name == LatencyIQR.name {
		return 75, true
	}
	_, p, ok = q.Percentile()
	return p, ok
}

// Few reports whether the record has too few operations for its figure q. If q is a percentile or is computed
// from one, the method returns what the function Few returns for this percentile and the number of operations
// that are done. For any other figure, or if the record does not have this number, the method returns false.
func (r *Record) Few(q Quantity) bool {
	p, ok := q.needs()
	done, known := r.Counter(CountDone)
	return ok && known && Few(p, int64(done.Value))
}

// dropUncarried removes percentiles of too few operations, which other versions wrote.
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

// percentilesByRank recomputes the percentiles of a record that uses another definition, from its histograms, so
// that figures of two versions differ only by what was measured.
func (r *Record) percentilesByRank() {
	if r.Percentiles == NearestRank {
		return
	}
	for _, encoded := range r.Histograms {
		h, err := encoded.Decode()
		if err != nil {
			continue // views report the error when they draw the histogram
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
