package report_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/zkbench/zkbench/internal/record"
)

func timed(name, unit string, v float64) record.Metric {
	return record.Metric{Name: name, Unit: unit, Value: v, Kind: record.Timed}
}

func exact(name, unit string, v float64) record.Metric {
	return record.Metric{Name: name, Unit: unit, Value: v, Kind: record.Exact}
}

// logistic returns a histogram of n values in ms around a middle, with a tail.
func logistic(t *testing.T, n int, middle, spread float64) *hdrhistogram.Histogram {
	t.Helper()
	h := hdrhistogram.New(1, int64(time.Hour), 3)
	for i := range n {
		x := (float64(i) + 0.5) / float64(n)
		ms := max(middle+spread*math.Log(x/(1-x)), 0.001)
		if err := h.RecordValue(int64(ms * 1e6)); err != nil {
			t.Fatal(err)
		}
	}
	return h
}

func encode(t *testing.T, name string, h *hdrhistogram.Histogram) record.Histogram {
	t.Helper()
	encoded, err := record.EncodeHistogram(name, "ns", h)
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

// inParts adds the same values in three intervals of a second, the second of
// them without any.
func inParts(t *testing.T, encoded record.Histogram, h *hdrhistogram.Histogram) record.Histogram {
	t.Helper()
	first, last := hdrhistogram.New(1, int64(time.Hour), 3), hdrhistogram.New(1, int64(time.Hour), 3)
	n := int64(0)
	for _, bar := range h.Distribution() {
		for range bar.Count {
			into := first
			if n++; n%3 == 0 {
				into = last
			}
			if err := into.RecordValue(bar.From); err != nil {
				t.Fatal(err)
			}
		}
	}
	encoded.Interval = time.Second
	encoded.Parts = []string{encode(t, encoded.Name, first).HDR, "", encode(t, encoded.Name, last).HDR}
	return encoded
}

// sample is a closed loop: 1000 latencies around 40 ms with a tail.
func sample(t *testing.T) *record.Record {
	t.Helper()
	h := logistic(t, 1000, 40, 3)
	return &record.Record{
		Schema: record.Schema, ID: "ID", Time: time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC),
		Workload: "Sender", Case: "curve=BN254/bits=32/workers=2",
		Axes: record.Axes{{Key: "curve", Value: "BN254"}, {Key: "bits", Value: "32"}, {Key: "workers", Value: "2"}},
		Env: record.Env{
			OS: "linux", Arch: "amd64", CPU: "Some Processor", Path: "avx512", Cores: 4, GOMAXPROCS: 2, Quota: 2,
			Governor: "performance", Kernel: "6.1", Memory: 16e9, Go: "go1.26", Commit: "0123abc", GOGC: 100, GOMEMLIMIT: -1,
		},
		Seed: 7, Settings: json.RawMessage(`{"workers": 2, "duration": 20000000000}`),
		Status: record.OK,
		Counters: []record.Counter{
			{Name: record.CountOffered, Value: 1001},
			{Name: record.CountStarted, Value: 1001},
			{Name: record.CountDone, Value: 1000},
			{Name: record.CountFailed, Value: 0},
			{Name: record.CountUnfinished, Value: 1},
			{Name: record.CountLate, Value: 2},
			{Name: record.CountWarmup, Value: 40},
			{Name: record.CountChecked, Value: 1000},
			{Name: record.CountArena, Value: 268e6},
		},
		Metrics: []record.Metric{
			timed(record.Duration, "s", 20.0123), timed(record.Throughput, "ops/s", 49.8693), timed(record.PureThroughput, "ops/s", 50),
			timed(record.LatencyMin, "ns", float64(h.Min())), timed(record.LatencyP50, "ns", float64(h.ValueAtPercentile(50))),
			timed(record.LatencyMean, "ns", 40e6), timed(record.LatencyP95, "ns", float64(h.ValueAtPercentile(95))),
			timed(record.LatencyP99, "ns", float64(h.ValueAtPercentile(99))), timed(record.LatencyP999, "ns", float64(h.ValueAtPercentile(99.9))),
			timed(record.LatencyMax, "ns", float64(h.Max())), timed(record.LatencyStdDev, "ns", 5.441e6),
			timed(record.LatencyIQR, "ns", 6.59e6), timed(record.LatencyJitter, "ns", 1.96e6), timed(record.LatencyMeanErr, "ns", 172_000),
			exact(record.AllocBytes, "B/op", 178724.25), exact(record.Allocs, "allocs/op", 191), timed(record.AllocRate, "B/s", 8.93e6),
			timed(record.GCCPUShare, "%", 1.25), timed(record.GCAssistShare, "%", 0.3), timed(record.GCPauses, "ns", 2.5e6),
			timed(record.GCCycles, "cycles", 12), timed(record.SchedP50, "ns", 900), timed(record.SchedP99, "ns", 81_000),
			timed(record.MutexWait, "ns/op", 120), timed(record.Goroutines, "goroutines/op", 0), timed(record.HeapLive, "B", 14.2e6),
			timed(record.RSS, "B", 61e6), timed(record.RSSAnon, "B", 50e6), timed(record.RSSFile, "B", 11e6),
			timed(record.PeakRSS, "B", 70e6), timed(record.PeakRSSAnon, "B", 59e6), timed(record.PeakRSSFile, "B", 11e6),
			exact("proof-size", "B/proof", 1416),
		},
		Histograms: []record.Histogram{encode(t, record.HistLatency, h)},
		Series: []record.Series{
			{Name: record.Throughput, Unit: "ops/s", Interval: time.Second, Values: []float64{50, 49, 51, 25, 48, 0, 52, 50.5}},
			{Name: record.LatencyP99, Unit: "ns", Interval: time.Second, Values: []float64{53e6, 54e6, 52e6, 90e6, 53e6, 0, 53e6, 53e6}},
			{Name: record.GCCPUShare, Unit: "%", Interval: time.Second, Values: []float64{1, 1.5, 1.25, 1, 1, 1, 2, 1}},
		},
		Stages: []record.Stage{
			{Name: "set-up", Time: 1200 * time.Millisecond, PeakRSS: 55e6, Allocated: 120e6, Sizes: []record.Metric{exact("params", "B/key", 8192)}},
			{Name: "inputs", Time: 80 * time.Millisecond, PeakRSS: 56e6, Allocated: 3e6},
			{Name: "warm-up", Time: time.Second, PeakRSS: 60e6, Allocated: 9e6},
			{Name: "window", Time: 20012300 * time.Microsecond, PeakRSS: 70e6, Allocated: 178e6},
			{Name: "check", Time: 9 * time.Second, Allocated: 80e6},
		},
		Unfinished: []record.Unfinished{{Seq: 1040, Age: 2103 * time.Millisecond}},
		Findings:   []record.Finding{{Name: "unfinished", Text: "1 of 1001 operations still ran\nwhen the window closed"}},
	}
}

