package selfcheck

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/workload/selfcheck"
)

// simulated runs no process. The mean latency is the planted work to the power of feels, with the
// given noise.
func simulated(seed uint64, feels, noise float64) func(context.Context, measure.Job) *record.Record {
	rng := rand.New(rand.NewPCG(seed, 0))
	return func(_ context.Context, job measure.Job) *record.Record {
		work, err := job.Case.Int(selfcheck.AxisKey)
		if err != nil {
			panic(err)
		}
		latency := 2e5 * math.Pow(float64(work)/plain, feels) * math.Exp(noise*rng.NormFloat64())
		rec := record.New()
		rec.Workload, rec.Case = job.Workload, job.Case.String()+"/workers="+strconv.Itoa(job.Settings.Workers)
		rec.Metrics = []record.Metric{record.LatencyMean.Metric(latency), record.Throughput.Metric(1e9 / latency)}
		return rec
	}
}

// TestCheck: the bounds hold for processes that do what they are told, quiet and noisy, and
// are missed by processes on which planting has no effect. A place in the blocks that is slower
// than the others favours no side, because the order of the sides is drawn.
func TestCheck(t *testing.T) {
	second := 0
	for _, test := range []struct {
		name   string
		load   bool
		budget time.Duration
		run    func(context.Context, measure.Job) *record.Record
		want   []string
	}{
		{"processes=honest", false, time.Minute, simulated(1, 1, 0.008), nil},
		{"processes=honest noise=20%", true, 0, simulated(2, 1, 0.2), nil},
		{"processes=blind", false, time.Minute, simulated(1, 0, 0.008), []string{"planted 3 %: ", "planted 6 %: 0 of 10 beyond the gate, at least 9 needed", "planted 10 %: 40 of 40 passed, at most 0 needed"}},
		{"processes=slow second place", false, time.Minute, func(ctx context.Context, job measure.Job) *record.Record {
			rec := simulated(uint64(second), 1, 0.008)(ctx, job)
			if second++; second%3 == 2 {
				rec.Metrics[0].Value *= 1.02
			}
			return rec
		}, nil},
	} {
		t.Run(test.name, func(t *testing.T) {
			var out, log strings.Builder
			check := Check{Trials: Trials(test.load, false), Budget: test.budget, Seed: 1, Run: test.run, Log: &log}
			result := must.Get(check.Measure(t.Context()))(t)
			missed := strings.Join(result.Missed(), "; ")
			if (missed != "") != (len(test.want) > 0) {
				t.Errorf("missed %s", missed)
			}
			golden.Contains(t, missed, test.want...)
			must.Do(t, result.Text(&out))
			golden.Equal(t, "marks", len(result.Missed()), strings.Count(out.String(), ": MISSED"))
			golden.Contains(t, out.String(), "planted 0 % ", "planted 10 %", "between processes of one program: standard deviation ")
			sessions := 0
			for _, trial := range result.Trials {
				sessions += len(trial.Sessions)
			}
			golden.Equal(t, "lines of progress", sessions, strings.Count(log.String(), "\n"))
			out.Reset()
			must.Do(t, result.JSON(&out))
			var read Result
			must.Do(t, json.Unmarshal([]byte(out.String()), &read))
			golden.Equal(t, "what JSON says", result, &read)
		})
	}
}

// TestCheckLoad: the first line of a result says what its processes saw of other load.
func TestCheckLoad(t *testing.T) {
	finding := record.Finding{Name: record.Disturbed, Text: "other processes used 48.0 % of the processors' time"}
	for _, test := range []struct {
		name     string
		load     bool
		counted  bool
		findings []record.Finding
		want     string
	}{
		{"quiet", false, true, nil, "no load was added, and no process was disturbed"},
		{"busy", false, true, []record.Finding{finding}, "no load was added; 1 of 1 processes were disturbed: " + finding.Text},
		{"silent", false, false, nil, "no load was added; this platform does not report what else ran"},
		{"loaded", true, true, []record.Finding{finding}, "under load: every processor is kept busy half of the time; 1 of 1 processes were disturbed: " + finding.Text},
	} {
		t.Run(test.name, func(t *testing.T) {
			run := simulated(1, 1, 0.008)
			check := Check{Trials: []Trial{{0, 1, nil}}, Load: test.load, Log: io.Discard, Run: func(ctx context.Context, job measure.Job) *record.Record {
				rec := run(ctx, job)
				rec.Findings = test.findings
				if test.counted {
					rec.Metrics = append(rec.Metrics, record.OthersShare.Metric(1))
				}
				return rec
			}}
			var out strings.Builder
			result := must.Get(check.Measure(t.Context()))(t)
			must.Do(t, result.Text(&out))
			first, _, _ := strings.Cut(out.String(), "\n")
			_, load, _ := strings.Cut(first, "; ")
			n := fmt.Sprint(result.Trials[0].Sessions[0].Processes)
			golden.Equal(t, "load", strings.Replace(test.want, "1 of 1", n+" of "+n, 1), load)
		})
	}
}

func TestCheckEnds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	run, n := simulated(1, 1, 0.008), 0
	check := Check{Trials: Trials(false, false), Log: io.Discard, Run: func(ctx context.Context, job measure.Job) *record.Record {
		if n++; n == 100 {
			cancel()
		}
		return run(ctx, job)
	}}
	_, err := check.Measure(ctx)
	must.Fail(t, err, context.Canceled, "an interrupt")
	golden.Contains(t, err.Error(), "session 2 of 40 of planted 0 %")
	check.Run = func(ctx context.Context, job measure.Job) *record.Record {
		rec := run(ctx, job)
		rec.Status, rec.Error = record.Failed, "broken"
		return rec
	}
	_, err = check.Measure(t.Context())
	golden.Contains(t, fmt.Sprint(err), "broken")
	full := errors.New("disk full")
	check.Keep = func(*record.Record) error { return full }
	must.FailGet(check.Measure(t.Context()))(t, full, "a record that is not kept")
}

// TestBurn: the load ends when it is told to.
func TestBurn(t *testing.T) {
	stop := burn()
	time.Sleep(time.Millisecond)
	stop()
}
