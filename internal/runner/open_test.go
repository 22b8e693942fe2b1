package runner_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

func arrivals(shape runner.Shape, rates ...float64) *runner.Arrivals {
	return &runner.Arrivals{Shape: shape, Rates: rates}
}

// TestInputsOfTheirOwn: while there are enough inputs, no operation gets one that another has had, not even from the probe
// or the warm-up, because a workload may have to make an input usable again, which takes time. The window begins with the
// first input.
func TestInputsOfTheirOwn(t *testing.T) {
	const samples = 100
	var used []uint64
	res, _ := run(t, runner.Config{
		Workers: 1, Arrivals: arrivals(runner.Constant, 100), Queue: 10, Count: 50, Samples: samples, Warmup: runner.Warmup{Ops: 40},
	}, target{
		run: func(_ context.Context, input any) ([]byte, error) {
			used = append(used, input.(uint64))
			return []byte{1}, nil
		},
		check: func(context.Context, any, []byte) error { return nil },
	})
	first := slices.Index(used, 0)
	if res.Done != 50 || first < 20 || len(used) != first+50 {
		t.Fatalf("%d operations done, %d in all, %d before input 0", res.Done, len(used), first)
	}
	slices.Sort(used)
	if all := len(used); len(slices.Compact(used)) != all {
		t.Errorf("%d operations had %d inputs of %d", all, len(slices.Compact(used)), samples)
	}
}

// TestStallCostsAllWhoStandBehindIt: one worker, operations of 1 ms, one of them
// stalls for 2 s, 100 arrivals a second for 10 s. The exact response times come
// from the queue's recursion: an operation starts when it has arrived and the
// one before has ended.
func TestStallCostsAllWhoStandBehindIt(t *testing.T) {
	const stalled = 300
	service := func(seq uint64) time.Duration {
		if seq == stalled {
			return 2 * time.Second
		}
		return time.Millisecond
	}
	res, _ := run(t, runner.Config{
		Workers: 1, Arrivals: arrivals(runner.Constant, 100), Queue: 1000, Duration: 10 * time.Second, Samples: 1000, Grace: time.Second, Check: none,
	}, target{run: func(_ context.Context, input any) ([]byte, error) {
		time.Sleep(service(input.(uint64)))
		return nil, nil
	}})
	if res.Offered != 1000 || res.Started != 1000 || res.Done != 1000 || res.Dropped != 0 || res.NeverStarted != 0 {
		t.Fatalf("offered %d, started %d, done %d, dropped %d, never started %d; want 1000 in all", res.Offered, res.Started, res.Done, res.Dropped, res.NeverStarted)
	}
	var responses, waits []float64
	var free time.Duration
	for seq := range uint64(1000) {
		arrival := time.Duration(seq) * 10 * time.Millisecond
		start := max(arrival, free)
		free = start + service(seq)
		responses = append(responses, float64(free-arrival))
		waits = append(waits, float64(start-arrival))
	}
	slices.Sort(responses)
	slices.Sort(waits)
	for _, p := range []float64{50, 90, 99, 99.9} {
		i := int(math.Round(p*10)) - 1
		golden.Near(t, fmt.Sprintf("response P%v", p), responses[i], float64(res.Response.ValueAtPercentile(p)), 0.001)
		golden.Near(t, fmt.Sprintf("wait P%v", p), waits[i], float64(res.Wait.ValueAtPercentile(p)), 0.001)
	}
	// What a closed loop would have shown.
	golden.Near(t, "service P99", 1e6, float64(res.Latency.ValueAtPercentile(99)), 0.001)
	if p99 := responses[989]; p99 < 1.8e9 {
		t.Errorf("the exact response P99 is %v: the test does not test", p99)
	}
}

