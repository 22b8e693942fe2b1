package report

import (
	"io"
	"strconv"

	"github.com/zkbench/zkbench/internal/record"
)

// Benchmark writes a record in the Go benchmark format
// (https://go.dev/design/14313-benchmark-format): the configuration, what better
// means for units that the format does not know, and one result line
//
//	BenchmarkSender/curve=BN254/workers=2-2 241 41412840 ns/op 41257005 p50-ns ...
//
// A figure that the record lacks is left out; a record without a finished
// operation has no result line.
func Benchmark(w io.Writer, rec *record.Record) error {
	done := rec.Count(record.CountDone)
	if done == 0 {
		return nil
	}
	var b block
	b.linef("goos: %s", rec.Env.OS)
	b.linef("goarch: %s", rec.Env.Arch)
	if rec.Env.CPU != "" {
		b.linef("cpu: %s", rec.Env.CPU)
	}
	b.linef("Unit ops/s better=higher")
	b.WriteString("Benchmark" + rec.Workload)
	if rec.Case != "" {
		b.WriteString("/" + rec.Case)
	}
	if rec.Env.GOMAXPROCS != 1 { // as testing names it
		b.WriteString("-" + strconv.Itoa(rec.Env.GOMAXPROCS))
	}
	b.WriteString("\t" + strconv.FormatUint(done, 10))
	for _, m := range []struct{ name, unit string }{
		{record.LatencyMean, "ns/op"},
		{record.LatencyP50, "p50-ns"},
		{record.LatencyP95, "p95-ns"},
		{record.LatencyP99, "p99-ns"},
		{record.Throughput, "ops/s"},
		{record.GCCPUShare, "gc-cpu-%"},
		{record.AllocBytes, "B/op"},
		{record.Allocs, "allocs/op"},
	} {
		if v, ok := rec.Metric(m.name); ok {
			b.WriteString("\t" + number(v.Value) + " " + m.unit)
		}
	}
	for _, m := range rec.Metrics {
		if m.Kind == record.Exact {
			b.WriteString("\t" + number(m.Value) + " " + m.Unit)
		}
	}
	b.linef("")
	return b.flush(w)
}
