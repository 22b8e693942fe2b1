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

// Threshold is a bound that a figure of a run must not pass, latency-p99>50ms for example:
// the run fails where it does.
type Threshold struct {
	Quantity record.Quantity
	Above    bool    // it fails above the limit, else below
	Limit    float64 // in the unit of the quantity
	text     string
}

// ThresholdAccepted says in words what ParseThreshold takes.
const ThresholdAccepted = "a metric, > or < and a value, for example p99>50ms, throughput<100 or alloc-bytes>65536"

// ParseThreshold reads p99>50ms: the name of a metric, or of a statistic of the latency, in an
// open loop of the response time. Times are as in Go, all else is a number in the metric's
// unit. The error is an ErrParams.
func ParseThreshold(text string, open bool) (Threshold, error) {
	at := strings.IndexAny(text, "<>")
	if at < 0 {
		return Threshold{}, fmt.Errorf("%w: threshold: %q, %s accepted", zkbench.ErrParams, text, ThresholdAccepted)
	}
	name, value := strings.TrimSpace(text[:at]), strings.TrimSpace(text[at+1:])
	of := record.HistLatency
	if open {
		of = record.HistResponse
	}
	t := Threshold{Above: text[at] == '>'}
	all := record.Quantities()
	i := slices.IndexFunc(all, func(q record.Quantity) bool { return q.Name() == name || q.Name() == of+"-"+name })
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

// String is the threshold with the name of its metric.
func (t Threshold) String() string { return t.text }

// MarshalText writes what UnmarshalText reads.
func (t Threshold) MarshalText() ([]byte, error) { return []byte(t.text), nil }

// UnmarshalText reads a threshold. The error is an ErrParams.
func (t *Threshold) UnmarshalText(text []byte) (err error) {
	*t, err = ParseThreshold(string(text), false)
	return err
}

// Passed tells whether the figure is beyond its bound.
func (t Threshold) Passed(value float64) bool {
	if t.Above {
		return value > t.Limit
	}
	return value < t.Limit
}

// Beyond tells whether the record's figure is beyond its bound; known is false where it has
// none. A percentile of few operations (record.Few) is within no bound: it is beyond one where
// at least record.Enough of them are, and not known else. Of a percentile of response times, what
// was dropped, failed or never answered in time counts as beyond (SLO.Late); and so does what
// ended a window early.
func (t Threshold) Beyond(rec *record.Record) (beyond, known bool) {
	for _, f := range rec.Findings {
		if f.Name == hopelessFinding && strings.Contains(f.Text, t.text+",") {
			return true, true
		}
	}
	few := rec.Few(t.Quantity)
	if of, p, ok := t.percentile(); ok && t.Above && p < 100 && (few || of == record.HistResponse) {
		slo := SLO{Percentile: p, Limit: time.Duration(t.Limit)}
		late, all, err := slo.Late(rec)
		if of == record.HistLatency {
			all = rec.Count(record.CountDone)
			late, err = slower(rec, of, slo.Limit)
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

// missed tells whether so many late operations of all are too many, whatever else there is; of
// few operations, at least record.Enough are wanted.
func (s SLO) missed(late uint64, all float64, few bool) bool {
	return float64(late) > s.LateShare()*all*(1+1e-9) && (!few || late >= record.Enough)
}

// hopelessFinding is the name of the finding of a window that ended early.
const hopelessFinding = "threshold"

// percentile is the distribution, of latencies or of response times, and the percentile that the
// figure is, 100 of the greatest; false where it is none.
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

// hopeless tells which threshold of a percentile fails even if no further operation of the
// window takes long: of those that are expected in an open loop, or could be done in a closed
// one by workers as fast as the fastest so far. Empty: none.
func (r *run) hopeless(age time.Duration) string {
	all := math.Inf(1)
	seen := float64(r.series.latency.count())
	switch left := float64(r.cfg.Duration - age); {
	case r.cfg.Duration == 0 || seen == 0:
	case r.cfg.Arrivals != nil:
		all = max(r.cfg.Arrivals.Expected(r.cfg.Duration), seen)
	default: // as many as there could be at most
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
			return fmt.Sprintf("stopped after %v: %d of %.0f operations so far are beyond %s, whatever follows", age.Round(time.Millisecond), late, seen, t)
		}
	}
	return ""
}