func TestAccounting(t *testing.T) {
	failed := errors.New("failed")
	rapid.Check(t, func(rt *rapid.T) {
		cfg := runner.Config{
			Workers:  rapid.IntRange(1, 8).Draw(rt, "workers"),
			Duration: time.Duration(rapid.IntRange(1, 1000).Draw(rt, "window")) * time.Millisecond,
			Count:    rapid.SampledFrom([]uint64{0, 1, 20}).Draw(rt, "count"),
			Grace:    time.Duration(rapid.SampledFrom([]int{0, 500, 5000}).Draw(rt, "grace")) * time.Millisecond,
			Warmup:   runner.Warmup{Ops: rapid.Uint64Range(0, 10).Draw(rt, "warmup")},
			Samples:  7, Check: none, Queue: rapid.IntRange(1, 5).Draw(rt, "queue"),
		}
		rate := func(name string) float64 { return rapid.Float64Range(1, 2000).Draw(rt, name) }
		switch shape := rapid.SampledFrom(append(runner.Shapes(), "")).Draw(rt, "arrivals"); shape {
		case runner.Ramp:
			cfg.Arrivals = arrivals(shape, rate("from"), rate("to"))
		case runner.Step:
			cfg.Arrivals = arrivals(shape, rate("first"), rate("second"), rate("third"))
		case runner.Constant, runner.Poisson:
			cfg.Arrivals = arrivals(shape, rate("rate"))
		}
		longest := rapid.IntRange(1, 2000).Draw(rt, "longest")
		deaf := rapid.Bool().Draw(rt, "deaf") // operations that do not look at their context
		interrupt := time.Duration(rapid.IntRange(1, 3000).Draw(rt, "interrupt")) * time.Millisecond

		var res *runner.Result
		var took time.Duration
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), interrupt)
			defer cancel()
			begin := time.Now()
			var err error
			res, err = runner.Run(ctx, cfg, target{run: func(ctx context.Context, input any) ([]byte, error) {
				n := input.(uint64) + 1
				timer := time.NewTimer(time.Duration(n*n*13%uint64(longest)+1) * time.Millisecond)
				defer timer.Stop()
				if deaf {
					<-timer.C
				} else {
					select {
					case <-timer.C:
					case <-ctx.Done():
						return nil, ctx.Err()
					}
				}
				if n%3 == 0 {
					return nil, failed
				}
				return nil, nil
			}})
			must.Do(t, err)
			took = time.Since(begin)
			time.Sleep(stragglers)
		})
		if cfg.Arrivals != nil && res.Offered != res.Started+res.Dropped+res.NeverStarted {
			rt.Errorf("offered %d, but %d started + %d dropped + %d never started", res.Offered, res.Started, res.Dropped, res.NeverStarted)
		}
		if cfg.Arrivals == nil && (res.Offered != res.Started || res.Dropped != 0 || res.NeverStarted != 0) {
			rt.Errorf("closed loop: offered %d, started %d, dropped %d, never started %d", res.Offered, res.Started, res.Dropped, res.NeverStarted)
		}
		if res.Stranded != 0 { // in a bubble nobody waits for a processor
			rt.Errorf("%d tickets are accounted for by nothing else", res.Stranded)
		}
		golden.Equal(rt, "done, failed and unfinished operations", res.Done+res.Failed+uint64(len(res.Unfinished)), res.Started)
		if cfg.Count > 0 && res.Offered > cfg.Count {
			rt.Errorf("%d offered of %d", res.Offered, cfg.Count)
		}
		if a := cfg.Arrivals; a != nil && a.Shape == runner.Constant && cfg.Count == 0 && !res.Interrupted {
			if want := math.Ceil(a.Rates[0] * cfg.Duration.Seconds()); math.Abs(float64(res.Offered)-want) > 1 {
				rt.Errorf("%d offered at %v for %v, want %v", res.Offered, a, cfg.Duration, want)
			}
		}
		golden.Equal(rt, "latencies of operations done", res.Done, uint64(res.Latency.TotalCount()))
		golden.Equal(rt, "latencies of operations failed", res.Failed, uint64(res.Failures.TotalCount()))
		if res.Response != nil && (res.Response.TotalCount() != res.Latency.TotalCount() || res.Wait.TotalCount() != res.Latency.TotalCount()) {
			rt.Errorf("%d responses and %d waits of %d done", res.Response.TotalCount(), res.Wait.TotalCount(), res.Done)
		}
		if len(res.Unfinished) > cfg.Workers {
			rt.Errorf("%d unfinished of %d workers", len(res.Unfinished), cfg.Workers)
		}
		var counted, before uint64
		for _, e := range res.Errors {
			if e.Before {
				before += e.Count
			} else {
				counted += e.Count
			}
		}
		golden.Equal(rt, "errors counted, and those of the warm-up", [2]uint64{res.Failed, res.WarmupFailed}, [2]uint64{counted, before})
		if res.WarmupFailed > res.Warmup {
			rt.Errorf("%d of %d operations of the warm-up failed", res.WarmupFailed, res.Warmup)
		}
		if took > interrupt+100*time.Millisecond {
			rt.Errorf("took %v, interrupted after %v", took, interrupt)
		}
	})
}

