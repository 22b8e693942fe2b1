package record_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/recordtest"
)

// TestWrittenIsRead: a record is read as it was written, without the figures that are no numbers and
// the percentiles that it cannot have; it is refused when it is written if names stand twice, and no line is written that cannot be read.
func TestWrittenIsRead(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rec := recordtest.Draw(t)
		var line bytes.Buffer
		err := record.Write(&line, rec)
		if !recordtest.Clear(rec) {
			must.Fail(t, err, zkbench.ErrParams, "a record whose names stand twice")
			golden.Equal(t, "bytes of what was refused", 0, line.Len())
			return
		}
		must.Do(t, err)
		golden.Equal(t, "lines", 1, bytes.Count(line.Bytes(), []byte("\n")))
		all := must.Get(record.ReadAll(&line))(t)
		golden.Equal(t, "records", 1, len(all))
		read := all[0]

		numbers := func(figures []record.Metric) (all []string) {
			for _, m := range figures {
				if !math.IsNaN(m.Value) && !math.IsInf(m.Value, 0) {
					all = append(all, fmt.Sprintf("%s %v %s %q", m.Name(), m.Value, m.Kind, m.Whose))
				}
			}
			return all
		}
		// Percentiles that its operations do not carry are dropped when it is read, and so is the interquartile range, which
		// needs P75.
		done, counted := rec.Counter(record.CountDone)
		rec.Metrics = slices.DeleteFunc(rec.Metrics, func(m record.Metric) bool {
			_, p, ok := m.Quantity.Percentile()
			if m.Name() == record.LatencyIQR.Name() {
				p, ok = 75, true
			}
			return ok && counted && !record.Carries(p, int64(done.Value)) && !math.IsNaN(m.Value) && !math.IsInf(m.Value, 0)
		})
		golden.Equal(t, "figures", numbers(rec.Metrics), numbers(read.Metrics))
		golden.Equal(t, "stages", len(rec.Stages), len(read.Stages))
		golden.Equal(t, "counters", rec.Counters, read.Counters)
		golden.Equal(t, "seed and status", fmt.Sprint(rec.Seed, rec.Status), fmt.Sprint(read.Seed, read.Status))
		if left := len(rec.Metrics) - len(read.Metrics); left > 0 && len(read.Findings) != len(rec.Findings)+1 {
			t.Errorf("%d figures were left out, findings %v", left, read.Findings)
		}
	})
}

// TestWriteRefuses: what no reader takes is no record, and the error names it.
func TestWriteRefuses(t *testing.T) {
	for want, change := range map[string]func(*record.Record){
		"schema 2; accepted: 1": func(r *record.Record) { r.Schema = 2 },
		`status "odd"`:          func(r *record.Record) { r.Status = "odd" },
		"axis bits occurs twice": func(r *record.Record) {
			r.Axes = record.Axes{{Key: "bits", Value: "1"}, {Key: "bits", Value: "2"}}
		},
		"figure proof occurs twice": func(r *record.Record) {
			r.Metrics = []record.Metric{record.ProofSize.Metric(1), record.ProofSize.Metric(2)}
		},
		"accepted: UTF-8": func(r *record.Record) { r.Metrics = []record.Metric{record.Reported("a\xff", "B", 1, record.Exact)} },
	} {
		rec := record.New()
		change(rec)
		var line bytes.Buffer
		err := record.Write(&line, rec)
		must.Fail(t, err, zkbench.ErrParams, "%s", want)
		golden.Contains(t, err.Error(), want)
		golden.Equal(t, "written", 0, line.Len())
	}
}

// TestNotFinite: figures that are no numbers are left out of what is written, with their names.
func TestNotFinite(t *testing.T) {
	rec := record.New()
	rec.Metrics = []record.Metric{record.Throughput.Metric(5), record.PureThroughput.Metric(math.Inf(1))}
	rec.Series = []record.Series{record.Throughput.Series(time.Second, []float64{1, math.NaN()}), record.LatencyP50.Series(time.Second, []float64{1})}
	rec.Stages = []record.Stage{{Name: "prove", Sizes: []record.Metric{record.ProofSize.Metric(math.Inf(-1))}}}
	rec.Properties = &record.Properties{ProvedBits: math.NaN(), Setup: record.SetupNone}
	rec.Env.Quota = math.Inf(1)
	before := must.Get(json.Marshal(rec.Findings))(t)
	var line bytes.Buffer
	must.Do(t, record.Write(&line, rec))
	got := must.Get(record.ReadAll(&line))(t)[0]
	golden.Equal(t, "figures, series, sizes", [3]int{1, 1, 0}, [3]int{len(got.Metrics), len(got.Series), len(got.Stages[0].Sizes)})
	golden.Equal(t, "finding", "pure-throughput is +Inf; stage prove: proof is -Inf; series throughput is NaN at 1; bits of soundness are NaN proved, 0 claimed; quota is +Inf: not finite, so left out", got.Findings[0].Text)
	golden.Equal(t, "properties", &record.Properties{Setup: record.SetupNone}, got.Properties)
	golden.Equal(t, "findings of what was given", string(before), string(must.Get(json.Marshal(rec.Findings))(t)))
	golden.Equal(t, "figures of what was given", 2, len(rec.Metrics))
}

// TestAdd: a figure of a name that is taken is left out and named, and the others are kept.
func TestAdd(t *testing.T) {
	rec := record.New()
	must.Do(t, rec.Add(record.ProofSize.Metric(1), record.Constraints.Metric(2)))
	err := rec.Add(record.Domain.Metric(3), record.ProofSize.Metric(4), record.Columns.Metric(5))
	must.Fail(t, err, zkbench.ErrParams, "a name twice")
	golden.Contains(t, err.Error(), "figure proof occurs twice")
	golden.Equal(t, "kept", []float64{1, 2, 3, 5}, []float64{rec.Metrics[0].Value, rec.Metrics[1].Value, rec.Metrics[2].Value, rec.Metrics[3].Value})
}
