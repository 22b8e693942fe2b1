package runner

import (
	"errors"
	"math"
	"runtime"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/runner/resources"
)

// Fill writes the result into rec: counters, metrics, histograms, series, findings, and the
// status with its error. It returns an error if a histogram cannot be encoded.
func (r *Result) Fill(rec *record.Record) error {
	count := func(name string, n uint64) {
		rec.Counters = append(rec.Counters, record.Counter{Name: name, Value: n})
	}
	count(record.CountWarmup, r.Warmup)
	count(record.CountWarmupFailed, r.WarmupFailed)
	count(record.CountWarmupChecked, r.WarmupChecked)
	count(record.CountWarmupBad, r.WarmupBad)
	count(record.CountCarried, r.Carried)
	if r.open() {
		count(record.CountOffered, r.Offered)
		count(record.CountDropped, r.Dropped)
		count(record.CountNeverStarted, r.NeverStarted)
	}
	count(record.CountStarted, r.Started)
	count(record.CountDone, r.Done)
	count(record.CountFailed, r.Failed)
	count(record.CountUnfinished, uint64(len(r.Unfinished)))
	count(record.CountLate, r.Late)
	count(record.CountChecked, r.Checked)
	count(record.CountCheckFails, r.CheckFailed)
	count(record.CountArena, r.Arena)
	rec.Unfinished = r.Unfinished
	r.fillMetrics(rec)
	if err := r.fillHistograms(rec); err != nil {
		return err
	}
	r.fillSeries(rec)
	r.fillFindings(rec)
	r.fillStatus(rec)
	return nil
}

func (r *Result) open() bool { return r.Response != nil }

// builtInputs reports whether operations built their inputs within the window.
// The runtime counts allocations and goroutines of the whole process. If it does,
// those of an operation therefore cannot be separated from those of its input.
func (r *Result) builtInputs() bool { return r.Input != nil }

func (r *Result) fillMetrics(rec *record.Record) {
	if r.Window <= 0 {
		return // the run ended before the window
	}
	seconds := r.Window.Seconds()
	add := func(q record.Quantity, value float64) { rec.Metrics = append(rec.Metrics, q.Metric(value)) }
	add(record.Duration, seconds)
	add(record.Throughput, float64(r.Done-r.Late+r.Carried)/seconds)
	if r.open() {
		add(record.OfferedRate, float64(r.Offered)/seconds)
		if r.NeverStarted > 0 {
			add(record.BacklogOldest, float64(r.Oldest))
		}
	}
	if r.Done > 0 {
		r.fillLatencies(add)
	}
	r.fillUsage(rec, add)
}

func (r *Result) fillLatencies(add func(q record.Quantity, value float64)) {
	percentile, l := record.Percentile, r.Latency
	stated := func(h *hdrhistogram.Histogram, q record.Quantity, s record.Statistic) {
		if record.Carries(s.Percentile, int64(r.Done)) {
			add(q, percentile(h, s.Percentile))
		}
	}
	add(record.PureThroughput, float64(r.cfg.Workers)/r.Mean*float64(time.Second))
	add(record.LatencyMin, float64(l.Min()))
	add(record.LatencyP50, percentile(l, 50))
	add(record.LatencyMean, r.Mean)
	stated(l, record.LatencyP95, record.P95)
	stated(l, record.LatencyP99, record.P99)
	stated(l, record.LatencyP999, record.P999)
	stated(l, record.LatencyP9999, record.P9999)
	add(record.LatencyMax, float64(l.Max()))
	add(record.LatencyStdDev, r.StdDev)
	if record.Carries(75, int64(r.Done)) {
		add(record.LatencyIQR, percentile(l, 75)-percentile(l, 25))
	}
	add(record.LatencyJitter, r.Jitter)
	if _, se, _ := stat.MeanSE(r.Means, r.Weights); len(r.Means) >= minSlots && !math.IsNaN(se) {
		add(record.LatencyMeanErr, se)
	}
	if r.open() {
		add(record.ResponseP50, percentile(r.Response, 50))
		add(record.ResponseMean, r.Response.Mean())
		stated(r.Response, record.ResponseP95, record.P95)
		stated(r.Response, record.ResponseP99, record.P99)
		stated(r.Response, record.ResponseP999, record.P999)
		add(record.ResponseMax, float64(r.Response.Max()))
		if r.Slept > 0 {
			add(record.StartLate, float64(r.Oversleep))
		}
		if r.cfg.Starts.spins(r.cfg.Workers) {
			add(record.StartSpin, 100*r.Spun.Seconds()/r.Window.Seconds())
		}
		add(record.WaitMean, r.Wait.Mean())
		stated(r.Wait, record.WaitP99, record.P99)
		add(record.WaitMax, float64(r.Wait.Max()))
	}
}

