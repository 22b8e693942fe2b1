package runner

import (
	"errors"
	"fmt"
	"time"

	"github.com/zkbench/zkbench/internal/record"
)

// Fill writes the result into rec: counters, metrics, histograms, findings, and
// the status with its error.
func (r *Result) Fill(rec *record.Record) error {
	rec.Counters = append(rec.Counters,
		record.Counter{Name: record.CountWarmup, Value: r.Warmup},
		record.Counter{Name: record.CountStarted, Value: r.Started},
		record.Counter{Name: record.CountDone, Value: r.Done},
		record.Counter{Name: record.CountFailed, Value: r.Failed},
		record.Counter{Name: record.CountUnfinished, Value: r.Unfinished},
		record.Counter{Name: record.CountChecked, Value: r.Checked},
		record.Counter{Name: record.CountCheckFails, Value: r.CheckFailed},
	)
	if r.Done > 0 {
		r.fillMetrics(rec)
		latency, err := record.EncodeHistogram(record.HistLatency, "ns", r.Latency)
		if err != nil {
			return err
		}
		rec.Histograms = append(rec.Histograms, latency)
		if r.builtInputs() {
			input, err := record.EncodeHistogram(record.HistInput, "ns", r.Input)
			if err != nil {
				return err
			}
			rec.Histograms = append(rec.Histograms, input)
		}
	}
	r.fillStatus(rec)
	return nil
}

// builtInputs tells whether operations built their inputs within the window.
// The runtime counts allocations and goroutines of the whole process, so those
// of an operation cannot be told from those of its input then.
func (r *Result) builtInputs() bool { return r.Input.TotalCount() > 0 }

func (r *Result) fillMetrics(rec *record.Record) {
	done := float64(r.Done)
	seconds := r.Elapsed.Seconds()
	at := func(percentile float64) float64 { return float64(r.Latency.ValueAtPercentile(percentile)) }
	add := func(name, unit string, value float64) {
		rec.Metrics = append(rec.Metrics, record.Metric{Name: name, Unit: unit, Value: value, Kind: record.Timed})
	}
	add(record.Duration, "s", seconds)
	add(record.Throughput, "ops/s", done/seconds)
	add(record.PureThroughput, "ops/s", float64(r.Workers)/r.Mean*float64(time.Second))
	add(record.LatencyMin, "ns", float64(r.Latency.Min()))
	add(record.LatencyP50, "ns", at(50))
	add(record.LatencyMean, "ns", r.Mean)
	add(record.LatencyP95, "ns", at(95))
	add(record.LatencyP99, "ns", at(99))
	// A percentile is stated only where enough values lie above it to tell it
	// from the maximum.
	if r.Done >= 1000 {
		add(record.LatencyP999, "ns", at(99.9))
	}
	add(record.LatencyMax, "ns", float64(r.Latency.Max()))
	add(record.LatencyStdDev, "ns", r.StdDev)
	add(record.LatencyIQR, "ns", at(75)-at(25))
	add(record.LatencyJitter, "ns", r.Jitter)
	if r.builtInputs() {
		add(record.InputMean, "ns", r.Input.Mean())
	} else {
		// The divisor is what allocated: successes and failures alike.
		ended := float64(r.Done + r.Failed)
		add(record.AllocBytes, "B/op", float64(r.Usage.Bytes)/ended)
		add(record.Allocs, "allocs/op", float64(r.Usage.Allocs)/ended)
		add(record.Goroutines, "goroutines/op", float64(r.Usage.Goroutines)/ended)
	}
	add(record.AllocRate, "B/s", float64(r.Usage.Bytes)/seconds)
	add(record.GCCPUShare, "%", 100*r.Usage.GCCPUShare)
	add(record.GCPauses, "ns", float64(r.Usage.GCPauses))
	add(record.GCCycles, "cycles", float64(r.Usage.GCCycles))
	add(record.HeapLive, "B", float64(r.Usage.HeapLive))
}

func (r *Result) fillStatus(rec *record.Record) {
	finding := func(name, format string, args ...any) {
		rec.Findings = append(rec.Findings, record.Finding{Name: name, Text: fmt.Sprintf(format, args...)})
	}
	for _, e := range r.Errors {
		text := e.Err.Error()
		if p, ok := errors.AsType[*PanicError](e.Err); ok {
			text += "\n" + string(p.Stack)
		}
		finding("error", "%d of %d operations: %s", e.Count, r.Started, text)
	}
	if r.Done > 0 && r.builtInputs() {
		finding("inputs", "each operation built its own input within the window: throughput, allocation rate and the collector's figures "+
			"include that, and memory per operation is left out, because it cannot be told from the input's")
	}
	if r.Unfinished > 0 {
		finding("unfinished", "%d of %d operations still ran when the window closed; their latencies are missing, and throughput is a lower bound", r.Unfinished, r.Started)
	}
	if r.Checked < r.Done {
		finding("checked", "%d of %d results checked", r.Checked, r.Done)
	}
	switch {
	case r.Failed > 0:
		rec.Status = record.Failed
		rec.Error = fmt.Sprintf("%d of %d operations failed: %v", r.Failed, r.Started, r.Errors[0].Err)
	case r.CheckFailed > 0:
		rec.Status = record.Failed
		rec.Error = fmt.Sprintf("%d of %d checked results are wrong: %v", r.CheckFailed, r.Checked, r.CheckErr)
	case r.Interrupted:
		rec.Status = record.Partial
		rec.Error = "interrupted"
	case r.Done == 0:
		rec.Status = record.Failed
		rec.Error = fmt.Sprintf("no operation ended within %v", r.Elapsed.Round(time.Millisecond))
	}
}
