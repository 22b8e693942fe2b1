package record_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestWhose: whose a figure is stands in the record, is added to what does not say, and has words.
func TestWhose(t *testing.T) {
	rec := record.New()
	rec.Workload = "Mine"
	rec.Metrics = []record.Metric{
		record.Throughput.Metric(1), record.CPUTime.Metric(2).WithWhose(record.OfProverCommand("prove")), record.Processors.Metric(1), record.LoadAverage.Metric(3), record.GCCycles.Metric(4),
	}
	rec.Stages = []record.Stage{{Name: "set-up", PeakRSS: 5}, {Name: "window", PeakRSS: 6, Whose: record.OfZkbench}}
	rec.SetWhose(record.OfOperations)
	var line bytes.Buffer
	must.Do(t, record.Write(&line, rec))
	golden.Contains(t, line.String(), `{"name":"throughput","unit":"ops/s","value":1,"kind":"timed"}`, `"value":2,"kind":"timed","whose":"prover/prove"}`)
	again := must.Get(record.ReadAll(&line))(t)[0]
	var whose []string
	for _, m := range again.Metrics {
		whose = append(whose, string(m.Whose))
	}
	golden.Equal(t, "whose", []string{"", "prover/prove", "operations", "", "operations"}, whose)
	golden.Equal(t, "of stages", []record.Whose{record.OfOperations, record.OfZkbench}, []record.Whose{again.Stages[0].Whose, again.Stages[1].Whose})

	for w, want := range map[record.Whose]string{
		record.OfOperations: "the process that ran the operations", record.OfZkbench: "zkbench's own process", record.OfProver: "the prover's processes",
		record.OfProver.WithZkbench(): "the prover's processes and zkbench's own", record.OfProverCommand("verify"): "the prover's processes of verify",
		record.OfCommand: "the command's processes", "": "", "of tomorrow": "of tomorrow",
	} {
		golden.Equal(t, string(w), want, w.Words())
	}
}

// TestPeakMemory: that of the stages is the greatest that is not zkbench's own.
func TestPeakMemory(t *testing.T) {
	rec := record.New()
	rec.Stages = []record.Stage{{Name: "prepare", PeakRSS: 1000, Whose: record.OfZkbench}, {Name: "prove", PeakRSS: 300, Whose: "prover/prove"}, {Name: "verify", PeakRSS: 20, Whose: "prover/verify"}}
	peak, told := rec.PeakMemory()
	golden.Equal(t, "of stages", [3]any{300., record.OfProverCommand("prove"), true}, [3]any{peak.Value, peak.Whose, told})
	rec.Metrics = []record.Metric{record.Throughput.Metric(1)}
	if _, told := rec.PeakMemory(); told {
		t.Error("a load whose peak is not told has one")
	}
}

// TestEarlierStages: a record of a prover's stages as an earlier version wrote it had zkbench's own memory in
// the place of the stage's, and the prover's among the sizes.
func TestEarlierStages(t *testing.T) {
	const line = `{"schema":1,"id":"I","time":"2026-11-01T00:00:00Z","workload":"Hash","case":"","axes":{},"env":{},"seed":1,"process":{},"status":"ok",` +
		`"stages":[{"name":"prove","time":5,"peak-rss":36700160,"allocated":380000,"sizes":[{"name":"cpu","unit":"ns/op","value":4200000,"kind":"timed"},{"name":"peak-rss","unit":"B","value":317538304,"kind":"timed"}]},` +
		`{"name":"build","time":5,"peak-rss":70,"allocated":80}]}` + "\n"
	rec := must.Get(record.ReadAll(strings.NewReader(line)))(t)[0]
	prove, build := rec.Stages[0], rec.Stages[1]
	golden.Equal(t, "a prover's", [3]any{uint64(317538304), uint64(0), record.OfProverCommand("prove")}, [3]any{prove.PeakRSS, prove.Allocated, prove.Whose})
	golden.Equal(t, "one of nobody known", [3]any{uint64(70), uint64(80), record.Whose("")}, [3]any{build.PeakRSS, build.Allocated, build.Whose})
}
