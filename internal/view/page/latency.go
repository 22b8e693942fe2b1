package page

import (
	"fmt"
	"math"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/zkbench/zkbench/internal/result/record"
)

// Points of the line of latency by percentile.
const (
	perNine = 12 // points for each nine of the percentile
	nines   = 5
)

// grid holds the percentiles from 0 to 99.999. They are equally spaced on an axis that is
// logarithmic in 1/(1-p).
var grid = func() (g [perNine*nines + 1]float64) {
	for i := range g {
		g[i] = 100 - 100*math.Pow(10, -float64(i)/perNine)
	}
	return g
}()

// latency is the distribution of a case's latencies over all repetitions, in ns.
type latency struct {
	Of       string    `json:"of"` // response if there are response times, else latency
	Count    int64     `json:"count"`
	Values   []float64 `json:"values"`             // at the percentiles, up to the last that Count can support
	Least    []float64 `json:"least,omitempty"`    // minimum over the repetitions, as far as all have values
	Greatest []float64 `json:"greatest,omitempty"` // maximum over the repetitions

	// Bucket i counts the operations from From·Ratio^i to From·Ratio^(i+1).
	From   float64 `json:"from"`
	Ratio  float64 `json:"ratio"`
	Counts []int64 `json:"counts"`
}

// latencyOf merges the histograms of the repetitions. If one cannot be read, latencyOf
// returns only a note that says why. If there are no histograms, it returns neither.
func latencyOf(records []*record.Record) (_ *latency, note string) {
	name := record.HistLatency
	if _, ok := records[0].Histogram(record.HistResponse); ok {
		name = record.HistResponse
	}
	var each []*hdrhistogram.Histogram
	greatest := int64(2) // the library's minimum
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

// latencyDigits is the number of significant digits of points in a plot.
const latencyDigits = 4

// percentiles returns the values at the grid's percentiles, up to the last one that the number
// of operations can distinguish from the maximum.
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

// Bounds of the buckets. With a ratio below leastRatio, buckets would be narrower than the
// histogram's own steps of a thousandth, so some would be empty for no other reason.
const (
	mostBuckets = 80
	leastRatio  = 1.005
)

// bucket counts the values in buckets that are equally wide on a logarithmic axis. Their number
// follows Rice's rule.
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
