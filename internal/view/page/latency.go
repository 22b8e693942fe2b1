package page

import (
	"fmt"
	"math"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/zkbench/zkbench/internal/result/record"
)

// Points of the line of latency by percentile: so many for each further nine.
const (
	perNine = 12
	nines   = 5
)

// grid holds the percentiles: 0 to 99.999, each as far from the next as it is on the
// axis 1/(1-p).
var grid = func() (g [perNine*nines + 1]float64) {
	for i := range g {
		g[i] = 100 - 100*math.Pow(10, -float64(i)/perNine)
	}
	return g
}()

// latency is the distribution of a case's latencies, all repetitions together, in ns.
type latency struct {
	Of       string    `json:"of"` // response where there is one, else latency
	Count    int64     `json:"count"`
	Values   []float64 `json:"values"` // at the percentiles, as far as there is an operation above
	Least    []float64 `json:"least,omitempty"`
	Greatest []float64 `json:"greatest,omitempty"` // of the repetitions, as far as all reach

	// Bucket i counts the operations from From·Ratio^i to From·Ratio^(i+1).
	From   float64 `json:"from"`
	Ratio  float64 `json:"ratio"`
	Counts []int64 `json:"counts"`
}

// latencyOf merges the histograms of the repetitions. Where one cannot be read there
// is no distribution, and the note says why; where there are none there is neither.
func latencyOf(records []*record.Record) (_ *latency, note string) {
	name := record.HistLatency
	if _, ok := records[0].Histogram(record.HistResponse); ok {
		name = record.HistResponse
	}
	var each []*hdrhistogram.Histogram
	greatest := int64(2) // the library's least range
	for _, r := range records {
		encoded, ok := r.Histogram(name)
		if !ok {
			continue
		}
		h, err := encoded.Decode()
		if err != nil {
			return nil, fmt.Sprintf("no distribution: the histogram of process %d cannot be read: %v", r.Process.Index+1, err)
		}
		if h.TotalCount() > 0 {
			each = append(each, h)
			greatest = max(greatest, h.Max())
		}
	}
	if len(each) == 0 {
		return nil, ""
	}
	merged := hdrhistogram.New(1, greatest, 3)
	for _, h := range each {
		if dropped := merged.Merge(h); dropped > 0 {
			return nil, fmt.Sprintf("no distribution: %d values do not fit into one histogram", dropped)
		}
	}
	l := &latency{Of: name, Count: merged.TotalCount(), Values: percentiles(merged)}
	if len(each) > 1 {
		l.band(each)
	}
	l.bucket(merged)
	return l, ""
}

// latencyDigits are the significant digits of points in a plot.
const latencyDigits = 4

// percentiles are the values at the grid, up to the last that the number of
// operations can tell from the greatest.
func percentiles(h *hdrhistogram.Histogram) []float64 {
	var values []float64
	for _, p := range grid {
		if !record.Carries(p, h.TotalCount()) {
			break
		}
		values = append(values, round(record.Percentile(h, p), latencyDigits))
	}
	return values
}

func (l *latency) band(each []*hdrhistogram.Histogram) {
	for i, h := range each {
		values := percentiles(h)
		if i == 0 {
			l.Least, l.Greatest = values, append([]float64(nil), values...)
			continue
		}
		reach := min(len(values), len(l.Least))
		l.Least, l.Greatest = l.Least[:reach], l.Greatest[:reach]
		for j := range reach {
			l.Least[j], l.Greatest[j] = min(l.Least[j], values[j]), max(l.Greatest[j], values[j])
		}
	}
}

// Bounds of the buckets: below leastRatio they would be narrower than the histogram's
// own steps of a thousandth, and some of them empty for no other reason.
const (
	mostBuckets = 80
	leastRatio  = 1.005
)

// bucket counts in steps that are equal on a logarithmic axis, as many as Rice's rule
// gives for the number of values.
func (l *latency) bucket(h *hdrhistogram.Histogram) {
	least, greatest := math.Max(float64(h.Min()), 1), math.Max(float64(h.Max()), 1)+1
	span := math.Log(greatest / least)
	n := min(2*math.Cbrt(float64(h.TotalCount())), mostBuckets, span/math.Log(leastRatio))
	l.Counts = make([]int64, max(int(n), 1))
	step := span / float64(len(l.Counts))
	l.From, l.Ratio = least, math.Exp(step)
	for _, bar := range h.Distribution() {
		if bar.Count == 0 {
			continue
		}
		middle := math.Max(float64(bar.From)/2+float64(bar.To)/2, least)
		i := int(math.Log(middle/least) / step)
		l.Counts[min(max(i, 0), len(l.Counts)-1)] += bar.Count
	}
}