// TestDrops: one worker, operations of 1005 ms, room for two; arrivals at 0 s,
// 0.1 s, ... 3.0 s, 31 of them until the close at 3.05 s. The worker starts those
// of 0 s, 0.1 s, 0.2 s and 1.1 s, at 0 s, 1.005 s, 2.010 s and 3.015 s, and that
// of 2.1 s waits; all others find the queue full.
func TestDrops(t *testing.T) {
	res, _ := run(t, runner.Config{
		Workers: 1, Arrivals: arrivals(runner.Constant, 10), Queue: 2, Duration: 3050 * time.Millisecond, Samples: 1, Check: none,
	}, target{run: func(context.Context, any) ([]byte, error) { time.Sleep(1005 * time.Millisecond); return nil, nil }})
	if res.Offered != 31 || res.Started != 4 || res.Done != 3 || res.NeverStarted != 1 || res.Dropped != 26 {
		t.Errorf("offered %d, started %d, done %d, never started %d, dropped %d; want 31, 4, 3, 1, 26",
			res.Offered, res.Started, res.Done, res.NeverStarted, res.Dropped)
	}
	golden.Near(t, "longest wait in ns", 1.81e9, float64(res.Wait.Max()), 0.001)
	golden.Equal(t, "how long the first that never started had waited", 950*time.Millisecond, res.Oldest)
	rec := fill(t, res)
	if !hasFinding(rec, "dropped", "26 of 31") || !hasFinding(rec, "never-started", "1 of 31") {
		t.Errorf("findings: %v", rec.Findings)
	}
}

// starts returns the times at which operations of no length start.
func starts(t *testing.T, cfg runner.Config) []time.Duration {
	t.Helper()
	var mu sync.Mutex
	var all []time.Duration
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		must.Get(runner.Run(t.Context(), cfg, target{run: func(context.Context, any) ([]byte, error) {
			mu.Lock()
			defer mu.Unlock()
			all = append(all, time.Since(begin))
			return nil, nil
		}}))(t)
	})
	return all
}

