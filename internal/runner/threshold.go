package runner

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
)

// Threshold says when a figure makes a run fail, for example latency-p99>50ms.
type Threshold struct {
	Quantity record.Quantity
	Above    bool    // the run fails above the limit, else below it
	Limit    float64 // in the unit of the quantity
	text     string
}

// ThresholdAccepted describes the texts that ParseThreshold accepts.
const ThresholdAccepted = "a metric, > or < and a value, for example p99>50ms, throughput<100 or alloc-bytes>65536"

// ParseThreshold parses a threshold such as p99>50ms or alloc-bytes>65536. A name without a
// metric, such as p99, is a statistic of the latency or, if open is true (for an open loop), of
// the response time. Times are durations as in Go; other values are numbers in the metric's
// unit. ParseThreshold returns ErrParams if the text is malformed or the metric is unknown.
func ParseThreshold(text string, open bool) (Threshold, error) {
	at := strings.IndexAny(text, "<>")
	if at < 0 {
		return Threshold{}, fmt.Errorf("%w: threshold: %q, %s accepted", zkbench.ErrParams, text, ThresholdAccepted)
	}
	name, value := strings.TrimSpace(text[:at]), strings.TrimSpace(text[at+1:])
	histogram := record.HistLatency
	if open {
		histogram = record.HistResponse
	}
	t := Threshold{Above: text[at] == '>'}
	all := record.Quantities()
	i := slices.IndexFunc(all, func(q record.Quantity) bool { return q.Name() == name || q.Name() == histogram+"-"+name })
	if i < 0 {
		return t, fmt.Errorf("%w: threshold: metric %q, %s accepted", zkbench.ErrParams, name, ThresholdAccepted)
	}
	t.Quantity = all[i]
	var err error
	if t.Quantity.Unit() == "ns" {
		var d time.Duration
		d, err = time.ParseDuration(value)
		t.Limit = float64(d)
	} else {
		number := value
		if t.Quantity.Unit() == "%" {
			number = strings.TrimSuffix(value, "%")
		}
		t.Limit, err = strconv.ParseFloat(number, 64)
	}
	if err != nil || math.IsNaN(t.Limit) || math.IsInf(t.Limit, 0) {
		return t, fmt.Errorf("%w: threshold: %q of %s, %s accepted", zkbench.ErrParams, value, t.Quantity, ThresholdAccepted)
	}
	t.text = t.Quantity.Name() + text[at:at+1] + value
	return t, nil
}

// String returns the threshold with the full name of its metric, for example latency-p99>50ms.
func (t Threshold) String() string { return t.text }

// MarshalText returns the text of String, which UnmarshalText parses.
func (t Threshold) MarshalText() ([]byte, error) { return []byte(t.text), nil }

// UnmarshalText parses a threshold like ParseThreshold with open set to false. It returns
// ErrParams if the text is malformed or the metric is unknown.
func (t *Threshold) UnmarshalText(text []byte) (err error) {
	*t, err = ParseThreshold(string(text), false)
	return err
}

// Passed reports whether value has passed the limit. If it has, the run fails.
func (t Threshold) Passed(value float64) bool {
	if t.Above {
		return value > t.Limit
	}
	return value < t.Limit
}

// Beyond reports whether the record's figure is beyond the limit, or whether this threshold
// ended the window early. The result known is false if the record does not have the figure.
//
// For a percentile of response times, operations that were dropped, failed or never answered in
// time count as beyond the limit, as in SLO.Late. If there are too few operations for a
// percentile (record.Few), Beyond returns true only if at least record.Enough operations are
// beyond the limit; otherwise known is false.
func (t Threshold) Beyond(rec *record.Record) (beyond, known bool) {
	for _, f := range rec.Findings {
		if f.Name == hopelessFinding && strings.Contains(f.Text, t.text+",") {
			return true, true
		}
	}
	few := rec.Few(t.Quantity)
	if histogram, p, ok := t.percentile(); ok && t.Above && p < 100 && (few || histogram == record.HistResponse) {
		slo := SLO{Percentile: p, Limit: time.Duration(t.Limit)}
		late, all, err := slo.Late(rec)
		if histogram == record.HistLatency {
			all = rec.Count(record.CountDone)
			late, err = slower(rec, histogram, slo.Limit)
		}
		if err == nil && slo.missed(late, float64(all), few) {
			return true, true
		}
	}
	if few {
		return false, false
	}
	m, known := rec.Metric(t.Quantity)
	return known && t.Passed(m.Value), known
}

// missed reports whether the number of late operations among all is too large. If few is set,
// it must also be at least record.Enough.
func (s SLO) missed(late uint64, all float64, few bool) bool {
	return float64(late) > s.LateShare()*all*(1+1e-9) && (!few || late >= record.Enough)
}

// hopelessFinding is the name of the finding of a window that ended early.
const hopelessFinding = "threshold"

// percentile returns the histogram, of latencies or response times, and the percentile that
// the figure is; the maximum is percentile 100. ok is false if the figure is not a percentile
// of these.
func (t Threshold) percentile() (histogram string, p float64, ok bool) {
	switch t.Quantity.Name() {
	case record.LatencyMax.Name():
		return record.HistLatency, 100, true
	case record.ResponseMax.Name():
		return record.HistResponse, 100, true
	}
	histogram, p, ok = t.Quantity.Percentile()
	return histogram, p, ok && histogram != record.HistWait
}

// hopeless returns a text on a percentile's threshold that fails even if no further operation
// of the window takes long, or an empty text if there is none. It counts the operations that are
// expected in an open loop. In a closed loop it counts those that all workers could run if each
// operation were as fast as the fastest so far.
func (r *run) hopeless(age time.Duration) string {
	all := math.Inf(1)
	seen := float64(r.series.latency.count())
	switch left := float64(r.cfg.Duration - age); {
	case r.cfg.Duration == 0 || seen == 0:
	case r.cfg.Arrivals != nil:
		all = max(r.cfg.Arrivals.Expected(r.cfg.Duration), seen)
	default: // the maximum number that there could be
		fastest := float64(max(lowest(r.series.latency.low), 1))
		all = seen + float64(r.cfg.Workers)*max(left, 0)/fastest
	}
	if r.cfg.Count > 0 {
		all = min(all, float64(r.cfg.Count))
	}
	for _, t := range r.cfg.FailIf {
		histogram, p, ok := t.percentile()
		if !ok || !t.Above {
			continue
		}
		tally := &r.series.latency
		if histogram == record.HistResponse {
			tally = &r.series.response
		}
		few := p < 100 && all < math.MaxInt64 && record.Few(p, int64(all))
		if late := tally.above(t.Limit); (SLO{Percentile: p}).missed(late, all, few) {
			return fmt.Sprintf("stopped after %v: %d of %.0f operations so far are beyond %s, so that it fails whatever follows", age.Round(time.Millisecond), late, seen, t)
		}
	}
	return ""
}
