package compare_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/compare"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// machine simulates processes. Their mean latency is 100 µs times the side's factor, with noise
// from process to process and a drift that slows all of them down.
type machine struct {
	rng       *rand.Rand
	factor    float64 // of the new side
	noise     float64 // standard deviation, relative
	drift     float64 // per process, relative
	proof     float64 // of the new side, B; 1000 of the old
	processes int
}

func (m *machine) run(_ context.Context, side stat.Side) *record.Record {
	latency, proof := 1e5, 1000.0
	if side == stat.New {
		latency, proof = latency*m.factor, m.proof
	}
	latency *= math.Exp(m.noise*m.rng.NormFloat64() + m.drift*float64(m.processes))
	m.processes++
	rec := record.New()
	rec.Workload, rec.Case = "Sender", "bits=8"
	rec.Env.Commit = "commit of " + strings.Replace(string(side), "again", "old", 1)
	rec.Metrics = []record.Metric{
		record.LatencyMean.Metric(latency),
		record.LatencyP99.Metric(2 * latency),
		record.Throughput.Metric(1e9 / latency),
		record.LatencyMax.Metric(9e9),
		record.ProofSize.Metric(proof),
	}
	return rec
}

func newMachine(seed uint64, factor float64) *machine {
	return &machine{rng: rand.New(rand.NewPCG(seed, 0)), factor: factor, noise: 0.01, drift: 0.002, proof: 1000}
}

func sessionOf(t *testing.T, m *machine, blocks int) compare.Sides {
	t.Helper()
	recs := must.Get((&compare.Session{Run: m.run, Seed: 1}).Measure(t.Context(), blocks))(t)
	return must.Get(compare.Split("session", recs))(t)
}

func table(t *testing.T, sides compare.Sides) *compare.Table {
	t.Helper()
	return must.Get(compare.Compare(sides, false))(t)
}

func row(t *testing.T, tab *compare.Table, metric string) compare.Row {
	t.Helper()
	for _, r := range tab.Rows {
		if r.Metric == metric {
			return r
		}
	}
	t.Fatalf("no row of %s", metric)
	return compare.Row{}
}

// TestSessionVerdicts: over simulated sessions with drift, what is planted is
// found, and nothing else; mean latency and throughput agree.
func TestSessionVerdicts(t *testing.T) {
	const sessions = 100
	for _, test := range []struct {
		name        string
		factor      float64
		want        compare.Verdict // of mean latency
		least, most int
	}{
		{"planted=0%", 1, compare.Same, 97, sessions},
		{"planted=3%", 1.03, compare.Slower, 90, sessions},
		{"planted=-3%", 1 / 1.03, compare.Faster, 90, sessions},
	} {
		t.Run(test.name, func(t *testing.T) {
			found := 0
			for seed := range uint64(sessions) {
				tab := table(t, sessionOf(t, newMachine(seed, test.factor), 12))
				latency, throughput := row(t, tab, record.LatencyMean.Name()), row(t, tab, record.Throughput.Name())
				if latency.Verdict == test.want {
					found++
				}
				golden.Equal(t, fmt.Sprintf("seed %d: verdict of the mean latency, by that of throughput", seed), throughput.Verdict, latency.Verdict)
				if !latency.Paired || latency.N != 12 {
					t.Errorf("seed %d: paired %v with %d processes, want pairs of 12", seed, latency.Paired, latency.N)
				}
			}
			golden.Within(t, fmt.Sprintf("sessions of %d that are %q", sessions, test.want), test.least, found, test.most)
		})
	}
}