func TestSchedules(t *testing.T) {
	cfg := runner.Config{Workers: 4, Queue: 100, Duration: 10 * time.Second, Samples: 1, Check: none, Seed: 7}
	counts := func(all []time.Duration) (seconds [10]int) {
		for _, at := range all {
			seconds[at/time.Second]++
		}
		return seconds
	}
	t.Run("constant", func(t *testing.T) {
		cfg.Arrivals = arrivals(runner.Constant, 40)
		all := starts(t, cfg)
		for i, at := range all {
			if at != time.Duration(i)*25*time.Millisecond {
				t.Fatalf("arrival %d at %v", i, at)
			}
		}
		golden.Equal(t, "arrivals", 400, len(all))
	})
	t.Run("step", func(t *testing.T) {
		cfg.Arrivals = arrivals(runner.Step, 10, 100, 50, 1, 200)
		golden.Equal(t, "arrivals by second", [10]int{10, 10, 100, 100, 50, 50, 1, 1, 200, 200}, counts(starts(t, cfg)))
	})
	t.Run("ramp", func(t *testing.T) {
		for _, rates := range [][]float64{{100, 300}, {300, 100}, {100, 100}} {
			cfg.Arrivals = arrivals(runner.Ramp, rates...)
			for i, n := range counts(starts(t, cfg)) {
				want := rates[0] + (rates[1]-rates[0])*(float64(i)+0.5)/10
				if math.Abs(float64(n)-want) > 1 {
					t.Errorf("%v: %d arrivals in second %d, want %v", rates, n, i, want)
				}
			}
		}
	})
	t.Run("poisson", func(t *testing.T) {
		cfg.Arrivals = arrivals(runner.Poisson, 1000)
		all := starts(t, cfg)
		// The number has standard deviation 100; gaps have coefficient of variation 1.
		golden.Within(t, "arrivals", 9500, len(all), 10500)
		var sum, squares float64
		for i := range all[1:] {
			gap := float64(all[i+1] - all[i])
			sum += gap
			squares += gap * gap
		}
		n := float64(len(all) - 1)
		golden.Near(t, "coefficient of variation of the gaps", 1, math.Sqrt(squares/n-(sum/n)*(sum/n))/(sum/n), 0.05)
		golden.Equal(t, "arrivals of another run with the same seed", all, starts(t, cfg))
		cfg.Seed++
		if slices.Equal(all, starts(t, cfg)) {
			t.Error("a run with another seed has the same arrivals")
		}
	})
}

// TestQueueOutlivesTheWarmup: a system that is overloaded in the warm-up opens
// its window with a queue, first come first served.
func TestQueueOutlivesTheWarmup(t *testing.T) {
	res, _ := run(t, runner.Config{
		Workers: 1, Arrivals: arrivals(runner.Constant, 10), Queue: 100, Duration: 4995 * time.Millisecond, Samples: 1, Check: none,
		Warmup: runner.Warmup{Time: 985 * time.Millisecond},
	}, target{run: func(context.Context, any) ([]byte, error) { time.Sleep(200 * time.Millisecond); return nil, nil }})
	// Ten arrived in the warm-up, until 0.99 s. They keep the worker busy until 2 s,
	// and the first of the window has waited for that.
	golden.Near(t, "wait of the first of the window in ns", 1.01e9, float64(res.Wait.Min()), 0.001)
	golden.Equal(t, "offered, started, never started", [3]uint64{50, 20, 30}, [3]uint64{res.Offered, res.Started, res.NeverStarted})
}

// TestCapacityOfAKnownQueue: four workers and operations of 10 ms serve 400 a
// second, whatever comes.
func TestCapacityOfAKnownQueue(t *testing.T) {
	testsize.Full(t)
	for _, test := range []struct {
		shape runner.Shape
		slo   string
		first float64
		want  float64 // a second
	}{
		{runner.Constant, "p99=50ms", 300, 400},
		{runner.Constant, "p99=50ms", 3000, 400},
		{runner.Constant, "p99=50ms", 7, 400},
	} {
		slo := must.Get(runner.ParseSLO(test.slo))(t)
		trials := 0
		got := must.Get(runner.Capacity(t.Context(), test.first, slo.LateShare(), nil, func(_ context.Context, rate float64) (uint64, uint64, error) {
			trials++
			res, _ := run(t, runner.Config{
				Workers: 4, Arrivals: arrivals(test.shape, rate), Queue: 1 << 16, Duration: 20 * time.Second, Samples: 1, Check: none,
				Warmup: runner.Warmup{Time: time.Second},
			}, target{run: func(context.Context, any) ([]byte, error) { time.Sleep(10 * time.Millisecond); return nil, nil }})
			return slo.Late(fill(t, res))
		}))(t)
		golden.Near(t, fmt.Sprintf("capacity from %v a second, in %d trials", test.first, trials), test.want, got.Value, 0.05)
		if got.Low > test.want*1.001 || got.High < test.want*0.999 || got.High > 1.06*got.Low {
			t.Errorf("from %v a second: %v to %v", test.first, got.Low, got.High)
		}
	}
}