// openSample is an open loop with errors, drops, stragglers and a mix, on a
// platform that tells nothing of resident memory.
func openSample(t *testing.T) *record.Record {
	t.Helper()
	service, response, wait := logistic(t, 10000, 40, 3), logistic(t, 10000, 55, 8), logistic(t, 10000, 15, 4)
	rec := sample(t)
	rec.Case, rec.Status, rec.Error = "mix=issue:1,transfer:8/workers=4", record.Failed, "40 of 10062 operations failed: planted"
	rec.Axes = record.Axes{{Key: "mix", Value: "issue:1,transfer:8"}, {Key: "workers", Value: "4"}}
	rec.Process = record.Process{Session: "S", Side: "old", Index: 3}
	rec.Counters = []record.Counter{
		{Name: record.CountOffered, Value: 10100},
		{Name: record.CountDropped, Value: 30},
		{Name: record.CountNeverStarted, Value: 8},
		{Name: record.CountStarted, Value: 10062},
		{Name: record.CountDone, Value: 10000},
		{Name: record.CountFailed, Value: 40},
		{Name: record.CountUnfinished, Value: 22},
		{Name: record.CountChecked, Value: 5000},
		{Name: record.CountCheckFails, Value: 1},
		{Name: "retries", Value: 5},
	}
	at := func(h *hdrhistogram.Histogram, p float64) float64 { return float64(h.ValueAtPercentile(p)) }
	rec.Metrics = []record.Metric{
		timed(record.Duration, "s", 100), timed(record.OfferedRate, "ops/s", 101), timed(record.Throughput, "ops/s", 99.98),
		timed(record.PureThroughput, "ops/s", 100),
		timed(record.LatencyMin, "ns", float64(service.Min())), timed(record.LatencyP50, "ns", at(service, 50)),
		timed(record.LatencyMean, "ns", 40e6), timed(record.LatencyP95, "ns", at(service, 95)), timed(record.LatencyP99, "ns", at(service, 99)),
		timed(record.LatencyP999, "ns", at(service, 99.9)), timed(record.LatencyP9999, "ns", at(service, 99.99)),
		timed(record.LatencyMax, "ns", float64(service.Max())), timed(record.LatencyStdDev, "ns", 5.441e6),
		timed(record.LatencyMeanErr, "ns", 61_000),
		timed(record.ResponseP50, "ns", at(response, 50)), timed(record.ResponseMean, "ns", 55e6), timed(record.ResponseP95, "ns", at(response, 95)),
		timed(record.ResponseP99, "ns", at(response, 99)), timed(record.ResponseP999, "ns", at(response, 99.9)), timed(record.ResponseMax, "ns", float64(response.Max())),
		timed(record.WaitMean, "ns", 15e6), timed(record.WaitP99, "ns", at(wait, 99)), timed(record.WaitMax, "ns", float64(wait.Max())),
		timed(record.InputMean, "ns", 2.5e6),
		timed(record.AllocRate, "B/s", 8.93e6), timed(record.GCCPUShare, "%", 1.25), timed(record.HeapLive, "B", 14.2e6),
		exact("proof-size", "B/proof", 1416), timed("verify-share", "%", 12.5),
	}
	rec.Histograms = []record.Histogram{
		inParts(t, encode(t, record.HistLatency, service), service), encode(t, record.HistResponse, response), encode(t, record.HistWait, wait),
		encode(t, record.HistError, logistic(t, 40, 12, 1)), encode(t, record.HistInput, logistic(t, 10000, 2.5, 0.2)),
		encode(t, record.HistClassPrefix+"issue", logistic(t, 1111, 30, 2)), encode(t, record.HistClassPrefix+"transfer", logistic(t, 8889, 41, 2)),
	}
	rec.Series = []record.Series{
		{Name: record.Throughput, Unit: "ops/s", Interval: time.Second, Values: wave(100, 95, 5)},
		{Name: record.LatencyP99, Unit: "ns", Interval: time.Second, Values: wave(100, 55e6, 5e6)},
		{Name: record.ResponseP99, Unit: "ns", Interval: time.Second, Values: wave(100, 90e6, 30e6)},
		{Name: record.SeriesErrors, Unit: "ops/s", Interval: time.Second, Values: append(make([]float64, 96), 10, 10, 10, 10)},
		{Name: record.SeriesBacklog, Unit: "tickets", Interval: time.Second, Values: make([]float64, 100)},
		{Name: "queue-depth", Unit: "", Interval: time.Second, Values: []float64{1, 2, 4}},
	}
	rec.Stages, rec.Unfinished = nil, nil
	for i := range 22 {
		rec.Unfinished = append(rec.Unfinished, record.Unfinished{Seq: uint64(10078 + i), Age: 4*time.Second - time.Duration(i)*100*time.Millisecond})
	}
	rec.Findings = nil
	return rec
}

func wave(n int, middle, height float64) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = middle + height*math.Sin(float64(i)/6)
	}
	return values
}