// TestGate: what trips it, on which rows, and what does not.
func TestGate(t *testing.T) {
	plain := newMachine(1, 1)
	noisy := func(seed uint64, factor, noise float64) *machine {
		m := newMachine(seed, factor)
		m.noise = noise
		return m
	}
	slow, fast, large, small := newMachine(2, 1.1), newMachine(3, 1/1.1), newMachine(4, 1), newMachine(5, 1)
	large.proof, small.proof = 1001, 999
	for _, test := range []struct {
		name    string
		m       *machine
		blocks  int
		gate    compare.Gate
		tripped []string
		blind   []string
	}{
		{"new=same", plain, 16, compare.Gate{Limit: 0.03}, nil, nil},
		{"new=slow", slow, 12, compare.Gate{Limit: 0.03}, []string{"latency-mean", "throughput"}, nil},
		{"new=slow metrics=p99", slow, 12, compare.Gate{Limit: 0.03, Metrics: []string{"latency-p99"}}, []string{"latency-mean", "latency-p99", "throughput"}, nil},
		{"new=slow gate=20%", slow, 12, compare.Gate{Limit: 0.2}, nil, nil},
		{"new=fast", fast, 12, compare.Gate{Limit: 0.03}, nil, nil},
		{"new=large", large, 12, compare.Gate{Limit: 0.03}, []string{"proof"}, nil},
		{"new=small", small, 16, compare.Gate{Limit: 0.03}, nil, nil},
		{"new=slow processes=3", slow, 3, compare.Gate{Limit: 0.03}, nil, []string{"latency-mean", "throughput"}},
		{"new=slow noise=20%", noisy(6, 1.1, 0.2), 12, compare.Gate{Limit: 0.03}, nil, []string{"latency-mean", "throughput"}},
		{"new=fast noise=3%", noisy(7, 1/1.2, 0.03), 12, compare.Gate{Limit: 0.03}, nil, nil},
		{"new=slow noise=3% gate=20%", noisy(6, 1.1, 0.03), 16, compare.Gate{Limit: 0.2}, nil, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			tab := table(t, sessionOf(t, test.m, test.blocks))
			out := must.Get(test.gate.Apply(tab))(t)
			metrics := func(rows []compare.Row) (names []string) {
				for _, r := range rows {
					names = append(names, r.Metric)
				}
				return names
			}
			golden.Equal(t, "tripped", test.tripped, metrics(out.Tripped))
			golden.Equal(t, "blind", test.blind, metrics(out.Blind))
			for _, r := range tab.Rows {
				golden.Equal(t, r.Metric+" is marked as tripped", slices.Contains(test.tripped, r.Metric), r.Tripped)
			}
		})
	}
}

// TestGateOnly: one metric is held against the gate, an exact one with its limit too.
func TestGateOnly(t *testing.T) {
	large := newMachine(5, 1.1)
	large.proof = 1010
	for limit, want := range map[float64]int{0.005: 1, 0.03: 0} {
		out := must.Get(compare.Gate{Limit: limit, Only: "proof"}.Apply(table(t, sessionOf(t, large, 12))))(t)
		golden.Equal(t, fmt.Sprintf("rows beyond %v", limit), want, len(out.Tripped)+len(out.Blind))
	}
}

// TestGateMissesWhatIsLost: a case, or a metric that the gate would have held, that the new side lacks is
// no pass.
func TestGateMissesWhatIsLost(t *testing.T) {
	tab := table(t, sessionOf(t, newMachine(1, 1), 12))
	tab.Only = append(tab.Only, compare.Only{Side: stat.Old, Case: "bits=16"}, compare.Only{Side: stat.New, Case: "bits=8"}, compare.Only{Side: stat.Old, Case: "bits=32", Metric: "cpu"})
	out := must.Get(compare.Gate{Limit: 0.03}.Apply(tab))(t)
	if len(out.Lost) != 2 || out.Lost[0].Case != "bits=16" || out.Lost[1].Metric != "cpu" {
		t.Errorf("lost: %+v", out.Lost)
	}
	out = must.Get(compare.Gate{Limit: 0.03, Only: "proof"}.Apply(tab))(t)
	golden.Equal(t, "lost of a gate of another metric", 0, len(out.Lost))

	// An exact one, and one that the user named.
	const old, recent = "Unit steps assume=exact\nBenchmarkA 1 5 ns/op 7 steps 9 p99-ns\nBenchmarkB 1 5 ns/op 9 p99-ns\n", "BenchmarkA 1 5 ns/op\nBenchmarkB 1 5 ns/op 9 p99-ns\n"
	tab = table(t, outputs(t, 8, old, recent))
	out = must.Get(compare.Gate{Limit: 0.03, Metrics: []string{"p99-ns"}}.Apply(tab))(t)
	golden.Equal(t, "lost", "[only in old: A p99-ns only in old: A steps]", sortedText(out.Lost))
}

func sortedText(all []compare.Only) string {
	texts := make([]string, len(all))
	for i, o := range all {
		texts[i] = o.String()
	}
	slices.Sort(texts)
	return fmt.Sprint(texts)
}