// minSlots is the minimum number of slots for an estimate of the mean's error.
const minSlots = 16

func (r *Result) fillUsage(rec *record.Record, add func(q record.Quantity, value float64)) {
	u := r.Usage
	switch {
	case r.builtInputs():
		if r.Done > 0 {
			add(record.InputMean, r.Input.Mean())
		}
	case r.Work > 0:
		bytes, allocs := record.AllocBytes.Metric(float64(u.Bytes)/r.Work), record.Allocs.Metric(float64(u.Allocs)/r.Work)
		if r.alone.ok {
			bytes, allocs = record.AllocBytes.Exact(r.alone.bytes), record.Allocs.Exact(r.alone.allocs)
		}
		rec.Metrics = append(rec.Metrics, bytes, allocs)
		add(record.Goroutines, float64(u.Goroutines)/r.Work)
		add(record.MutexWait, float64(u.MutexWait)/r.Work)
	}
	add(record.AllocRate, float64(r.series.usage.Bytes)/r.Window.Seconds())
	add(record.GCCPUShare, 100*u.GCCPUShare)
	add(record.GCAssistShare, 100*u.GCAssistShare)
	add(record.GCPauses, float64(u.GCPauses))
	add(record.GCCycles, float64(u.GCCycles))
	add(record.SchedP50, float64(u.SchedP50))
	if record.Carries(record.P99.Percentile, int64(u.Scheduled)) {
		add(record.SchedP99, float64(u.SchedP99))
	}
	add(record.HeapLive, float64(u.HeapLive))
	if m := u.Machine; m != nil {
		r.fillMachine(m, add)
	}
	if m := u.Memory; m != nil {
		add(record.RSS, float64(m.RSS))
		add(record.RSSAnon, float64(m.Anon))
		add(record.RSSFile, float64(m.File))
		add(record.PeakRSS, float64(m.Peak))
		add(record.PeakRSSAnon, float64(m.PeakAnon))
		add(record.PeakRSSFile, float64(m.PeakFile))
	}
}

func (r *Result) fillMachine(m *resources.Machine, add func(q record.Quantity, value float64)) {
	if cpu := m.OfOperations(); !r.builtInputs() && r.Work > 0 && cpu.Sum() > 0 {
		add(record.CPUTime, float64(cpu.Sum())/r.Work)
		add(record.CPUUser, float64(cpu.User)/r.Work)
		add(record.CPUSystem, float64(cpu.System)/r.Work)
	}
	FillMachine(m, add)
}

// FillMachine calls the function add for each metric of m. These metrics say how much
// processor time the process got, and what other load the machine had.
func FillMachine(m *resources.Machine, add func(q record.Quantity, value float64)) {
	if m.Wall <= 0 {
		return
	}
	add(record.Processors, float64(m.CPU())/float64(m.Wall))
	add(record.Preempted, float64(m.Preempted))
	if m.Processors == 0 {
		return // the platform reports nothing about the machine
	}
	all := float64(m.Wall) * float64(m.Processors)
	if ran := m.Waited + m.CPU(); ran > 0 {
		add(record.ProcessWait, 100*float64(m.Waited)/float64(ran))
	}
	add(record.OthersShare, 100*float64(m.Others)/all)
	add(record.StolenShare, 100*float64(m.Stolen)/all)
	add(record.Pressure, 100*float64(m.Pressure)/float64(m.Wall))
	add(record.LoadAverage, m.Load)
}

