package record

import (
	"math"

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

// Carries tells whether one of n values lies above their percentile p, which is their maximum
// otherwise.
func Carries(p float64, n int64) bool { return p == 0 || rank(p, n) < n }

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
