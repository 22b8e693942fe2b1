package history_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/compare/history"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

var day0 = time.Date(2026, 1, 1, 8, 0, 0, 0, time.UTC)

// sample returns a record of a day, with a commit of that day.
func sample(id string, day int, metrics ...record.Metric) *record.Record {
	return &record.Record{
		Schema: record.Schema, ID: id, Time: day0.AddDate(0, 0, day), Workload: "Sender", Case: "curve=BN254/bits=32",
		Axes:    record.Axes{{Key: "curve", Value: "BN254"}, {Key: "bits", Value: "32"}},
		Env:     record.Env{OS: "linux", Arch: "amd64", CPU: "One", Path: "adx", Cores: 2, GOMAXPROCS: 2, Go: "go1.26.1", Commit: fmt.Sprintf("%040x", day), GOGC: 100, GOMEMLIMIT: -1},
		Status:  record.OK,
		Metrics: metrics,
	}
}

func throughput(v float64) record.Metric {
	return record.Throughput.Metric(v)
}

func allocs(v float64) record.Metric {
	return record.Allocs.Exact(v)
}

// ofSession returns the record as one of a session.
func ofSession(session string, index int, r *record.Record) *record.Record {
	r.Process = record.Process{Session: session, Index: index}
	return r
}

func linesOf(t *testing.T, q history.Query, recs ...*record.Record) []history.Line {
	t.Helper()
	if q.Metric == "" {
		q.Metric = record.Throughput.Name()
	}
	if q.Level == 0 {
		q.Level = 0.01
	}
	return must.Get(q.Lines(recs))(t)
}

// TestPoints: a session of a build is a point, in order of time; what is not ok does not
// count, and a record that comes twice counts once.
func TestPoints(t *testing.T) {
	failed := ofSession("s", 3, sample("f", 1, throughput(1)))
	failed.Status = record.Failed
	late := ofSession("s", 2, sample("c", 1, throughput(90)))
	late.Time = late.Time.Add(time.Hour)
	other := ofSession("s", 0, sample("o", 1, throughput(5)))
	other.Workload, other.Time = "Issuer", other.Time.Add(-time.Hour)
	compared := ofSession("s", 0, sample("n", 1, throughput(120)))
	compared.Env.Commit = "new"
	compared.Time = compared.Time.Add(time.Minute)
	again := *late

	lines := linesOf(t, history.Query{Workloads: []string{"sender"}},
		late, sample("x", 2, throughput(50)), ofSession("s", 0, sample("a", 1, throughput(110))), failed, ofSession("s", 1, sample("b", 1, throughput(100))),
		&again, sample("y", 2, throughput(60)), other, compared, sample("z", 0, allocs(3)))
	if len(lines) != 1 {
		t.Fatalf("%d lines, want 1", len(lines))
	}
	want := []history.Point{
		// The session began with the other workload.
		{Time: other.Time, Commit: fmt.Sprintf("%040x", 1), Values: []float64{90, 100, 110}},
		{Time: compared.Time, Commit: "new", Values: []float64{120}},
		{Time: day0.AddDate(0, 0, 2), Commit: fmt.Sprintf("%040x", 2), Values: []float64{50}},
		{Time: day0.AddDate(0, 0, 2), Commit: fmt.Sprintf("%040x", 2), Values: []float64{60}},
	}
	golden.Equal(t, "points", want, lines[0].Points, cmpopts.IgnoreFields(history.Point{}, "Go"))
	p := lines[0].Points[0]
	golden.Equal(t, "least, median, greatest", [3]float64{90, 100, 110}, [3]float64{p.Least(), p.Median(), p.Greatest()})
	golden.Equal(t, "median of four", 3, (history.Point{Values: []float64{1, 2, 4, 9}}).Median())
}

// TestEnvironmentsApart: unlike environments make lines of their own; versions do not.
func TestEnvironmentsApart(t *testing.T) {
	change := func(r *record.Record, of func(*record.Env)) *record.Record { of(&r.Env); return r }
	lines := linesOf(t, history.Query{},
		sample("a", 0, throughput(1)),
		change(sample("b", 1, throughput(2)), func(e *record.Env) { e.GOMAXPROCS = 4 }),
		change(sample("c", 2, throughput(3)), func(e *record.Env) { e.Governor = "powersave" }),
		change(sample("d", 3, throughput(4)), func(e *record.Env) {
			e.Go, e.Kernel, e.Modules = "go1.27", "7.0", map[string]string{"example/m": "v2"}
		}),
		change(sample("e", 4, throughput(5)), func(e *record.Env) { e.GOMAXPROCS = 4 }),
		sample("f", 5, record.Reported("throughput", "proofs/s", 6, record.Timed)),
	)
	var got [][]float64
	for _, l := range lines {
		var values []float64
		for _, p := range l.Points {
			values = append(values, p.Values...)
		}
		got = append(got, values)
	}
	golden.Equal(t, "values", [][]float64{{1, 4}, {2, 5}, {3}, {6}}, got)
}

