package runner_test

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

func TestParseThreshold(t *testing.T) {
	for text, want := range map[string]string{
		"p99>50ms": "latency-p99>50ms", "max > 1s": "latency-max>1s", "response-p99.9>1ms": "response-p99.9>1ms",
		"throughput<100": "throughput<100", "gc-cpu>5%": "gc-cpu>5%", "allocs>0": "allocs>0",
	} {
		threshold := must.Get(runner.ParseThreshold(text, false))(t)
		golden.Equal(t, "threshold "+text, want, threshold.String())
		data := must.Get(json.Marshal([]runner.Threshold{threshold}))(t)
		var read []runner.Threshold
		must.Do(t, json.Unmarshal(data, &read))
		golden.Equal(t, "the same when it is read", true, threshold == read[0])
	}
	golden.Equal(t, "in an open loop", "response-p99>50ms", must.Get(runner.ParseThreshold("p99>50ms", true))(t).String())
	for _, bad := range []string{"", "p99", "p99=50ms", "p42>1ms", "p99>", "p99>50", "throughput<fast", "throughput<NaN", ">1ms"} {
		must.FailGet(runner.ParseThreshold(bad, false))(t, zkbench.ErrParams, "%q", bad)
	}
	above, below := must.Get(runner.ParseThreshold("p99>1us", false))(t), must.Get(runner.ParseThreshold("throughput<5", false))(t)
	golden.Equal(t, "1000, 1001, 5 and 4", [4]bool{false, true, false, true},
		[4]bool{above.Passed(1000), above.Passed(1001), below.Passed(5), below.Passed(4)})
}

// TestHopeless: a window ends when its percentile cannot be saved, not before, and not where
// it can.
func TestHopeless(t *testing.T) {
	slowUntil := func(n uint64) target { // 20 ms each, then 10 ms
		return target{run: func(_ context.Context, input any) ([]byte, error) {
			if time.Sleep(10 * time.Millisecond); input.(uint64) < n {
				time.Sleep(10 * time.Millisecond)
			}
			return nil, nil
		}}
	}
	failIf := func(text string) []runner.Threshold {
		return []runner.Threshold{must.Get(runner.ParseThreshold(text, false))(t)}
	}
	for _, test := range []struct {
		name   string
		slow   uint64
		failIf string
		end    time.Duration // of the window; 0: its whole length
	}{
		{"all slow", 1 << 20, "p99>15ms", time.Second},
		{"none slow", 0, "p99>15ms", 0},
		// Of 50 in the first second, 100 in each other one, 49 s: 1 % of them are about 50.
		{"too few", 20, "p99>15ms", 0},
		{"one, of the maximum", 1, "max>15ms", time.Second},
		{"a mean", 1 << 20, "mean>15ms", 0}, // which is judged at the end
	} {
		t.Run(test.name, func(t *testing.T) {
			res, _ := run(t, runner.Config{Workers: 1, Duration: 50 * time.Second, Samples: 1 << 16, Check: none, FailIf: failIf(test.failIf)}, slowUntil(test.slow))
			want := test.end
			if want == 0 {
				want = 50 * time.Second
			}
			golden.Near(t, "window", float64(want), float64(res.Window), 0.05)
			golden.Equal(t, "a finding says so", test.end > 0, hasFinding(fill(t, res), "threshold", "whatever follows"))
		})
	}
	t.Run("faster later", func(t *testing.T) { // 40 of the first 204 are slow, of 8,300 in all
		res, _ := run(t, runner.Config{Workers: 1, Duration: 10 * time.Second, Samples: 1 << 16, Check: none, FailIf: failIf("p99>15ms")},
			target{run: func(_ context.Context, input any) ([]byte, error) {
				if time.Sleep(time.Millisecond); input.(uint64) < 40 {
					time.Sleep(19 * time.Millisecond)
				}
				return nil, nil
			}})
		golden.Near(t, "window", 1e10, float64(res.Window), 0.01)
	})
	t.Run("of a count", func(t *testing.T) { // 6 of 500 are more than 1 %, of whatever length
		res, _ := run(t, runner.Config{Workers: 1, Count: 500, Samples: 500, Check: none, FailIf: failIf("p99>15ms")}, slowUntil(100))
		golden.Near(t, "window", 1e9, float64(res.Window), 0.05)
	})
}