// DisturbedFinding returns a finding that lists the disturbances of m, and reports whether
// there were any.
func DisturbedFinding(m *resources.Machine) (f record.Finding, found bool) {
	crowded := runtime.GOMAXPROCS(0) > runtime.NumCPU()
	all := m.Disturbances(crowded)
	return record.Finding{Name: record.Disturbed, Text: strings.Join(all, "; ")}, len(all) > 0
}

func (r *Result) fillHistograms(rec *record.Record) error {
	var errs []error
	add := func(name string, h *hdrhistogram.Histogram, parts func(p *part) []cell) {
		if h == nil || h.TotalCount() == 0 {
			return
		}
		encoded, err := record.EncodeHistogram(name, "ns", h)
		if err != nil {
			errs = append(errs, err)
			return
		}
		if parts != nil {
			encoded.Interval = r.series.interval
			if encoded.Parts, err = encodeParts(name, r.series.parts, parts); err != nil {
				errs = append(errs, err)
			}
		}
		rec.Histograms = append(rec.Histograms, encoded)
	}
	add(record.HistLatency, r.Latency, func(p *part) []cell { return p.latency })
	add(record.HistResponse, r.Response, func(p *part) []cell { return p.response })
	add(record.HistWait, r.Wait, nil)
	add(record.HistError, r.Failures, nil)
	add(record.HistInput, r.Input, nil)
	for i, h := range r.Classes {
		add(record.HistClassPrefix+r.cfg.Classes[i], h, nil)
	}
	return errors.Join(errs...)
}

// encodeParts encodes the cells of each part as a histogram. A part without values gets an
// empty string.
func encodeParts(name string, parts []part, cells func(p *part) []cell) ([]string, error) {
	encoded := make([]string, len(parts))
	h := newHistogram()
	for i := range parts {
		if len(cells(&parts[i])) == 0 {
			continue
		}
		h.Reset()
		for _, c := range cells(&parts[i]) {
			_ = h.RecordValues(lowest(c.bucket), int64(c.n)) // within the range
		}
		e, err := record.EncodeHistogram(name, "ns", h)
		if err != nil {
			return nil, err
		}
		encoded[i] = e.HDR
	}
	return encoded, nil
}

func (r *Result) fillSeries(rec *record.Record) {
	if len(r.series.parts) == 0 {
		return
	}
	add := func(q record.Quantity, value func(p *part) float64) {
		values := make([]float64, len(r.series.parts))
		for i := range values {
			values[i] = value(&r.series.parts[i])
		}
		rec.Series = append(rec.Series, q.Series(r.series.interval, values))
	}
	add(record.Throughput, func(p *part) float64 { return float64(p.done) / p.length.Seconds() })
	if r.Failed > 0 {
		add(record.Errors, func(p *part) float64 { return float64(p.failed) / p.length.Seconds() })
	}
	add(record.LatencyP50, func(p *part) float64 { return p.p50 })
	carried := r.series.carries(record.P99.Percentile)
	if carried {
		add(record.LatencyP99, func(p *part) float64 { return p.p99 })
	}
	if r.open() {
		if carried {
			add(record.ResponseP99, func(p *part) float64 { return p.response99 })
		}
		add(record.Backlog, func(p *part) float64 { return float64(p.backlog) })
	}
	add(record.GCCPUShare, func(p *part) float64 { return 100 * p.gcShare })
	add(record.HeapLive, func(p *part) float64 { return float64(p.heapLive) })
	if r.Usage.Memory != nil {
		add(record.RSS, func(p *part) float64 { return float64(p.rss) })
	}
}
