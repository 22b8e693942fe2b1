package text_test

import (
	"encoding/json"
	"math"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/must"
)

func timed(name, unit string, v float64) record.Metric {
	return record.Reported(name, unit, v, record.Timed)
}

func exact(name, unit string, v float64) record.Metric {
	return record.Reported(name, unit, v, record.Exact)
}

// logistic returns a histogram of n values in ms around a middle, with a tail.
func logistic(t *testing.T, n int, middle, spread float64) *hdrhistogram.Histogram {
	t.Helper()
	h := hdrhistogram.New(1, int64(time.Hour), 3)
	for i := range n {
		x := (float64(i) + 0.5) / float64(n)
		ms := max(middle+spread*math.Log(x/(1-x)), 0.001)
		must.Do(t, h.RecordValue(int64(ms*1e6)))
	}
	return h
}

func encode(t *testing.T, name string, h *hdrhistogram.Histogram) record.Histogram {
	t.Helper()
	return must.Get(record.EncodeHistogram(name, "ns", h))(t)
}

// inParts adds the same values in three intervals of a second. The second interval has none.
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
			must.Do(t, into.RecordValue(bar.From))
		}
	}
	encoded.Interval = time.Second
	encoded.Parts = []string{encode(t, encoded.Name, first).HDR, "", encode(t, encoded.Name, last).HDR}
	return encoded
}

// sample returns the record of a closed loop: 1000 latencies around 40 ms with a tail.
func sample(t *testing.T) *record.Record {
	t.Helper()
	h := logistic(t, 1000, 40, 3)
	rec := &record.Record{
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
			record.Duration.Metric(20.0123), record.Throughput.Metric(49.8693), record.PureThroughput.Metric(50),
			record.LatencyMin.Metric(float64(h.Min())), record.LatencyP50.Metric(float64(h.ValueAtPercentile(50))),
			record.LatencyMean.Metric(40e6), record.LatencyP95.Metric(float64(h.ValueAtPercentile(95))),
			record.LatencyP99.Metric(float64(h.ValueAtPercentile(99))), record.LatencyP999.Metric(float64(h.ValueAtPercentile(99.9))),
			record.LatencyMax.Metric(float64(h.Max())), record.LatencyStdDev.Metric(5.441e6),
			record.LatencyIQR.Metric(6.59e6), record.LatencyJitter.Metric(1.96e6), record.LatencyMeanErr.Metric(172_000),
			record.AllocBytes.Exact(178724.25), record.Allocs.Exact(191), record.AllocRate.Metric(8.93e6),
			record.GCCPUShare.Metric(1.25), record.GCAssistShare.Metric(0.3), record.GCPauses.Metric(2.5e6),
			record.GCCycles.Metric(12), record.SchedP50.Metric(900), record.SchedP99.Metric(81_000),
			record.MutexWait.Metric(120), record.Goroutines.Metric(0), record.HeapLive.Metric(14.2e6),
			record.RSS.Metric(61e6), record.RSSAnon.Metric(50e6), record.RSSFile.Metric(11e6),
			record.PeakRSS.Metric(70e6), record.PeakRSSAnon.Metric(59e6), record.PeakRSSFile.Metric(11e6),
			exact("proof-size", "B/proof", 1416),
		},
		Histograms: []record.Histogram{encode(t, record.HistLatency, h)},
		Series: []record.Series{
			record.Throughput.Series(time.Second, []float64{50, 49, 51, 25, 48, 0, 52, 50.5}),
			record.LatencyP99.Series(time.Second, []float64{53e6, 54e6, 52e6, 90e6, 53e6, 0, 53e6, 53e6}),
			record.GCCPUShare.Series(time.Second, []float64{1, 1.5, 1.25, 1, 1, 1, 2, 1}),
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
	rec.SetWhose(record.OfOperations)
	return rec
}

// openSample returns the record of an open loop with errors, drops, stragglers and a mix, on a
// platform that does not report resident memory.
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
		record.Duration.Metric(100), record.OfferedRate.Metric(101), record.Throughput.Metric(99.98),
		record.PureThroughput.Metric(100),
		record.LatencyMin.Metric(float64(service.Min())), record.LatencyP50.Metric(at(service, 50)),
		record.LatencyMean.Metric(40e6), record.LatencyP95.Metric(at(service, 95)), record.LatencyP99.Metric(at(service, 99)),
		record.LatencyP999.Metric(at(service, 99.9)), record.LatencyP9999.Metric(at(service, 99.99)),
		record.LatencyMax.Metric(float64(service.Max())), record.LatencyStdDev.Metric(5.441e6),
		record.LatencyMeanErr.Metric(61_000),
		record.ResponseP50.Metric(at(response, 50)), record.ResponseMean.Metric(55e6), record.ResponseP95.Metric(at(response, 95)),
		record.ResponseP99.Metric(at(response, 99)), record.ResponseP999.Metric(at(response, 99.9)), record.ResponseMax.Metric(float64(response.Max())),
		record.WaitMean.Metric(15e6), record.WaitP99.Metric(at(wait, 99)), record.WaitMax.Metric(float64(wait.Max())),
		record.InputMean.Metric(2.5e6),
		record.AllocRate.Metric(8.93e6), record.GCCPUShare.Metric(1.25), record.HeapLive.Metric(14.2e6),
		exact("proof-size", "B/proof", 1416), timed("verify-share", "%", 12.5),
	}
	rec.Histograms = []record.Histogram{
		inParts(t, encode(t, record.HistLatency, service), service), encode(t, record.HistResponse, response), encode(t, record.HistWait, wait),
		encode(t, record.HistError, logistic(t, 40, 12, 1)), encode(t, record.HistInput, logistic(t, 10000, 2.5, 0.2)),
		encode(t, record.HistClassPrefix+"issue", logistic(t, 1111, 30, 2)), encode(t, record.HistClassPrefix+"transfer", logistic(t, 8889, 41, 2)),
	}
	rec.Series = []record.Series{
		record.Throughput.Series(time.Second, wave(100, 95, 5)),
		record.LatencyP99.Series(time.Second, wave(100, 55e6, 5e6)),
		record.ResponseP99.Series(time.Second, wave(100, 90e6, 30e6)),
		record.Errors.Series(time.Second, append(make([]float64, 96), 10, 10, 10, 10)),
		record.Backlog.Series(time.Second, make([]float64, 100)),
		{Name: "queue-depth", Unit: "", Interval: time.Second, Values: []float64{1, 2, 4}},
	}
	rec.Stages, rec.Unfinished = nil, nil
	for i := range 22 {
		rec.Unfinished = append(rec.Unfinished, record.Unfinished{Seq: uint64(10078 + i), Age: 4*time.Second - time.Duration(i)*100*time.Millisecond})
	}
	rec.Findings = nil
	rec.SetWhose(record.OfOperations)
	return rec
}

func wave(n int, middle, height float64) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = middle + height*math.Sin(float64(i)/6)
	}
	return values
}
