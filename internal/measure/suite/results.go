package suite

import (
	"cmp"
	"strconv"

	"github.com/zkbench/zkbench/internal/result/env"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
)

// figures are the columns of a row of results. Each case has one column for each figure, with the
// median of its repetitions. The figures are those that the study's script keeps: tps, lat-p95,
// lat-avg, lat-std (ms), and RAM (bytes) and allocs of an operation. Circuits also have the sizes
// of both keys and the times of their stages, among them the times to make each of the keys.
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
	{"proving-key bytes", record.ProvingKeySize, 1},
	{"verifying-key bytes", record.VerifyingKeySize, 1},
}

// SessionColumn is the name of a column in the table of results (ResultsFile). The column
// identifies a run of a suite. A new row for the same run replaces the old row.
const SessionColumn = "session"

// Results returns the row for a suite in the table of results (ResultsFile). The row says when the
// suite began, and has the commit and the figures of every case that ran to its end.
func Results(h Header, recs []*record.Record) Row {
	row := Row{Columns: []string{"timestamp", SessionColumn, "suite", "commit", "processes", "failed"}}
	commit, failed := "", 0
	apart := env.Suffixes(recs)
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
		if _, ok := r.Axes.Get(record.CPUsKey); !ok {
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
