package text

import (
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/zkbench/zkbench/internal/result/record"
)

// Benchmark writes a record in the Go benchmark format
// (https://go.dev/design/14313-benchmark-format): the configuration, a line that says that
// more ops/s are better, and one result line
//
//	BenchmarkSender/curve=BN254/workers=2-2 241 41412840 ns/op 41257005 P50-ns ...
//
// Metrics of the kind record.Exact follow with their own units. A unit may occur only once on a
// line. If a unit is already used, Benchmark therefore puts the name of the metric before it. If
// a figure belongs to another program, for example the memory of a foreign prover, the name of
// the program precedes the unit. Figures that the record does not have are left out.
//
// The line for a case with stages has the time of each stage, for example prove-ns. Benchmark
// writes nothing if the record has no figures, or if it has neither stages nor a completed
// operation.
func Benchmark(w io.Writer, rec *record.Record) error {
	done := rec.Count(record.CountDone)
	staged := slices.ContainsFunc(rec.Metrics, func(m record.Metric) bool { return m.Group() == record.Stages })
	if done == 0 && staged {
		done = 1 // all stages ran once
	}
	if done == 0 {
		return nil
	}
	var figures strings.Builder
	used := make(Units)
	add := func(m record.Metric, unit string) {
		if unit, ok := used.Take(m, unit); ok {
			figures.WriteString("\t" + number(m.Value) + " " + unit)
		}
	}
	resultFigures(rec, add)
	if len(used) == 0 {
		return nil
	}
	var p page
	if rec.Env.Host != "" { // tools make a table for each set of these lines
		p.linef("host: %s", oneLine(rec.Env.Host))
	}
	p.linef("goos: %s", rec.Env.OS)
	p.linef("goarch: %s", rec.Env.Arch)
	if rec.Env.CPU != "" {
		p.linef("cpu: %s", oneLine(rec.Env.CPU))
	}
	p.linef("Unit ops/s better=higher")
	p.WriteString("Benchmark" + token(rec.Name()))
	if rec.Env.GOMAXPROCS != 1 { // as testing names it
		p.WriteString("-" + strconv.Itoa(rec.Env.GOMAXPROCS))
	}
	p.WriteString("\t" + strconv.FormatUint(min(done, math.MaxInt64), 10) + figures.String())
	p.linef("")
	return p.flush(w)
}

// resultFigures calls add with the figures of a result line and their units.
func resultFigures(rec *record.Record, add func(m record.Metric, unit string)) {
	for _, c := range []struct {
		quantity record.Quantity
		unit     string
	}{
		{record.LatencyMean, "ns/op"},
		{record.LatencyP50, "P50-ns"},
		{record.LatencyP95, "P95-ns"},
		{record.LatencyP99, "P99-ns"},
		{record.LatencyP999, "P99.9-ns"},
		{record.ResponseP99, "response-P99-ns"},
		{record.Throughput, "ops/s"},
		{record.GCCPUShare, "gc-cpu-%"},
		{record.AllocBytes, "B/op"},
		{record.Allocs, "allocs/op"},
		{record.Goroutines, "goroutines/op"},
		{record.PeakRSS, "peak-RSS-B"},
	} {
		m, ok := rec.Metric(c.quantity)
		if !ok || c.quantity == record.Goroutines && m.Value == 0 {
			continue
		}
		add(m, ownUnit(m, c.unit))
	}
	for _, m := range rec.Metrics {
		if stage, ok := m.Stage(); ok {
			m.Value *= 1e9 // from seconds
			add(m, stage+"-ns")
		}
	}
	for _, m := range ownMetrics(rec) {
		if m.Kind != record.Exact {
			continue
		}
		add(m, m.Unit())
	}
}

// Units is the set of units that a line in the Go benchmark format already has. Each unit may
// occur only once.
type Units map[string]bool

// Take turns a unit into one word for the figure m, adds the word to u, and returns the word as
// the result own. If u already has the unit, the word begins with the name of the metric. The
// result ok is false if the line cannot have the figure: if its value is not a finite number, or
// if u already has the word that begins with the metric's name.
func (u Units) Take(m record.Metric, unit string) (own string, ok bool) {
	if own = token(unit); own == "" || u[own] {
		own = strings.Trim(token(m.Name())+"-"+own, "-")
	}
	if u[own] || own == "" || math.IsInf(m.Value, 0) || math.IsNaN(m.Value) {
		return "", false
	}
	u[own] = true
	return own, true
}

// ownUnit returns the unit of a figure. If the figure is another program's, the unit begins with
// that program, for example prover-prove-peak-RSS-B. Units such as B/op are for the process that
// ran the benchmark.
func ownUnit(m record.Metric, unit string) string {
	if !m.Whose.Foreign() {
		return unit
	}
	return token(strings.ReplaceAll(string(m.Whose), "/", "-")) + "-" + unit
}

// token returns text as one word of the format.
func token(text string) string { return strings.Join(strings.Fields(text), "_") }

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