// TestSteps: a timed metric has a step where it is beyond the noise, an exact one at any
// change.
func TestSteps(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	var recs []*record.Record
	for day := range 30 {
		rate, count := 1000.0, 40.0
		if day >= 18 {
			rate, count = 900, 41
		}
		recs = append(recs, sample(fmt.Sprint(day), day, throughput(rate*(1+0.01*r.NormFloat64())), allocs(count)))
	}
	timed := linesOf(t, history.Query{}, recs...)[0]
	if timed.Exact || timed.Better != record.Higher || len(timed.Steps) != 1 {
		t.Fatalf("exact %v, better %v, steps %v", timed.Exact, timed.Better, timed.Steps)
	}
	if s := timed.Steps[0]; s.At != 18 || math.Abs(s.Change()+0.1) > 0.01 || s.P > 0.01 {
		t.Errorf("step %+v, want one of -10 %% at 18", s)
	}
	exact := linesOf(t, history.Query{Metric: record.Allocs.Name()}, recs...)[0]
	if diff := cmp.Diff([]stat.Step{{At: 18, Before: 40, After: 41}}, exact.Steps); !exact.Exact || exact.Better != record.Lower || diff != "" {
		t.Errorf("exact %v, better %v: %s", exact.Exact, exact.Better, diff)
	}
	// Steps are those of what is shown.
	since := linesOf(t, history.Query{Metric: record.Allocs.Name(), Since: day0.AddDate(0, 0, 18).Truncate(24 * time.Hour)}, recs...)[0]
	golden.Equal(t, "points, steps", [2]int{12, 0}, [2]int{len(since.Points), len(since.Steps)})
	// One record of another kind, and the metric no longer repeats exactly.
	recs[3].Metrics[1].Kind = record.Timed
	if linesOf(t, history.Query{Metric: record.Allocs.Name()}, recs...)[0].Exact {
		t.Error("exact with a timed record")
	}
}

func TestQuery(t *testing.T) {
	issuer := sample("i", 1, throughput(2))
	issuer.Workload, issuer.Axes = "IssueServiceIssue", record.Axes{{Key: "bits", Value: "64"}, {Key: "cpus", Value: "1"}}
	failed := sample("f", 2, throughput(9), record.Reported("only-failed", "", 0, ""))
	failed.Status = record.Failed
	recs := []*record.Record{sample("s", 0, throughput(1), allocs(3)), issuer, failed}
	for _, test := range []struct {
		name string
		q    history.Query
		want []string // workloads
	}{
		{"all", history.Query{}, []string{"Sender", "IssueServiceIssue"}},
		{"id", history.Query{Workloads: []string{"issue-service-issue"}}, []string{"IssueServiceIssue"}},
		{"name", history.Query{Workloads: []string{"Sender"}}, []string{"Sender"}},
		{"case", history.Query{Case: record.Axes{{Key: "bits", Value: "32"}, {Key: "curve", Value: "BN254"}}}, []string{"Sender"}},
		{"processors of the environment", history.Query{Case: record.Axes{{Key: "cpus", Value: "2"}}}, []string{"Sender"}},
		{"processors of the case", history.Query{Case: record.Axes{{Key: "cpus", Value: "1"}}}, []string{"IssueServiceIssue"}},
		{"since", history.Query{Since: day0.Add(time.Hour)}, []string{"IssueServiceIssue"}},
		{"metric", history.Query{Metric: record.Allocs.Name()}, []string{"Sender"}},
	} {
		var got []string
		for _, l := range linesOf(t, test.q, recs...) {
			got = append(got, l.Workload)
		}
		golden.Equal(t, test.name, test.want, got)
	}
	for _, test := range []struct {
		name string
		q    history.Query
		want argument.ValueError
	}{
		{"metric", history.Query{Metric: "speed"}, argument.ValueError{Field: "metric", Value: "speed", Accepted: "allocs, throughput"}},
		{"workload", history.Query{Metric: "throughput", Workloads: []string{"sender", "receiver"}}, argument.ValueError{Field: "workload", Value: "receiver", Accepted: "issue-service-issue, sender"}},
		{"value", history.Query{Metric: "throughput", Case: record.Axes{{Key: "bits", Value: "8"}}}, argument.ValueError{Field: "case", Value: "bits=8", Accepted: "bits of 32, 64"}},
		{"key", history.Query{Metric: "throughput", Case: record.Axes{{Key: "bit", Value: "8"}}}, argument.ValueError{Field: "case", Value: "bit=8", Accepted: "key=value with a key of bits, cpus, curve"}},
		{"since", history.Query{Metric: "throughput", Since: day0.AddDate(1, 0, 0)}, argument.ValueError{Field: "since", Value: "2027-01-01", Accepted: "dates up to 2026-01-02, of the last session"}},
	} {
		_, err := test.q.Lines(recs)
		got, ok := errors.AsType[*argument.ValueError](err)
		if !ok {
			t.Errorf("%s: %v, want a *usage.ValueError", test.name, err)
			continue
		}
		golden.Equal(t, test.name, test.want, *got)
	}
	must.FailGet((history.Query{Metric: "throughput"}).Lines([]*record.Record{failed}))(t, zkbench.ErrParams, "of failed records")
}