// TestCapacityOfAnMMOneQueue: with Poisson arrivals at rate a and one worker whose
// service times are exponential with mean 1/m, response times are exponential
// with mean 1/(m-a), so P90 stays below w up to a = m - ln(10)/w.
func TestCapacityOfAnMMOneQueue(t *testing.T) {
	testsize.Full(t)
	const m, limit = 100.0, 0.1
	want := m - math.Log(10)/limit
	slo := must.Get(runner.ParseSLO("p90=100ms"))(t)
	noise := rand.New(rand.NewPCG(3, 4))
	got := must.Get(runner.Capacity(t.Context(), 50, slo.LateShare(), nil, func(_ context.Context, rate float64) (uint64, uint64, error) {
		res, _ := run(t, runner.Config{
			Workers: 1, Arrivals: arrivals(runner.Poisson, rate), Queue: 1 << 16, Duration: 250 * time.Second, Samples: 1, Check: none,
			Warmup: runner.Warmup{Time: 10 * time.Second},
		}, target{run: func(context.Context, any) ([]byte, error) {
			time.Sleep(time.Duration(noise.ExpFloat64() / m * 1e9))
			return nil, nil
		}})
		return slo.Late(fill(t, res))
	}))(t)
	if got.Low > want || got.High < want || got.High > 1.15*got.Low || got.Value < got.Low || got.Value > got.High {
		t.Errorf("capacity %v, %v to %v; want %v", got.Value, got.Low, got.High, want)
	}
}

func TestCapacityGivesUp(t *testing.T) {
	planted := errors.New("planted")
	ctx, cancel := context.WithCancelCause(t.Context())
	for _, test := range []struct {
		name string
		try  func(context.Context, float64) (late, offered uint64, err error)
		want stat.Estimate
		err  error
	}{
		{"never holds", func(context.Context, float64) (uint64, uint64, error) { return 1, 1, nil }, stat.Estimate{}, nil},
		{"always holds", func(context.Context, float64) (uint64, uint64, error) { return 0, 1, nil }, stat.Estimate{Value: runner.MaxRate, Low: runner.MaxRate, High: math.Inf(1)}, nil},
		{"trial fails", func(context.Context, float64) (uint64, uint64, error) { return 1, 1, planted }, stat.Estimate{}, planted},
		{"cancelled", func(context.Context, float64) (uint64, uint64, error) { cancel(planted); return 0, 1, nil }, stat.Estimate{}, planted},
	} {
		got, err := runner.Capacity(ctx, 100, 0.01, nil, test.try)
		if got != test.want || !errors.Is(err, test.err) {
			t.Errorf("%s: %v, %v; want %v, %v", test.name, got, err, test.want, test.err)
		}
	}
}

func TestParseSLO(t *testing.T) {
	for _, good := range []string{"p99=50ms", "p99.9=1s", "p50=10µs"} {
		golden.Equal(t, "objective", good, must.Get(runner.ParseSLO(good))(t).String())
	}
	for _, bad := range []string{"", "p99", "99=50ms", "p0=1s", "p100=1s", "pNaN=1s", "p99=50", "p99=0s", "p99=-1s"} {
		must.FailGet(runner.ParseSLO(bad))(t, zkbench.ErrParams, "%q", bad)
	}
}

