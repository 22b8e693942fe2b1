package suite

import (
	"cmp"
	"encoding/csv"
	"io"
	"slices"
	"strconv"

	"github.com/zkbench/zkbench/internal/result/env"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
)

// figures are the columns of a row of results. Each case has one column for each figure, with the
// median of its repetitions. The figures are those that the study's script keeps: tps, lat-p95,
// lat-avg, lat-std (ms), and RAM (bytes) and allocs of an operation. Circuits also have the times
// of their stages.
var figures = []struct {
	name   string
	metric record.Quantity
	scale  float64
}{
	{"tps", record.Throughput, 1},
	{"lat-p95 ms", record.LatencyP95, 1e-6},
	{"lat-avg ms", record.LatencyMean, 1e-6},
	{"lat-std ms", record.LatencyStdDev, 1e-6},
	{"RAM bytes", record.AllocBytes, 1},
	{"allocs", record.Allocs, 1},
}

// SessionColumn is the column that identifies a suite. A new row of the same suite replaces the old
// one.
const SessionColumn = "session"

// Results returns the row of a suite: when it began, its commit, and every figure of every case
// that ran to its end.
func Results(h Header, recs []*record.Record) Row {
	row := Row{Columns: []string{"timestamp", SessionColumn, "suite", "commit", "processes", "failed"}}
	commit, failed := "", 0
	apart := environments(recs)
	values := make(map[string][]float64)
	var columns []string
	add := func(column string, v float64) {
		if _, ok := values[column]; !ok {
			columns = append(columns, column)
		}
		values[column] = append(values[column], v)
	}
	for _, r := range recs {
		commit = cmp.Or(commit, r.Env.Commit)
		if r.Status != record.OK {
			failed++
			continue
		}
		name := r.Workload + apart(r) + "/" + r.Axes.String()
		if _, ok := r.Axes.Get("cpus"); !ok {
			name += "/cpus=" + strconv.Itoa(r.Env.GOMAXPROCS)
		}
		for _, f := range figures {
			if m, ok := r.Metric(f.metric); ok {
				add(name+" "+f.name, m.Value*f.scale)
			}
		}
		for _, m := range r.Metrics {
			if stage, ok := m.Stage(); ok {
				add(name+" "+stage+" s", m.Value)
			}
		}
	}
	row.Values = []string{h.Begun.Format("2006-01-02 15:04:05"), h.Session, h.Suite, commit, strconv.Itoa(len(recs)), strconv.Itoa(failed)}
	for _, c := range columns {
		row.Columns = append(row.Columns, c)
		row.Values = append(row.Values, strconv.FormatFloat(stat.Median(values[c]), 'g', 6, 64))
	}
	return row
}

// environments returns a function that distinguishes records of different environments or builds,
// whose figures are never combined. For a record it returns "" for the first environment, "
// (environment 2)" for the next, and " (HOST)" for one with a host.
func environments(recs []*record.Record) func(*record.Record) string {
	var all env.Distinct
	for _, r := range recs {
		all.Index(r.Env)
	}
	return func(r *record.Record) string {
		if name := all.Name(all.Index(r.Env)); name != "" {
			return " (" + name + ")"
		}
		return ""
	}
}

// IOStats writes, of workloads with bits, inputs and outputs, time, memory and allocations
// of an operation by all three, medians of the repetitions.
func IOStats(w io.Writer, recs []*record.Record) error {
	type at struct{ bench, curve, proof, exec, workers, cpus, bits, in, out string }
	type sums struct{ allocs, ram, ms []float64 }
	apart := environments(recs)
	all := make(map[at]*sums)
	var order []at
	for _, r := range recs {
		axis := func(key string) string { v, _ := r.Axes.Get(key); return v }
		key := at{r.Workload + apart(r), axis("curve"), axis("proof"), axis("exec"), axis("workers"), strconv.Itoa(r.Env.GOMAXPROCS), axis("bits"), axis("in"), axis("out")}
		if r.Status != record.OK || key.bits == "" || key.out == "" {
			continue
		}
		if all[key] == nil {
			all[key] = &sums{}
			order = append(order, key)
		}
		s := all[key]
		s.allocs, s.ram = append(s.allocs, r.Value(record.Allocs)), append(s.ram, r.Value(record.AllocBytes))
		s.ms = append(s.ms, r.Value(record.LatencyMean)/1e6)
	}
	number := func(s string) int { n, _ := strconv.Atoi(s); return n } // no number is 0
	slices.SortStableFunc(order, func(a, b at) int {
		return cmp.Or(cmp.Compare(a.bench, b.bench), cmp.Compare(a.curve, b.curve), cmp.Compare(a.proof, b.proof), cmp.Compare(a.exec, b.exec),
			cmp.Compare(number(a.cpus), number(b.cpus)), cmp.Compare(number(a.workers), number(b.workers)),
			cmp.Compare(number(a.bits), number(b.bits)), cmp.Compare(number(a.in), number(b.in)), cmp.Compare(number(a.out), number(b.out)))
	})
	out := csv.NewWriter(w)
	_ = out.Write([]string{"bench", "curve", "proof", "exec", "cpus", "workers", "bits", "I", "O", "allocs", "RAM bytes", "time ms"}) // the writer keeps its first error
	for _, key := range order {
		s := all[key]
		cell := func(v []float64) string { return strconv.FormatFloat(stat.Median(v), 'g', 6, 64) }
		_ = out.Write([]string{key.bench, key.curve, key.proof, key.exec, key.cpus, key.workers, key.bits, key.in, key.out, cell(s.allocs), cell(s.ram), cell(s.ms)})
	}
	out.Flush()
	return out.Error()
}