// TestBeyond: of response times what was not answered is beyond, and so is what ended a window.
func TestBeyond(t *testing.T) {
	at := func(text string) runner.Threshold { return must.Get(runner.ParseThreshold(text, true))(t) }
	res, _ := run(t, runner.Config{
		Workers: 1, Arrivals: arrivals(runner.Constant, 1000), Queue: 1, Duration: time.Second, Samples: 1, Check: none,
	}, target{run: func(context.Context, any) ([]byte, error) { time.Sleep(10 * time.Millisecond); return nil, nil }})
	rec := fill(t, res)
	for text, want := range map[string][2]bool{
		"p99>1m": {true, true}, "latency-p99>1m": {false, false}, "latency-p99>1ms": {true, true}, "latency-p95>1m": {false, false}, "latency-p50>1m": {false, true}, "throughput<50": {false, true}, "throughput<500": {true, true}, "p99.9>1m": {true, true}, "capacity<1": {false, false},
	} {
		beyond, known := at(text).Beyond(rec)
		golden.Equal(t, text+": beyond, known", want, [2]bool{beyond, known})
	}
	stopped, _ := run(t, runner.Config{Workers: 1, Duration: 20 * time.Second, Samples: 1, Check: none, FailIf: []runner.Threshold{at("latency-p99.9>1us")}},
		target{run: func(context.Context, any) ([]byte, error) { time.Sleep(10 * time.Millisecond); return nil, nil }})
	beyond, known := at("latency-p99.9>1us").Beyond(fill(t, stopped))
	golden.Equal(t, "a percentile that so few cannot carry", [2]bool{true, true}, [2]bool{beyond, known})
}

// TestPercentilesOfFew: a window has the percentiles that its operations carry, and no others.
func TestPercentilesOfFew(t *testing.T) {
	all := []record.Quantity{record.LatencyP50, record.LatencyP95, record.LatencyP99, record.LatencyP999, record.ResponseP50, record.ResponseP95, record.ResponseP99, record.WaitP99}
	for _, test := range []struct {
		count               uint64
		p95, p99, p999      bool
		few95, few99, few50 bool
	}{
		{1, false, false, false, true, true, true},
		{19, false, false, false, true, true, true},
		{20, true, false, false, true, true, false},
		{99, true, false, false, true, true, false},
		{100, true, true, false, true, true, false},
		{199, true, true, false, true, true, false},
		{200, true, true, false, false, true, false},
		{1000, true, true, true, false, false, false},
	} {
		for _, open := range []bool{false, true} {
			cfg := runner.Config{Workers: 1, Count: test.count, Samples: 1, Check: none, Grace: time.Second}
			if open {
				cfg.Arrivals, cfg.Queue, cfg.Duration = arrivals(runner.Constant, 100), 1, time.Minute
			}
			res, _ := run(t, cfg, target{run: func(context.Context, any) ([]byte, error) { time.Sleep(time.Millisecond); return nil, nil }})
			rec := fill(t, res)
			golden.Equal(t, "operations", test.count, rec.Count(record.CountDone))
			for _, q := range all {
				histogram, p, _ := q.Percentile()
				want, few := true, test.few50
				switch p {
				case 95:
					want, few = test.p95, test.few95
				case 99:
					want, few = test.p99, test.few99
				case 99.9:
					want, few = test.p999, true
				}
				_, has := rec.Metric(q)
				if histogram != record.HistLatency && !open {
					golden.Equal(t, q.String()+" of a closed loop", false, has)
					continue
				}
				golden.Equal(t, fmt.Sprintf("%s of %d operations, and few", q, test.count), [2]bool{want, few}, [2]bool{has, rec.Few(q)})
			}
		}
	}
}

// TestRangeIsNoPercentile: a bound of the interquartile range is not one of the latency, and few
// operations have none that is judged.
func TestRangeIsNoPercentile(t *testing.T) {
	for count, want := range map[uint64][2]bool{20: {false, false}, 80: {false, true}} {
		bound := must.Get(runner.ParseThreshold("latency-iqr>1ms", false))(t)
		res, _ := run(t, runner.Config{Workers: 1, Count: count, Duration: time.Minute, Samples: 1, Check: none, FailIf: []runner.Threshold{bound}},
			target{run: func(context.Context, any) ([]byte, error) { time.Sleep(100 * time.Millisecond); return nil, nil }})
		golden.Equal(t, "operations: the window was not cut", count, res.Done)
		beyond, known := bound.Beyond(fill(t, res))
		golden.Equal(t, fmt.Sprintf("of %d equal operations: beyond, known", count), want, [2]bool{beyond, known})
	}
}

