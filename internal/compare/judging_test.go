package compare_test

import (
	"bytes"
	"context"
	"slices"
	"strings"
	"testing"
	"time"

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
			if looks := stat.Looks(r.Plan); !slices.Contains(looks, pairs) || looks[0] != test.blocks {
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
			golden.Contains(t, text.String(), "gate: 3 %; planned at most ", " pairs, judged after 24, ")
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
	hopeless.noise = 3
	recs, log := judged(t, hopeless, 24, time.Minute)
	golden.Equal(t, "processes", 3*24, len(recs))
	golden.Contains(t, log, "too noisy for 3 % in the 60.00s of the budget: Sender/bits=8 latency-mean; Sender/bits=8 throughput")
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
}