// TestOldKind: what a figure is the old side says, and what is better; a growth does not pass because
// the new side says something else.
func TestOldKind(t *testing.T) {
	const old = "Unit steps assume=exact better=lower\nBenchmarkA 1 5 ns/op 300 steps\n"
	for _, units := range []string{"", "Unit steps better=higher\n", "Unit steps assume=nothing\n"} {
		tab := table(t, outputs(t, 8, old, units+"BenchmarkA 1 5 ns/op 1000 steps\n"))
		out := must.Get(compare.Gate{Limit: 0.03}.Apply(tab))(t)
		golden.Equal(t, units+": tripped", 1, len(out.Tripped))
	}
}

// TestExactHides: a figure that was to repeat, and did not, is judged like a time where it is for the
// worse, so that one process of the old side hides no growth.
func TestExactHides(t *testing.T) {
	blocks := func(n int, old func(i int) float64, recent float64) compare.Sides {
		var recs []*record.Record
		for i := range n {
			for side, v := range map[string]float64{"old": old(i), "new": recent, "again": old(i)} {
				rec := record.New()
				rec.Workload, rec.Process = "Sender", record.Process{Session: "s", Side: side, Index: i}
				rec.Metrics = []record.Metric{record.ProofSize.Metric(v)}
				recs = append(recs, rec)
			}
		}
		return must.Get(compare.Split("session", recs))(t)
	}
	outlier := func(i int) float64 {
		if i == 7 {
			return 100
		}
		return 3
	}
	for _, test := range []struct {
		n              int
		recent         float64
		tripped, blind int
	}{{24, 50, 1, 0}, {8, 50, 0, 1}, {24, 3, 0, 0}, {24, 2, 0, 0}} {
		out := must.Get(compare.Gate{Limit: 0.03}.Apply(table(t, blocks(test.n, outlier, test.recent))))(t)
		golden.Equal(t, fmt.Sprintf("tripped and blind of %+v", test), [2]int{test.tripped, test.blind}, [2]int{len(out.Tripped), len(out.Blind)})
	}
}

// TestFloorIsUsed: what the same program shows against itself is no change of another.
func TestFloorIsUsed(t *testing.T) {
	var recs []*record.Record
	for i := range 24 {
		for side, v := range map[string]string{"old": "100", "new": "110", "again": "120"} {
			rec := record.New()
			rec.Workload, rec.Output, rec.Process = "p", "BenchmarkA 1 "+v+" ns/op\n", record.Process{Session: "s", Side: side, Index: i}
			recs = append(recs, rec)
		}
	}
	r := row(t, table(t, must.Get(compare.Split("session", recs))(t)), "ns/op")
	golden.Equal(t, "verdict", compare.Same, r.Verdict)
	golden.Within(t, "floor", 0.19, r.Floor, 0.21)
}

// TestAllNew: where the old side has nothing there is nothing to hold, and the table says what is new.
func TestAllNew(t *testing.T) {
	all := outputs(t, 1, "BenchmarkA 1 5 ns/op\n", "BenchmarkA 1 5 ns/op\n")
	old := must.Get(compare.FromRecords("old", nil))(t)
	tab := table(t, compare.Sides{Old: old, New: all.New})
	out := must.Get(compare.Gate{Limit: 0.03}.Apply(tab))(t)
	golden.Equal(t, "rows, and what trips", [4]int{}, [4]int{len(tab.Rows), len(out.Tripped), len(out.Blind), len(out.Lost)})
	golden.Equal(t, "only", "[only in new: A]", sortedText(tab.Only))
}

func TestGateRefusesMetric(t *testing.T) {
	tab := table(t, sessionOf(t, newMachine(1, 1), 8))
	_, err := compare.Gate{Limit: 0.03, Metrics: []string{"latency-p42"}}.Apply(tab)
	must.Fail(t, err, zkbench.ErrParams, "gate")
	golden.Contains(t, fmt.Sprint(err), "latency-p99")
}