// TestWatch: what is told of the window as it goes on is what comes out of it.
func TestWatch(t *testing.T) {
	var seen []runner.Progress
	res, _ := run(t, runner.Config{
		Workers: 1, Arrivals: arrivals(runner.Constant, 200), Queue: 100, Duration: 5 * time.Second, Samples: 1, Check: none,
		Watch: func(p runner.Progress) { seen = append(seen, p) },
	}, target{run: func(context.Context, any) ([]byte, error) { time.Sleep(10 * time.Millisecond); return nil, nil }})
	golden.Equal(t, "times", 5, len(seen))
	for i, p := range seen {
		golden.Near(t, "age", float64(i+1), p.Age.Seconds(), 0.02)
		golden.Near(t, "done", float64(100*(i+1)), float64(p.Done), 0.02)
		golden.Equal(t, "latencies", p.Done, p.Latency.N)
		golden.Near(t, "sum of the latencies", float64(p.Done)*0.01, p.Latency.Sum.Seconds(), 0.01)
		for k, bound := range runner.SpreadBounds() {
			want := uint64(0)
			if bound > 10*time.Millisecond {
				want = p.Done
			}
			golden.Equal(t, "up to "+bound.String(), want, p.Latency.UpTo[k])
		}
	}
	last := seen[len(seen)-1]
	golden.Equal(t, "offered and dropped", [2]uint64{res.Offered, res.Dropped}, [2]uint64{last.Offered, last.Dropped})
	if last.Backlog < 90 || last.Dropped == 0 || last.Response.N != last.Done {
		t.Errorf("the last: %+v", last)
	}
}

// TestStarts: workers that are awake start on time, on a processor that is free, and say what
// it costs.
func TestStarts(t *testing.T) {
	late := func(starts runner.Starts) (rec *record.Record) {
		res := must.Get(runner.Run(t.Context(), runner.Config{
			Workers: 1, Arrivals: arrivals(runner.Constant, 200), Starts: starts, Queue: 10, Duration: 500 * time.Millisecond, Samples: 1, Check: none,
		}, target{run: func(context.Context, any) ([]byte, error) { return nil, nil }}))(t)
		return fill(t, res)
	}
	spin := late(runner.StartsSpin)
	if at, awake := spin.Value(record.StartLate), spin.Value(record.StartSpin); at <= 0 || awake <= 0 || awake > 100 {
		t.Errorf("late by %v ns, awake for %v %%", at, awake)
	}
	if timer := late(runner.StartsTimer); timer.Value(record.StartLate) <= 0 || timer.Value(record.StartSpin) != 0 {
		t.Errorf("by the timer: late by %v ns, awake for %v %%", timer.Value(record.StartLate), timer.Value(record.StartSpin))
	}
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(4))
	for _, test := range []struct {
		processors, workers int
		want                bool
	}{{4, 4, true}, {4, 5, false}, {3, 1, false}, {8, 5, true}} {
		runtime.GOMAXPROCS(test.processors)
		res := must.Get(runner.Run(t.Context(), runner.Config{
			Workers: test.workers, Arrivals: arrivals(runner.Constant, 500), Starts: runner.StartsAuto, Queue: 10, Duration: 20 * time.Millisecond, Samples: 1, Check: none,
		}, target{run: func(context.Context, any) ([]byte, error) { return nil, nil }}))(t)
		_, spins := fill(t, res).Metric(record.StartSpin)
		golden.Equal(t, fmt.Sprintf("%d workers on %d processors spin", test.workers, test.processors), test.want, spins)
	}
	// Near the window's end they go home as others do.
	res := must.Get(runner.Run(t.Context(), runner.Config{
		Workers: 4, Arrivals: arrivals(runner.Constant, 1), Starts: runner.StartsSpin, Queue: 10, Duration: 50 * time.Millisecond, Samples: 1, Check: none,
	}, target{run: func(context.Context, any) ([]byte, error) { return nil, nil }}))(t)
	golden.Near(t, "window", float64(50*time.Millisecond), float64(res.Window), 0.5)
	must.FailGet(runner.Run(t.Context(), runner.Config{
		Workers: 1, Arrivals: arrivals(runner.Constant, 1), Starts: "later", Queue: 1, Duration: time.Second, Samples: 1,
	}, target{}))(t, zkbench.ErrParams, "starts")
}

// BenchmarkStarts: how late operations start that an idle worker waits for, 500 a second.
func BenchmarkStarts(b *testing.B) {
	for _, starts := range []runner.Starts{runner.StartsTimer, runner.StartsSpin} {
		b.Run("starts="+string(starts), func(b *testing.B) {
			res, err := runner.Run(b.Context(), runner.Config{
				Workers: 1, Arrivals: arrivals(runner.Poisson, 500), Starts: starts, Queue: 10, Count: uint64(b.N), Samples: 1, Check: none,
			}, target{run: func(context.Context, any) ([]byte, error) { return nil, nil }})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(res.Oversleep), "late-ns/op")
			b.ReportMetric(float64(res.Spun)/float64(max(res.Slept, 1)), "awake-ns/op")
		})
	}
}