// TestSLOCountsWhatWasNotAnswered.
func TestSLOCountsWhatWasNotAnswered(t *testing.T) {
	slo := must.Get(runner.ParseSLO("p90=100ms"))(t)
	rec := func(edit func(rec *record.Record)) *record.Record {
		rec := record.New()
		rec.Counters = []record.Counter{{Name: record.CountOffered, Value: 100}}
		edit(rec)
		return rec
	}
	count := func(name string, n uint64) func(rec *record.Record) {
		return func(rec *record.Record) { rec.Counters = append(rec.Counters, record.Counter{Name: name, Value: n}) }
	}
	for _, test := range []struct {
		name string
		edit func(rec *record.Record)
		want bool
	}{
		{"dropped=10", count(record.CountDropped, 10), true},
		{"dropped=11", count(record.CountDropped, 11), false},
		{"failed=11", count(record.CountFailed, 11), false},
		{"never-started=10", count(record.CountNeverStarted, 10), true},
		{"never-started=11", count(record.CountNeverStarted, 11), false},
		{"unfinished after 100ms", func(rec *record.Record) {
			for range 11 {
				rec.Unfinished = append(rec.Unfinished, record.Unfinished{Age: 50 * time.Millisecond, Wait: 50 * time.Millisecond})
			}
		}, true},
		{"unfinished after 101ms", func(rec *record.Record) {
			for range 11 {
				rec.Unfinished = append(rec.Unfinished, record.Unfinished{Age: 50 * time.Millisecond, Wait: 51 * time.Millisecond})
			}
		}, false},
	} {
		late, offered, err := slo.Late(rec(test.edit))
		must.Do(t, err)
		golden.Equal(t, test.name, test.want, float64(late) <= slo.LateShare()*float64(offered))
	}
	_, _, err := slo.Late(record.New())
	must.Fail(t, err, zkbench.ErrEnv, "a record without arrivals")
}

// TestOverloadedWarmup: one worker of 100 operations a second, 200 arrivals a second, a
// warm-up of a second. Half of the warm-up's arrivals still wait when the window opens;
// they are served in it, and are part of its throughput, but of nothing else.
func TestOverloadedWarmup(t *testing.T) {
	res, _ := run(t, runner.Config{
		Workers: 1, Arrivals: arrivals(runner.Constant, 200), Queue: 10_000, Duration: 4 * time.Second,
		Warmup: runner.Warmup{Time: time.Second}, Samples: 1, Check: none,
	}, target{run: lasting(10 * time.Millisecond)})
	if n := res.Warmup + res.Carried; n < 199 || n > 201 || res.Carried < 99 || res.Carried > 101 {
		t.Errorf("%d of the warm-up ended before the window and %d in it, want 100 each", res.Warmup, res.Carried)
	}
	if n := res.Carried + res.Done; n < 399 || n > 400 || res.Latency.TotalCount() != int64(res.Done) {
		t.Errorf("%d carried, %d done, %d latencies; want 400 in all", res.Carried, res.Done, res.Latency.TotalCount())
	}
	golden.Near(t, "throughput", 100, fill(t, res).Value(record.Throughput), 0.005)
	golden.Near(t, "operations' worth of work in the window", 400, res.Work, 0.005)
}

// TestCapacityWhenLoadComes: from its bisection on, a system that held 1000 a second
// holds 500, as other work takes its processors. The answer is where it is then.
func TestCapacityWhenLoadComes(t *testing.T) {
	calls := 0
	got, err := runner.Capacity(t.Context(), 100, 0.01, nil, func(_ context.Context, rate float64) (uint64, uint64, error) {
		calls++
		limit := 1000.0
		if calls > 10 {
			limit = 500
		}
		if rate <= limit {
			return 0, 100, nil
		}
		return 100, 100, nil
	})
	if err != nil || got.Low > 500 || got.High < 500 || got.High > 1.2*got.Low {
		t.Errorf("%+v after %d trials, %v; want 500 in it", got, calls, err)
	}
}