func TestParseLimit(t *testing.T) {
	for text, want := range map[string]float64{"3%": 0.03, "0.03": 0.03, "3 %": 0.03, "0": 0, "100%": 1, "0.5%": 0.005} {
		if got, err := compare.ParseLimit(text); err != nil || math.Abs(got-want) > 1e-15 {
			t.Errorf("limit=%s: %v, %v, want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "%", "x", "3", "-1%", "101%", "NaN", "Inf", "3%%"} {
		must.FailGet(compare.ParseLimit(text))(t, zkbench.ErrParams, "limit=%q", text)
	}
}

// TestAccepted: growth of an exact figure up to the value in the file passes with its reason.
func TestAccepted(t *testing.T) {
	m := newMachine(1, 1)
	m.proof = 1001
	for _, test := range []struct{ file, accepted string }{
		{"", ""},
		{"# metric case most reason\n\nproof Sender/* 1001 a  version\n", "a version"},
		{"proof Sender/bits=8 1001 exactly this case", "exactly this case"},
		{"proof * 2000 whatever", "whatever"},
		{"proof Sender/* 1000.5 less than it is\n", ""},
		{"proof Sender/ 1001 another case\nproof Sender/bits=8/more* 1001 another\nallocs * 9999 another metric", ""},
	} {
		accepted := must.Get(compare.ParseAcceptances([]byte(test.file)))(t)
		tab := table(t, sessionOf(t, m, 8))
		out := must.Get(compare.Gate{Limit: 0.5, Accepted: accepted}.Apply(tab))(t)
		r := row(t, tab, "proof")
		golden.Equal(t, test.file, test.accepted, r.Accepted)
		golden.Equal(t, test.file+": tripped", test.accepted == "", r.Tripped)
		golden.Equal(t, test.file+": tripped rows", test.accepted == "", len(out.Tripped) == 1)
		var b strings.Builder
		must.Do(t, tab.Text(&b, true, 0))
		golden.Equal(t, test.file+": in the text", test.accepted != "", strings.Contains(b.String(), "grew, accepted: "+test.accepted))
	}
	for file, place := range map[string]string{
		"proof * 5":                     "line 1",
		"\n# x\nproof * many because\n": "line 3",
		"proof * -1 because":            "line 1", "proof * NaN because": "line 1", "proof * Inf because": "line 1",
	} {
		_, err := compare.ParseAcceptances([]byte(file))
		must.Fail(t, err, zkbench.ErrMalformed, "%s", file)
		golden.Contains(t, err.Error(), place)
	}
}

func FuzzParseAcceptances(f *testing.F) {
	f.Add([]byte("# metric case most reason\nproof Sender/* 1001 a version\n"))
	f.Add(bytes.Repeat([]byte("x"), 1<<17))
	f.Fuzz(func(t *testing.T, data []byte) {
		all, err := compare.ParseAcceptances(data)
		if err != nil && !errors.Is(err, zkbench.ErrMalformed) {
			t.Errorf("untyped error %v", err)
		}
		for _, a := range all {
			if a.Metric == "" || a.Case == "" || a.Reason == "" || !(a.Most >= 0) {
				t.Errorf("%+v", a)
			}
		}
	})
}

// TestBudget: blocks are added to the job that is too noisy for the gate, until it is not or
// the time is over, and to no other; a job that fails twice ends alone.
func TestBudget(t *testing.T) {
	noisy, quiet, broken := newMachine(1, 1), newMachine(2, 1), 0
	noisy.noise = 0.05
	r := compare.Revisions{Measuring: compare.Measuring{Blocks: 16, Gate: &compare.Gate{Limit: 0.03}, Budget: time.Minute, Log: io.Discard}}
	count := func() map[string]int {
		t.Helper()
		processes := make(map[string]int)
		recs, err := r.Sessions(t.Context(), []string{"noisy", "broken", "quiet"}, func(ctx context.Context, side stat.Side, name string) *record.Record {
			rec := map[string]*machine{"noisy": noisy, "broken": quiet, "quiet": quiet}[name].run(ctx, side)
			if rec.Workload = name; name == "broken" {
				if broken++; broken > 7 {
					rec.Status = record.Failed
				}
			}
			return rec
		})
		if failed, ok := errors.AsType[*compare.FailedError](err); !ok || failed.Record.Workload != "broken" {
			t.Errorf("%v", err)
		}
		for _, rec := range recs {
			processes[rec.Workload]++
		}
		return processes
	}
	got := count()
	if got["quiet"] != 48 || got["broken"] != 7 || got["noisy"] < 3*50 || got["noisy"] > 3*400 || got["noisy"]%6 != 0 {
		t.Errorf("processes %v", got)
	}
	r.Budget = 0
	golden.Equal(t, "processes without a budget", map[string]int{"noisy": 48, "quiet": 48}, count())
	r.Budget, r.Gate = time.Minute, nil
	golden.Equal(t, "processes without a gate", map[string]int{"noisy": 48, "quiet": 48}, count())
}

// TestExact: ranges that do not meet are a growth, of one process too; those that meet are none
// where the median is for the better.
func TestExact(t *testing.T) {
	for _, test := range []struct {
		name     string
		old, new []float64
		want     compare.Verdict
		change   float64
	}{
		{"sides=equal", []float64{5, 5}, []float64{5}, compare.Equal, 0},
		{"sides=zero", []float64{0}, []float64{0}, compare.Equal, 0},
		{"new=greater", []float64{4}, []float64{5}, compare.Grew, 0.25},
		{"new=less", []float64{5, 5}, []float64{4, 4}, compare.Shrank, -0.2},
		{"new=overlaps", []float64{4, 6}, []float64{3, 5}, compare.Same, -0.2},
		{"new=touches", []float64{5, 6}, []float64{4, 5}, compare.Same, 4.5/5.5 - 1},
		{"old=zero", []float64{0}, []float64{1}, compare.Grew, math.Inf(1)},
	} {
		t.Run(test.name, func(t *testing.T) {
			set := func(name string, values []float64) *compare.Set {
				var recs []*record.Record
				for _, v := range values {
					rec := record.New()
					rec.Workload = "Sender"
					rec.Metrics = []record.Metric{record.ProofSize.Metric(v)}
					recs = append(recs, rec)
				}
				return must.Get(compare.FromRecords(name, recs))(t)
			}
			tab := table(t, compare.Sides{Old: set("old", test.old), New: set("new", test.new)})
			r := row(t, tab, "proof")
			if r.Verdict != test.want || math.Abs(r.Change-test.change) > 1e-12 && r.Change != test.change {
				t.Errorf("%s by %v, want %s by %v", r.Verdict, r.Change, test.want, test.change)
			}
			out := must.Get(compare.Gate{Limit: 0.5}.Apply(tab))(t)
			golden.Equal(t, "tripped", test.want == compare.Grew, len(out.Tripped) == 1)
			var b strings.Builder
			if err := tab.JSON(&b); err != nil || !json.Valid([]byte(b.String())) {
				t.Errorf("JSON: %v\n%s", err, &b)
			}
		})
	}
}

// TestSessionEnds: a process that fails twice and an interrupt end a session at once, with
// what was measured until then; one that fails once is run again in its place.
func TestSessionEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	fail := func(rec *record.Record) { rec.Status, rec.Error = record.Failed, "broken" }
	for _, test := range []struct {
		name  string
		fails map[int]func(rec *record.Record) // the how-manieth process, from 1 on
		ran   [3]int                           // records, processes, processes seen
		pairs int
		check func(error) bool
	}{
		{"by=failures", map[int]func(*record.Record){5: fail, 6: fail}, [3]int{4, 6, 6}, 1, func(err error) bool {
			failed, ok := errors.AsType[*compare.FailedError](err)
			return ok && failed.Record.Process.Side == string(stat.Schedule(4, 1)[4]) && failed.Record.Process.Index == 1
		}},
		{"by=deadlines", map[int]func(*record.Record){5: fail, 6: func(rec *record.Record) { rec.Status = record.Partial }}, [3]int{4, 6, 6}, 1, func(err error) bool {
			return errors.Is(err, zkbench.ErrEnv)
		}},
		{"by=nothing: each failed once", map[int]func(*record.Record){5: fail, 7: fail}, [3]int{12, 14, 14}, 4, func(err error) bool { return err == nil }},
		{"by=interrupt", map[int]func(*record.Record){5: func(rec *record.Record) { cancel(); rec.Status = record.Partial }}, [3]int{4, 5, 5}, 1, func(err error) bool {
			return errors.Is(err, context.Canceled)
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, n := newMachine(1, 1), 0
			var seen []*record.Record
			session := compare.Session{
				Seed: 1,
				Run: func(ctx context.Context, side stat.Side) *record.Record {
					rec := m.run(ctx, side)
					n++
					if fails := test.fails[n]; fails != nil {
						fails(rec)
					}
					return rec
				},
				Each: func(rec *record.Record) error { seen = append(seen, rec); return nil },
			}
			recs, err := session.Measure(ctx, 4)
			if !test.check(err) {
				t.Errorf("error %v", err)
			}
			golden.Equal(t, "records, processes, processes seen", test.ran, [3]int{len(recs), n, len(seen)})
			sides := must.Get(compare.Split("session", recs))(t)
			if r := row(t, table(t, sides), record.LatencyMean.Name()); r.N != test.pairs || r.Verdict != compare.Unknown {
				t.Errorf("%d pairs are %q, want %d without a verdict", r.N, r.Verdict, test.pairs)
			}
			// What was seen, in a file, shows as much, and says which failed for good.
			tab, err := compare.Compare(must.Get(compare.Split("file", seen))(t), false)
			unfit, _ := errors.AsType[*compare.UnfitError](err)
			if r := row(t, tab, record.LatencyMean.Name()); r.N != test.pairs || (unfit != nil) != (test.pairs == 1) || len(tab.Unfit) > 0 != (unfit != nil) {
				t.Errorf("from the file: %d pairs, %v, %q", r.N, err, tab.Unfit)
			}
		})
	}
	stop := errors.New("disk full")
	session := compare.Session{Run: newMachine(1, 1).run, Each: func(*record.Record) error { return stop }}
	must.FailGet(session.Measure(t.Context(), 1))(t, stop, "session")
}

// TestUnpaired: records of no common session are two samples.
func TestUnpaired(t *testing.T) {
	first, second := sessionOf(t, newMachine(1, 1), 8), sessionOf(t, newMachine(2, 1.2), 8)
	r := row(t, table(t, compare.Sides{Old: first.Old, New: second.New}), record.LatencyMean.Name())
	if r.Paired || r.N != 8 || r.Verdict != compare.Slower {
		t.Errorf("paired %v, %d processes, %q; want two samples of 8, slower", r.Paired, r.N, r.Verdict)
	}
	alone := first
	alone.Again = nil
	if r := row(t, table(t, alone), record.LatencyMean.Name()); !r.Paired || math.IsNaN(r.Floor) {
		t.Errorf("without the A/A side: paired %v, floor %v", r.Paired, r.Floor)
	}
}

// TestNoSession: records of no session are no pairs, whatever their index.
func TestNoSession(t *testing.T) {
	set := func(m *machine) *compare.Set {
		var recs []*record.Record
		for range 8 {
			recs = append(recs, m.run(t.Context(), stat.New))
		}
		return must.Get(compare.FromRecords("file", recs))(t)
	}
	r := row(t, table(t, compare.Sides{Old: set(newMachine(1, 1)), New: set(newMachine(2, 1.2))}), record.LatencyMean.Name())
	if r.Paired || r.N != 8 || r.Verdict != compare.Slower {
		t.Errorf("paired %v, %d processes, %q; want two samples of 8, slower", r.Paired, r.N, r.Verdict)
	}
}

// TestIncompleteBlock: a block that lacks one of its three processes counts for
// nothing, whichever it is.
func TestIncompleteBlock(t *testing.T) {
	for _, side := range []stat.Side{stat.Old, stat.New, stat.Again} {
		t.Run("lacks="+string(side), func(t *testing.T) {
			recs := must.Get((&compare.Session{Run: newMachine(1, 1.2).run, Seed: 1}).Measure(t.Context(), 9))(t)
			recs = slices.DeleteFunc(recs, func(rec *record.Record) bool {
				return rec.Process.Side == string(side) && rec.Process.Index == 4
			})
			sides := must.Get(compare.Split("session", recs))(t)
			if r := row(t, table(t, sides), record.LatencyMean.Name()); !r.Paired || r.N != 8 || r.Verdict != compare.Slower {
				t.Errorf("paired %v, %d processes, %q (%s); want 8 pairs, slower", r.Paired, r.N, r.Verdict, r.Why)
			}
		})
	}
}

func TestSplitRefuses(t *testing.T) {
	rec := newMachine(1, 1).run(t.Context(), stat.Old)
	must.FailGet(compare.Split("file", []*record.Record{rec}))(t, zkbench.ErrMalformed, "side=none")
	rec.Process = record.Process{Session: "s", Side: "old"}
	must.FailGet(compare.Split("file", []*record.Record{rec, rec}))(t, zkbench.ErrMalformed, "process=twice")
	other := newMachine(2, 1).run(t.Context(), stat.New)
	other.Process = record.Process{Session: "s", Side: "new"}
	both := must.Get(compare.FromRecords("both", []*record.Record{rec, other}))(t)
	if _, err := compare.Compare(compare.Sides{Old: both, New: both}, false); err == nil || !strings.Contains(err.Error(), "several sides (old, new)") {
		t.Errorf("file=two sides: %v", err)
	}
}

// TestSeveralHosts: processes of one session on several hosts are no set that is compared.
func TestSeveralHosts(t *testing.T) {
	rec, other := newMachine(1, 1).run(t.Context(), stat.Old), newMachine(2, 1).run(t.Context(), stat.Old)
	rec.Process, other.Process = record.Process{Session: "s"}, record.Process{Session: "s"}
	rec.Env.Host, other.Env.Host = "a", "b"
	both := must.Get(compare.FromRecords("both", []*record.Record{rec, other}))(t)
	if _, err := compare.Compare(compare.Sides{Old: both, New: both}, true); err == nil || !strings.Contains(err.Error(), "several hosts (a, b); accepted: one host in each file") {
		t.Errorf("%v", err)
	}
}

// TestText is the whole table, with figures that do not vary.
func TestText(t *testing.T) {
	m := newMachine(1, 1.25)
	m.noise, m.drift, m.proof = 0, 0, 1001
	tab := table(t, sessionOf(t, m, 8))
	tab.Partial = "interrupted: 24 of 36 processes measured"
	must.Get((compare.Gate{Limit: 0.03}).Apply(tab))(t)
	tab.Only = append(tab.Only, compare.Only{Side: stat.New, Case: "Issuer/bits=8", Metric: "proof"})
	const want = `4 of 4 figures changed, 3 beyond the gate of 3 %: Sender/bits=8 latency-mean is 25.0 % slower; Sender/bits=8 throughput fell by 20.0 %; Sender/bits=8 proof grew by 0.10 %; and 1 more.
PARTIAL: interrupted: 24 of 36 processes measured

  metric        old           new           change   99 % interval         floor   sees    n  verdict
Sender/bits=8
  latency-mean  100.0µs       125.0µs       +25.0 %  +25.0 % to +25.0 %    0.00 %  0.00 %  8  slower, beyond the gate
  throughput    10.00k ops/s  8.000k ops/s  -20.0 %  -20.0 % to -20.0 %    0.00 %  0.00 %  8  slower, beyond the gate
  proof         1000 B/proof  1001 B/proof  +0.10 %  -                     -       -       8  grew, beyond the gate
  latency-p99   200.0µs       250.0µs       +25.0 %  +25.0 % to +25.0 %    0.00 %  0.00 %  8  slower
only in new: Issuer/bits=8 proof
old: session (old), 8 processes
new: session (new), 8 processes
versions: commit: commit of old / commit of new
3 rows are judged at 99 % each: if nothing has changed, expect up to 0.03 wrong verdicts
gate: 3 %
`
	var b strings.Builder
	must.Do(t, tab.Text(&b, true, 0))
	squeeze := func(s string) string { // widths are the writer's business
		var lines []string
		for line := range strings.Lines(s) {
			lines = append(lines, strings.Join(strings.Fields(line), " "))
		}
		return strings.Join(lines, "\n")
	}
	golden.Equal(t, "text", squeeze(want), squeeze(b.String()))
	starts := make(map[int]bool)
	for line := range strings.Lines(b.String()) {
		if i := strings.Index(line, "  8  "); i >= 0 {
			starts[len([]rune(line[:i]))] = true
		}
	}
	golden.Equal(t, "columns of n", 1, len(starts))
}

// TestFormsAgree: every form has each row's case, metric and verdict.
func TestFormsAgree(t *testing.T) {
	tab := table(t, sessionOf(t, newMachine(1, 1.2), 8))
	tab.Unlike = []string{"cores: 2 / 4"}
	for name, write := range map[string]func(*strings.Builder) error{
		"text":     func(b *strings.Builder) error { return tab.Text(b, true, 0) },
		"markdown": func(b *strings.Builder) error { return tab.Markdown(b) },
		"csv":      func(b *strings.Builder) error { return tab.CSV(b) },
		"json":     func(b *strings.Builder) error { return tab.JSON(b) },
	} {
		t.Run("form="+name, func(t *testing.T) {
			var b strings.Builder
			must.Do(t, write(&b))
			golden.Contains(t, b.String(), "Sender/bits=8", "latency-mean", "latency-p99", "throughput", "proof", "slower", "cores: 2 / 4")
			if strings.Contains(b.String(), "latency-max") {
				t.Error("a timed metric that is not compared has a row")
			}
		})
	}
}

func ExampleRow_Name() {
	r := compare.Row{Metric: "latency-mean"}
	r.Change = 0.0412
	fmt.Println(r.Name())
	// Output: latency-mean +4.12 %
}
