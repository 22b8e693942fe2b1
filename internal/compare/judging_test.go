package compare_test

import (
	"bytes"
	"context"
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

// judged returns the records of a session with a gate of 3 % and what it logged.
func judged(t *testing.T, m *machine, blocks int, budget time.Duration) ([]*record.Record, string) {
	t.Helper()
	var log strings.Builder
	session := compare.Session{Run: m.run, Seed: 1}
	recs := must.Get(session.Judge(t.Context(), compare.Judging{
		Blocks: blocks, Gate: compare.Gate{Limit: 0.03}, Budget: budget, Log: func(text string) { log.WriteString(text + "\n") },
	}))(t)
	return recs, log.String()
}

// TestJudge: a quiet session is judged once, a noisy one is planned and ends at a look, and what it decides is
// what its records say when they are read again.
func TestJudge(t *testing.T) {
	for _, test := range []struct {
		name          string
		noise, factor float64
		blocks        int
		least, most   int // blocks
		plan          bool
		verdict       compare.Verdict
		tripped       bool
	}{
		{name: "quiet", noise: 0.005, factor: 1, blocks: 24, least: 24, most: 24, verdict: compare.Same},
		{name: "noisy", noise: 0.05, factor: 1, blocks: 24, least: 24, most: 300, plan: true, verdict: compare.Same},
		{name: "noisy and slower", noise: 0.03, factor: 1.1, blocks: 24, least: 24, most: 100, plan: true, verdict: compare.Slower, tripped: true},
		{name: "noisy and faster", noise: 0.03, factor: 0.9, blocks: 24, least: 24, most: 100, plan: true, verdict: compare.Faster},
		{name: "few", noise: 0.005, factor: 1, blocks: 2, least: 8, most: 8, verdict: compare.Same},
		{name: "odd", noise: 0.005, factor: 1, blocks: 25, least: 25, most: 25, verdict: compare.Same},
		{name: "few and noisy", noise: 0.05, factor: 1, blocks: 8, least: 14, most: 500, plan: true, verdict: compare.Same},
		{name: "very noisy", noise: 0.1, factor: 1, blocks: 24, least: 40, most: 1500, plan: true, verdict: compare.Same},
	} {
		t.Run(test.name, func(t *testing.T) {
			m := newMachine(3, test.factor)
			m.noise, m.drift = test.noise, 0
			recs, log := judged(t, m, test.blocks, time.Minute)
			pairs := len(recs) / 3
			golden.Within(t, "blocks", test.least, pairs, test.most)
			tab := table(t, must.Get(compare.Split("session", recs))(t))
			outcome := must.Get(compare.Gate{Limit: 0.03}.Apply(tab))(t)
			golden.Equal(t, "undecided", 0, len(outcome.Blind))
			r := row(t, tab, record.LatencyMean.Name())
			golden.Equal(t, "verdict", test.verdict, r.Verdict)
			golden.Equal(t, "beyond the gate", test.tripped, r.Tripped)
			golden.Within(t, "confidence", compare.Confidence, r.Confidence, 0.995)
			golden.Equal(t, "planned", test.plan, strings.HasPrefix(log, "planned for a change of 4.50 %: at most "))
			if !test.plan {
				golden.Equal(t, "plan", record.Plan{}, r.Plan)
				return
			}
			if looks := stat.Looks(r.Plan); !slices.Contains(looks, pairs) || looks[0] != max(test.blocks, 14) {
				t.Errorf("it ended after %d pairs, planned are %v", pairs, looks)
			}
			var kept, text, data bytes.Buffer
			for _, rec := range recs {
				must.Do(t, record.Write(&kept, rec))
				rec.Process.Plan = record.Plan{}
			}
			again := table(t, must.Get(compare.Split("session", must.Get(record.ReadAll(&kept))(t)))(t))
			golden.Equal(t, "interval read again", [2]float64{r.Low, r.High}, [2]float64{row(t, again, r.Metric).Low, row(t, again, r.Metric).High})
			alone := row(t, table(t, must.Get(compare.Split("session", recs))(t)), r.Metric)
			if !(r.High-r.Low > 1.03*(alone.High-alone.Low)) {
				t.Errorf("the interval of several looks, %v to %v, is not wider than that of one, %v to %v", r.Low, r.High, alone.Low, alone.High)
			}
			must.Do(t, tab.Text(&text, true, 0))
			golden.Contains(t, text.String(), "gate: 3 %; planned at most ", " pairs, judged after ")
			must.Do(t, tab.JSON(&data))
			if strings.Contains(data.String(), `"p":`) {
				t.Errorf("a p-value for one look, of several looks")
			}
		})
	}
}

// TestJudgeEnds: a figure that no budget would decide does not prolong a session, a session without time ends after its
// first blocks, and a plan fits the time.
func TestJudgeEnds(t *testing.T) {
	hopeless := newMachine(1, 1)
	hopeless.noise = 40
	recs, log := judged(t, hopeless, 24, time.Minute)
	golden.Equal(t, "processes", 3*24, len(recs))
	golden.Contains(t, log, "too noisy to show even a figure that doubled, in 2000 pairs: Sender/bits=8 latency-mean; Sender/bits=8 throughput")
	tab := table(t, must.Get(compare.Split("session", recs))(t))
	golden.Equal(t, "blind", 2, len(must.Get(compare.Gate{Limit: 0.03}.Apply(tab))(t).Blind))
	golden.Contains(t, tab.Answer(), "2 figures could be worse by 3 % or more, too uncertain for the gate: Sender/bits=8 latency-mean; Sender/bits=8 throughput.")

	recs, log = judged(t, hopeless, 2, 0)
	golden.Equal(t, "processes without a budget", 6, len(recs))
	golden.Equal(t, "log without a budget", "", log)

	slow := newMachine(1, 1)
	slow.noise = 0.05
	session := compare.Session{Seed: 1, Run: func(ctx context.Context, side stat.Side) *record.Record {
		time.Sleep(time.Millisecond)
		return slow.run(ctx, side)
	}}
	begin := time.Now()
	recs = must.Get(session.Judge(t.Context(), compare.Judging{Blocks: 24, Gate: compare.Gate{Limit: 0.005}, Budget: 200 * time.Millisecond, Log: func(string) {}}))(t)
	golden.Within(t, "blocks in time", 24, len(recs)/3, 70)
	golden.Within(t, "time", 72*time.Millisecond, time.Since(begin), 10*time.Second)
}

// TestJudgeHopeless: a figure that is too noisy does not keep others going on, and they do not end for it.
func TestJudgeHopeless(t *testing.T) {
	m := newMachine(5, 1)
	m.noise, m.drift = 0.05, 0
	noise := rand.New(rand.NewPCG(9, 9))
	session := compare.Session{Seed: 1, Run: func(ctx context.Context, side stat.Side) *record.Record {
		rec := m.run(ctx, side)
		for i, q := range rec.Metrics {
			if q.Name() == record.Throughput.Name() {
				rec.Metrics[i].Value *= math.Exp(40 * noise.NormFloat64())
			}
		}
		return rec
	}}
	recs := must.Get(session.Judge(t.Context(), compare.Judging{Blocks: 24, Gate: compare.Gate{Limit: 0.03}, Budget: time.Minute, Log: func(string) {}}))(t)
	tab := table(t, must.Get(compare.Split("session", recs))(t))
	outcome := must.Get(compare.Gate{Limit: 0.03}.Apply(tab))(t)
	golden.Equal(t, "blind", 1, len(outcome.Blind))
	golden.Equal(t, "the blind one", record.Throughput.Name(), outcome.Blind[0].Metric)
	r := row(t, tab, record.LatencyMean.Name())
	if looks := stat.Looks(r.Plan); len(looks) < 3 || len(recs)/3 <= 24 || len(recs)/3 == r.Plan.Most {
		t.Errorf("it ended after %d pairs, planned are %v", len(recs)/3, looks)
	}
}

// TestBudgetIsShared: what quiet cases leave of the budget goes to the noisy one, also if that is the first.
func TestBudgetIsShared(t *testing.T) {
	noisy, quiet := newMachine(1, 1), newMachine(2, 1)
	noisy.noise, quiet.noise = 0.06, 0.002
	r := compare.Revisions{Measuring: compare.Measuring{Blocks: 24, Gate: &compare.Gate{Limit: 0.03}, Budget: 2 * time.Second, Log: io.Discard}}
	names := []string{"noisy", "a", "b", "c", "d", "e", "f", "g"}
	recs := must.Get(r.Sessions(t.Context(), names, func(ctx context.Context, side stat.Side, name string) *record.Record {
		m := quiet
		if name == "noisy" {
			m = noisy
			time.Sleep(time.Millisecond)
		}
		rec := m.run(ctx, side)
		rec.Workload = name
		return rec
	}))(t)
	tab := table(t, must.Get(compare.Split("session", recs))(t))
	golden.Equal(t, "undecided", 0, len(must.Get(compare.Gate{Limit: 0.03}.Apply(tab))(t).Blind))
}

// TestPlanOfAStranger: a plan that no session can have changes nothing, and does not hide a process that occurs twice.
func TestPlanOfAStranger(t *testing.T) {
	recs := must.Get((&compare.Session{Run: newMachine(1, 1).run, Seed: 1}).Measure(t.Context(), 24))(t)
	want := row(t, table(t, must.Get(compare.Split("session", recs))(t)), record.LatencyMean.Name())
	for _, plan := range []record.Plan{{First: 0, Most: 5}, {First: 24, Most: 24}, {First: 30, Most: 24}, {First: -1, Most: 3}, {First: 24, Most: math.MaxInt}, {First: 24, Most: 1 << 62}} {
		for _, rec := range recs {
			rec.Process.Plan = plan
		}
		tab := table(t, must.Get(compare.Split("session", recs))(t))
		must.Get(compare.Gate{Limit: 0.03}.Apply(tab))(t)
		r := row(t, tab, want.Metric)
		golden.Equal(t, "interval", [2]float64{want.Low, want.High}, [2]float64{r.Low, r.High})
		must.Do(t, tab.Text(io.Discard, true, 0))
	}
	again := *recs[0]
	again.Process.Plan = record.Plan{First: 24, Most: 96}
	must.FailGet(compare.Split("session", append(recs, &again)))(t, zkbench.ErrMalformed, "a process that occurs twice")
}

// TestAnswerOfGate: with a gate, the first sentence is about the gate.
func TestAnswerOfGate(t *testing.T) {
	for _, test := range []struct {
		factor, noise float64
		want          string
	}{
		{1, 0.005, "No figure got worse by 3 % or more, of the 3 that the gate judges."},
		{1.02, 0.002, "3 of 4 figures changed, none fails the gate of 3 %: "},
		{1.2, 0.005, "3 of 4 figures changed, 2 beyond the gate of 3 %: "},
	} {
		m := newMachine(1, test.factor)
		m.noise, m.drift = test.noise, 0
		recs, _ := judged(t, m, 24, time.Minute)
		tab := table(t, must.Get(compare.Split("session", recs))(t))
		must.Get(compare.Gate{Limit: 0.03}.Apply(tab))(t)
		if got := tab.Answer(); !strings.HasPrefix(got, test.want) {
			t.Errorf("factor %v: %s", test.factor, got)
		}
	}
	m := newMachine(1, 1)
	m.noise, m.drift = 0.005, 0
	sides := sessionOf(t, m, 24)
	tab := table(t, sides)
	tab.Partial = "interrupted"
	must.Get(compare.Gate{Limit: 0.03}.Apply(tab))(t)
	golden.Equal(t, "answer of a part", "Of what could be compared: no figure got worse by 3 % or more, of the 3 that the gate judges.", tab.Answer())
	tab = table(t, sides)
	must.Get(compare.Gate{Limit: 0, AllowBlind: true, Only: record.ProofSize.Name()}.Apply(tab))(t)
	golden.Contains(t, tab.Answer(), "No figure got worse, of the ")
	near := row(t, tab, record.LatencyMean.Name())
	near.Effect = stat.Effect{Change: 0.0268, Low: 0.0159, High: 0.0377, Confidence: 0.99}
	near.Floor = 0.0295
	straddles := &compare.Table{Rows: []compare.Row{near}}
	must.Get(compare.Gate{Limit: 0.03}.Apply(straddles))(t)
	golden.Equal(t, "answer of a row beside the gate", "No figure is shown to be worse by 3 % or more, of the 1 that the gate judges.", straddles.Answer())
}
