package runner_test

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// target is a Target made of functions. Functions that are nil have the obvious default.
type target struct {
	input func(ctx context.Context, seq uint64) (any, error)
	run   func(ctx context.Context, input any) ([]byte, error)
	check func(ctx context.Context, input any, output []byte) error
}

func (t target) Input(ctx context.Context, seq uint64) (any, error) {
	if t.input == nil {
		return seq, nil
	}
	return t.input(ctx, seq)
}

func (t target) Run(ctx context.Context, input any) ([]byte, error) { return t.run(ctx, input) }

func (t target) Check(ctx context.Context, input any, output []byte) error {
	if t.check == nil {
		return nil
	}
	return t.check(ctx, input, output)
}

// stragglers is longer than any operation of these tests: a bubble ends only
// when the operations that a run left behind have ended.
const stragglers = time.Hour

// window is half a millisecond less than a second, so that no operation of whole
// milliseconds ends at the instant at which the window closes.
const window = 999500 * time.Microsecond

func text(n uint64) []byte { return strconv.AppendUint(nil, n, 10) }

// run calls Run in a synctest bubble, whose clock moves only when all its goroutines wait. The
// latencies are therefore exactly the times for which the operations sleep.
func run(t *testing.T, cfg runner.Config, tg target) (res *runner.Result, took time.Duration) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		var err error
		if res, err = runner.Run(t.Context(), cfg, tg); err != nil {
			t.Fatal(err)
		}
		took = time.Since(begin)
		time.Sleep(stragglers)
	})
	return res, took
}

// lasting returns an operation that takes d, unless its context ends before.
func lasting(d time.Duration) func(context.Context, any) ([]byte, error) {
	return func(ctx context.Context, _ any) ([]byte, error) {
		select {
		case <-time.After(d):
		case <-ctx.Done():
		}
		return nil, ctx.Err()
	}
}

// none checks nothing.
var none = runner.Check{Policy: runner.CheckNone}

func fill(t *testing.T, res *runner.Result) *record.Record {
	t.Helper()
	rec := record.New()
	must.Do(t, res.Fill(rec))
	return rec
}

func hasFinding(rec *record.Record, name, text string) bool {
	return slices.ContainsFunc(rec.Findings, func(f record.Finding) bool {
		return f.Name == name && strings.Contains(f.Text, text)
	})
}

// bubble runs f in a synctest bubble, and waits for goroutines that it left behind.
func bubble(t *testing.T, f func(ctx context.Context)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f(t.Context())
		time.Sleep(stragglers)
	})
}

func within(got, want, tolerance float64) bool { return math.Abs(got-want) <= tolerance*want }

func TestLatenciesAndThroughput(t *testing.T) {
	// One worker; every hundredth operation takes 50 ms, the others 1 ms to 2 ms.
	latency := func(seq uint64) time.Duration {
		if seq%100 == 99 {
			return 50 * time.Millisecond
		}
		return time.Millisecond + time.Duration(seq%100)*10*time.Microsecond
	}
	res, _ := run(t, runner.Config{Workers: 1, Duration: 20 * time.Second, Samples: 100, Grace: time.Second, Check: none}, target{
		run: func(_ context.Context, input any) ([]byte, error) {
			time.Sleep(latency(input.(uint64)))
			return nil, nil
		},
	})
	var all []time.Duration
	var sum, jitter float64
	for seq := range res.Done {
		d := latency(seq)
		if seq > 0 {
			jitter += float64((d - all[seq-1]).Abs())
		}
		all = append(all, d)
		sum += float64(d)
	}
	if res.Done < 9_000 || res.Failed != 0 || len(res.Unfinished) > 1 {
		t.Fatalf("%d done, %d failed, %d unfinished", res.Done, res.Failed, len(res.Unfinished))
	}
	golden.Equal(t, "window", 20*time.Second, res.Window)
	mean := sum / float64(res.Done)
	golden.Near(t, "mean", mean, res.Mean, 1e-9)
	golden.Near(t, "jitter", jitter/float64(res.Done-1), res.Jitter, 1e-9)
	var squares float64
	for _, d := range all {
		squares += (float64(d) - mean) * (float64(d) - mean)
	}
	golden.Near(t, "standard deviation", math.Sqrt(squares/float64(res.Done-1)), res.StdDev, 1e-6)
	slices.Sort(all)
	for _, p := range []float64{1, 50, 75, 95, 99, 99.9, 100} {
		want := float64(all[int(math.Ceil(p/100*float64(len(all))))-1])
		golden.Near(t, fmt.Sprintf("P%v", p), want, float64(res.Latency.ValueAtPercentile(p)), 0.001)
	}

	rec := fill(t, res)
	if rec.Status != record.OK || rec.Error != "" {
		t.Errorf("status %s: %s", rec.Status, rec.Error)
	}
	if got, want := rec.Value(record.Throughput), float64(res.Done-res.Late)/20; !within(got, want, 1e-9) {
		t.Errorf("throughput %v, want %v", got, want)
	}
	if got, want := rec.Value(record.PureThroughput), 1e9/mean; !within(got, want, 1e-9) {
		t.Errorf("pure throughput %v, want %v", got, want)
	}
}

func TestOperationLongerThanTheWindow(t *testing.T) {
	for _, deaf := range []bool{false, true} { // to the end of its context
		res, took := run(t, runner.Config{Workers: 1, Duration: 4 * time.Second, Samples: 1, Check: none}, target{
			run: func(ctx context.Context, input any) ([]byte, error) {
				if deaf {
					ctx = context.WithoutCancel(ctx)
				}
				return lasting(3*time.Second)(ctx, input)
			},
		})
		if took > 4*time.Second+100*time.Millisecond {
			t.Errorf("deaf=%v: ended after %v, want 4s", deaf, took)
		}
		if res.Started != 2 || res.Done != 1 || len(res.Unfinished) != 1 {
			t.Fatalf("deaf=%v: started %d, done %d, unfinished %v; want 2, 1, 1", deaf, res.Started, res.Done, res.Unfinished)
		}
		if u := res.Unfinished[0]; u.Seq != 1 || u.Age < time.Second || u.Age > time.Second+100*time.Millisecond {
			t.Errorf("deaf=%v: unfinished %+v, want operation 1 at an age of 1s", deaf, u)
		}
		rec := fill(t, res)
		if len(rec.Unfinished) != 1 || !hasFinding(rec, "unfinished", "1 of 2 operations still ran at the end, for 1") {
			t.Errorf("deaf=%v: record does not list it: %v, %v", deaf, rec.Unfinished, rec.Findings)
		}
		golden.Near(t, fmt.Sprintf("deaf=%v: throughput", deaf), 0.25, rec.Value(record.Throughput), 1e-9)
	}
}

// TestLeast: a window ends with its duration or, if that is later, with so many operations,
// none of which is late. Operations of 3 s, or of 1.1 s.
func TestLeast(t *testing.T) {
	for _, test := range []struct {
		workers                int
		each, duration, window time.Duration
		least, done            uint64
		unfinished             int
	}{
		{1, 3 * time.Second, time.Second, 3 * time.Second, 1, 1, 0},
		{1, 3 * time.Second, time.Second, 9 * time.Second, 3, 3, 0},
		{2, 3 * time.Second, time.Second, 6 * time.Second, 4, 4, 0}, // of 3 the fourth would end just with the window, or just not
		{2, 3 * time.Second, 4 * time.Second, 6 * time.Second, 4, 4, 0},
		{1, 1100 * time.Millisecond, 4 * time.Second, 4 * time.Second, 2, 3, 1},
		{1, 3 * time.Second, 4 * time.Second, 4 * time.Second, 1, 1, 1},
		{1, 3 * time.Second, time.Second, time.Second, 0, 0, 1},
	} {
		res, took := run(t, runner.Config{Workers: test.workers, Duration: test.duration, Least: test.least, Samples: 1, Check: none}, target{run: lasting(test.each)})
		if res.Window != test.window || took > test.window+100*time.Millisecond {
			t.Errorf("%+v: window %v, ended after %v", test, res.Window, took)
		}
		golden.Equal(t, fmt.Sprintf("%+v: done, unfinished, late", test), [3]uint64{test.done, uint64(test.unfinished), 0}, [3]uint64{res.Done, uint64(len(res.Unfinished)), res.Late})
		golden.Near(t, fmt.Sprintf("%+v: throughput", test), float64(test.done)/test.window.Seconds(), fill(t, res).Value(record.Throughput), 1e-9)
	}
	_, err := runner.Run(t.Context(), runner.Config{Workers: 1, Count: 2, Least: 3, Samples: 1}, target{})
	must.Fail(t, err, zkbench.ErrParams, "more operations than there may be")
}

// TestManyWorkersEndOnTime: the window of far more workers than processors, which never wait,
// is as long as it was to be.
func TestManyWorkersEndOnTime(t *testing.T) {
	const window = 50 * time.Millisecond
	res := must.Get(runner.Run(t.Context(), runner.Config{Workers: 256, Duration: window, Samples: 1, Check: none}, target{
		run: func(context.Context, any) ([]byte, error) { return nil, nil },
	}))(t)
	golden.Equal(t, "window", window, res.Window)
}

// TestDeafOperationsHoldNothingUp: whatever ignores the end of its context, the run
// ends with it.
func TestDeafOperationsHoldNothingUp(t *testing.T) {
	hang := func() { time.Sleep(stragglers / 2) }
	idle := func(context.Context, any) ([]byte, error) { time.Sleep(10 * time.Millisecond); return nil, nil }
	for _, test := range []struct {
		name string
		cfg  runner.Config
		tg   target
	}{
		{"input", runner.Config{Samples: 1}, target{
			input: func(context.Context, uint64) (any, error) { hang(); return nil, nil }, run: idle,
		}},
		{"probe", runner.Config{Samples: 1}, target{run: func(context.Context, any) ([]byte, error) { hang(); return nil, nil }}},
		{"warm-up", runner.Config{Samples: 1, Check: none, Warmup: runner.Warmup{Ops: 1}}, target{
			run: func(context.Context, any) ([]byte, error) { hang(); return nil, nil },
		}},
		{"window", runner.Config{Samples: 1, Check: none, Grace: time.Hour}, target{
			run: func(context.Context, any) ([]byte, error) { hang(); return nil, nil },
		}},
		{"check", runner.Config{Samples: 1}, target{run: idle, check: func(context.Context, any, []byte) error { hang(); return nil }}},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(ctx context.Context) {
				ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
				defer cancel()
				test.cfg.Workers, test.cfg.Duration = 2, window
				begin := time.Now()
				res := must.Get(runner.Run(ctx, test.cfg, test.tg))(t)
				if took := time.Since(begin); took > 2*time.Second+100*time.Millisecond {
					t.Errorf("ended %v after its context", took-2*time.Second)
				}
				if rec := fill(t, res); rec.Status != record.Partial && test.name != "window" {
					t.Errorf("status %s", rec.Status)
				}
			})
		})
	}
}

func TestWarmupIsGivenUp(t *testing.T) {
	res, took := run(t, runner.Config{Workers: 1, Duration: window, Samples: 1, Warmup: runner.Warmup{Ops: 1}, Check: none}, target{
		run: func(context.Context, any) ([]byte, error) { time.Sleep(10 * time.Minute); return nil, nil },
	})
	if took > runner.DefaultWarmupLimit+2*time.Second {
		t.Errorf("took %v", took)
	}
	if rec := fill(t, res); !hasFinding(rec, "warm-up", "stopped at its limit of 30s: 0 of 1 operations had ended") {
		t.Errorf("findings: %v", rec.Findings)
	}
}

// TestManyErrors: more messages than are counted apart are counted as others, and
// an error whose text panics is one of its operation.
func TestManyErrors(t *testing.T) {
	var typedNil *executor.PanicError
	res, _ := run(t, runner.Config{Workers: 1, Duration: time.Hour, Count: 100, Samples: 100, Check: none}, target{
		run: func(_ context.Context, input any) ([]byte, error) {
			time.Sleep(time.Millisecond)
			if input.(uint64) == 99 {
				return nil, typedNil
			}
			return nil, errors.New(string(text(input.(uint64))))
		},
	})
	if res.Failed != 100 || len(res.Errors) != 17 || res.Errors[0].Count != 84 || !strings.Contains(res.Errors[0].Err.Error(), "other errors") {
		t.Errorf("%d failed, %d kinds, the first %v", res.Failed, len(res.Errors), res.Errors[0])
	}
}

func TestGraceLetsOperationsEnd(t *testing.T) {
	res, took := run(t, runner.Config{Workers: 3, Duration: 4 * time.Second, Samples: 1, Grace: time.Minute, Check: none}, target{
		run: func(context.Context, any) ([]byte, error) { time.Sleep(3 * time.Second); return nil, nil },
	})
	if res.Done != 6 || len(res.Unfinished) != 0 || took != 6*time.Second || res.Window != 4*time.Second || res.Late != 3 {
		t.Errorf("done %d, unfinished %d, took %v, window %v, late %d; want 6, 0, 6s, 4s, 3", res.Done, len(res.Unfinished), took, res.Window, res.Late)
	}
	rec := fill(t, res)
	if got := rec.Value(record.Throughput); !within(got, 0.75, 1e-9) || !hasFinding(rec, "late", "3 of 6 operations ended up to 2s after the window") {
		t.Errorf("throughput %v, want 3 in 4 s; findings %v", got, rec.Findings)
	}
}

func TestCountEndsTheWindow(t *testing.T) {
	for _, test := range []struct {
		name     string
		duration time.Duration
		done     uint64
		window   time.Duration
	}{
		{"duration=0s", 0, 25, 90 * time.Millisecond},
		{"duration=1s", time.Second, 25, 90 * time.Millisecond},
		{"duration=35ms", 35 * time.Millisecond, 9, 35 * time.Millisecond},
	} {
		t.Run(test.name, func(t *testing.T) {
			res, _ := run(t, runner.Config{Workers: 3, Duration: test.duration, Count: 25, Samples: 1, Check: none}, target{
				run: func(context.Context, any) ([]byte, error) { time.Sleep(10 * time.Millisecond); return nil, nil },
			})
			if done := res.Done - res.Late; done != test.done || res.Window != test.window {
				t.Errorf("%d done in %v, want %d in %v", done, res.Window, test.done, test.window)
			}
		})
	}
}

// TestWarmupHandsOverWithoutDraining: operations of 100 ms, a warm-up of 250 ms.
// Two run when the window opens; they end in it and are part of its throughput,
// which is that of a system under load: 20 a second.
func TestWarmupHandsOverWithoutDraining(t *testing.T) {
	var mu sync.Mutex
	var seqs []uint64
	res, _ := run(t, runner.Config{Workers: 2, Duration: time.Second, Warmup: runner.Warmup{Time: 245 * time.Millisecond}, Check: none}, target{
		input: func(_ context.Context, seq uint64) (any, error) {
			mu.Lock()
			defer mu.Unlock()
			seqs = append(seqs, seq)
			return seq, nil
		},
		run: lasting(100 * time.Millisecond),
	})
	if res.Warmup != 4 || res.Carried != 2 || res.Done != 18 || len(res.Unfinished) != 2 || res.Latency.TotalCount() != 18 {
		t.Errorf("%d before the window, %d carried into it, %d done, %d unfinished, %d latencies; want 4, 2, 18, 2, 18",
			res.Warmup, res.Carried, res.Done, len(res.Unfinished), res.Latency.TotalCount())
	}
	golden.Near(t, "throughput", 20, fill(t, res).Value(record.Throughput), 1e-9)
	// Of the carried ones and of the unfinished ones, a half each lies in the window.
	golden.Near(t, "operations' worth of work in the window", 20, res.Work, 0.01)
	// The window's inputs do not depend on how long the warm-up was.
	measured := slices.DeleteFunc(slices.Sorted(slices.Values(seqs)), func(seq uint64) bool { return seq >= 1<<40 })
	if len(measured) != 20 || measured[0] != 0 || measured[19] != 19 {
		t.Errorf("the window's inputs are %v, want 0 to 19", measured)
	}
}

func TestWarmupLastsUntilItsOperationsHaveEnded(t *testing.T) {
	res, _ := run(t, runner.Config{Workers: 2, Duration: window, Samples: 1, Warmup: runner.Warmup{Ops: 10}, Check: none}, target{
		run: func(context.Context, any) ([]byte, error) { time.Sleep(100 * time.Millisecond); return nil, nil },
	})
	golden.Within(t, "operations before the window, with those that ended with the last", 10, res.Warmup, 12)
}

// TestWarmupUntilStationary: latencies fall for two seconds of the run, then stay.
func TestWarmupUntilStationary(t *testing.T) {
	for _, test := range []struct {
		name        string
		falls       time.Duration
		least, most time.Duration // of the warm-up
		unsettled   bool
	}{
		{"falls for=0s", 0, 500 * time.Millisecond, 1500 * time.Millisecond, false},
		{"falls for=2s", 2 * time.Second, 2 * time.Second, 4 * time.Second, false},
		{"falls for=20s", 20 * time.Second, 10 * time.Second, 10100 * time.Millisecond, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begin := time.Now()
				var opened time.Duration
				noise := rand.New(rand.NewPCG(1, 2))
				res := must.Get(runner.Run(t.Context(), runner.Config{
					Workers: 1, Duration: window, Samples: 1, Warmup: runner.Warmup{Stationary: true, Limit: 10 * time.Second}, Check: none,
				}, target{run: func(context.Context, any) ([]byte, error) {
					left := max(test.falls-time.Since(begin), 0)
					mean := time.Millisecond + 4*time.Millisecond*left/max(test.falls, 1)
					time.Sleep(mean + time.Duration(noise.NormFloat64()*5e4))
					return nil, nil
				}}))(t)
				opened = time.Since(begin) - res.Window
				golden.Within(t, "window opened after", test.least, opened, test.most+60*time.Millisecond)
				golden.Equal(t, "finding warm-up", test.unsettled, hasFinding(fill(t, res), "warm-up", "stopped at its limit of 10s: the latency still had a trend"))
			})
		})
	}
}

func TestInputsAreUsedInTurn(t *testing.T) {
	var built atomic.Int64
	uses := make([]atomic.Int64, 5)
	res, _ := run(t, runner.Config{Workers: 1, Duration: window, Samples: 5, Grace: time.Second, Check: none}, target{
		input: func(_ context.Context, seq uint64) (any, error) { built.Add(1); return seq, nil },
		run: func(_ context.Context, input any) ([]byte, error) {
			uses[input.(uint64)].Add(1)
			time.Sleep(10 * time.Millisecond)
			return nil, nil
		},
	})
	if built.Load() != 5 || res.Input != nil {
		t.Errorf("%d inputs built, timed %v; want 5, not timed", built.Load(), res.Input)
	}
	for i := range uses {
		golden.Equal(t, fmt.Sprintf("uses of input %d", i), int64(res.Done)/5, uses[i].Load())
	}
}

func TestInputsBuiltByEachOperationAreTimedApart(t *testing.T) {
	res, _ := run(t, runner.Config{Workers: 2, Duration: time.Second, Grace: time.Second, Check: none}, target{
		input: func(context.Context, uint64) (any, error) { time.Sleep(40 * time.Millisecond); return nil, nil },
		run:   func(context.Context, any) ([]byte, error) { time.Sleep(10 * time.Millisecond); return nil, nil },
	})
	golden.Near(t, "longest latency in ns, without the input's time", 10e6, float64(res.Latency.Max()), 0.001)
	if got := res.Input.Mean(); uint64(res.Input.TotalCount()) != res.Done || !within(got, 40e6, 0.001) {
		t.Errorf("%d inputs of %v ns, want %d of 40 ms", res.Input.TotalCount(), got, res.Done)
	}
	rec := fill(t, res)
	for _, name := range []record.Quantity{record.AllocBytes, record.Allocs, record.Goroutines} {
		if m, ok := rec.Metric(name); ok {
			t.Errorf("%s %v counts the building of inputs", name, m.Value)
		}
	}
	if !slices.ContainsFunc(rec.Findings, func(f record.Finding) bool { return f.Name == "inputs" }) {
		t.Errorf("no finding says why memory per operation is missing: %+v", rec.Findings)
	}
}

func TestPanicIsAnErrorOfItsOperation(t *testing.T) {
	res, _ := run(t, runner.Config{Workers: 1, Duration: window, Samples: 2, Grace: time.Second, Check: none}, target{
		run: func(_ context.Context, input any) ([]byte, error) {
			time.Sleep(10 * time.Millisecond)
			if input.(uint64) == 1 {
				panic("planted")
			}
			return nil, nil
		},
	})
	golden.Equal(t, "done, failed", [2]uint64{50, 50}, [2]uint64{res.Done, res.Failed})
	rec := fill(t, res)
	if rec.Status != record.Failed || !strings.Contains(rec.Error, "50 of 100 operations failed: panic: planted") {
		t.Errorf("status %s: %s", rec.Status, rec.Error)
	}
	if len(rec.Findings) == 0 || !strings.Contains(rec.Findings[0].Text, "runner_test.go") {
		t.Errorf("no stack in the findings: %+v", rec.Findings)
	}
}

func TestInterruptedRun(t *testing.T) {
	for _, test := range []struct {
		name  string
		after time.Duration
		done  uint64
	}{
		{"during=inputs", 15 * time.Millisecond, 0},
		{"during=warmup", 150 * time.Millisecond, 0},
		{"during=window", 1150 * time.Millisecond, 5},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), test.after)
				defer cancel()
				begin := time.Now()
				res := must.Get(runner.Run(ctx, runner.Config{Workers: 1, Duration: time.Hour, Warmup: runner.Warmup{Time: time.Second}, Samples: 5, Grace: time.Hour, Check: none}, target{
					input: func(context.Context, uint64) (any, error) { time.Sleep(10 * time.Millisecond); return nil, nil },
					run:   func(context.Context, any) ([]byte, error) { time.Sleep(19 * time.Millisecond); return nil, nil },
				}))(t)
				if !res.Interrupted || res.Done != test.done {
					t.Errorf("interrupted %v, %d done; want true, %d", res.Interrupted, res.Done, test.done)
				}
				if late := time.Since(begin) - test.after; late > 100*time.Millisecond {
					t.Errorf("ended %v after the interrupt", late)
				}
				rec := record.New()
				must.Do(t, res.Fill(rec))
				golden.Equal(t, "status", record.Partial, rec.Status)
			})
		})
	}
}

// TestUsageOfKnownOperations: an operation that starts ten goroutines, allocates
// ten buffers and, in one case, collects.
func TestUsageOfKnownOperations(t *testing.T) {
	const ops = 100
	for _, collects := range []bool{false, true} {
		res := must.Get(runner.Run(t.Context(), runner.Config{Workers: 1, Count: ops, Samples: 1, Check: none}, target{
			run: func(context.Context, any) ([]byte, error) {
				var wg sync.WaitGroup
				sums := make([][]byte, 10)
				for i := range sums {
					wg.Go(func() { sums[i] = make([]byte, 1<<16) })
				}
				wg.Wait()
				if collects {
					runtime.GC()
				}
				return sums[0][:1], nil
			},
		}))(t)
		rec := fill(t, res)
		golden.Equal(t, "goroutines per operation", 10, rec.Value(record.Goroutines))
		// Beside the buffers there are their slice, the closures and the group.
		golden.Within(t, "bytes per operation", 10*(1<<16), rec.Value(record.AllocBytes), 10*(1<<16)+4096)
		golden.Within(t, "allocations per operation", 20, rec.Value(record.Allocs), 35)
		if got := rec.Value(record.GCCycles); collects && got != ops {
			t.Errorf("%v collections, want %d", got, ops)
		}
	}
}

// TestCollectorsShare: of operations that only collect, the collector has much
// of a processor; of operations that only compute, next to nothing.
func TestCollectorsShare(t *testing.T) {
	share := func(operation func()) float64 {
		res := must.Get(runner.Run(t.Context(), runner.Config{Workers: 1, Count: 200, Samples: 1, Check: none}, target{
			run: func(context.Context, any) ([]byte, error) { operation(); return nil, nil },
		}))(t)
		return fill(t, res).Value(record.GCCPUShare)
	}
	block := make([]byte, 1<<18)
	collects, computes := share(runtime.GC), share(func() { sha256.Sum256(block) })
	if collects > 100 || computes > collects/2 {
		t.Errorf("the collector had %v %% of the processor time of operations that collect, and %v %% of others", collects, computes)
	}
}

func TestRunRefuses(t *testing.T) {
	rate := func(shape runner.Shape, rates ...float64) func(c *runner.Config) {
		return func(c *runner.Config) { c.Arrivals = &runner.Arrivals{Shape: shape, Rates: rates} }
	}
	for _, test := range []struct {
		name string
		edit func(c *runner.Config)
		want string
	}{
		{"workers=0", func(c *runner.Config) { c.Workers = 0 }, "workers: 0"},
		{"workers=many", func(c *runner.Config) { c.Workers = runner.MaxWorkers + 1 }, "workers"},
		{"duration=0", func(c *runner.Config) { c.Duration = 0 }, "duration: 0s"},
		{"duration=-1s", func(c *runner.Config) { c.Duration, c.Count = -time.Second, 1 }, "duration: -1s"},
		{"count=many", func(c *runner.Config) { c.Count = 1 << 63 }, "count"},
		{"warmup=-1s", func(c *runner.Config) { c.Warmup.Time = -time.Second }, "warm-up"},
		{"warmup limit=-1s", func(c *runner.Config) { c.Warmup.Limit = -time.Second }, "warm-up"},
		{"samples=-1", func(c *runner.Config) { c.Samples = -1 }, "samples: -1"},
		{"samples=many", func(c *runner.Config) { c.Samples = runner.MaxSamples + 1 }, "samples"},
		{"grace=-1s", func(c *runner.Config) { c.Grace = -time.Second }, "grace"},
		{"arena=-1", func(c *runner.Config) { c.Arena = -1 }, "arena: -1"},
		{"check=some", func(c *runner.Config) { c.Check.Policy = "some" }, "check"},
		{"check=sample of 0", func(c *runner.Config) { c.Check.Policy = runner.CheckSample }, "a sample of 0"},
		{"classes without class", func(c *runner.Config) { c.Classes = []string{"a"} }, "classes"},
		{"queue=0", func(c *runner.Config) { rate(runner.Constant, 1)(c); c.Queue = 0 }, "queue: 0"},
		{"open loop, samples=0", func(c *runner.Config) { rate(runner.Constant, 1)(c); c.Samples = 0 }, "samples: 0"},
		{"rate=0", rate(runner.Constant, 0), "rate: 0"},
		{"rate=-1", rate(runner.Poisson, -1), "rate: -1"},
		{"rate=NaN", rate(runner.Poisson, math.NaN()), "rate: NaN"},
		{"rate=many", rate(runner.Constant, 2e6), "rate: 2e+06"},
		{"arrivals=burst", rate("burst", 1), "arrivals"},
		{"ramp of one", rate(runner.Ramp, 1), "rate: 1 rates"},
		{"constant of two", rate(runner.Constant, 1, 2), "rate: 2 rates"},
		{"step of none", rate(runner.Step), "rate: 0 rates"},
		{"ramp without end", func(c *runner.Config) { rate(runner.Ramp, 1, 2)(c); c.Duration, c.Count = 0, 9 }, "duration: none"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := runner.Config{Workers: 1, Duration: time.Second, Samples: 1, Queue: 1}
			test.edit(&cfg)
			_, err := runner.Run(t.Context(), cfg, target{})
			must.Fail(t, err, zkbench.ErrParams, "settings")
			golden.Contains(t, fmt.Sprint(err), test.want)
		})
	}
}

func TestTooManyArrivalsAreRefused(t *testing.T) {
	_, err := runner.Run(t.Context(), runner.Config{
		Workers: 1, Duration: 24 * time.Hour, Samples: 1, Queue: 1, Arrivals: &runner.Arrivals{Shape: runner.Poisson, Rates: []float64{1e6}},
	}, target{})
	if _, ok := errors.AsType[*zkbench.LimitError](err); !ok {
		t.Errorf("error %v, want a LimitError", err)
	}
}

// TestCorpusLargerThanMemoryIsRefused after its first inputs, of 64 kB each.
func TestCorpusLargerThanMemoryIsRefused(t *testing.T) {
	built := 0
	cfg := runner.Config{Workers: 1, Duration: time.Millisecond, Samples: 10_000, Available: 100 << 20, Check: none}
	tg := target{
		input: func(context.Context, uint64) (any, error) { built++; return make([]byte, 1<<16), nil },
		run:   func(context.Context, any) ([]byte, error) { return nil, nil },
	}
	_, err := runner.Run(t.Context(), cfg, tg)
	limit, ok := errors.AsType[*zkbench.LimitError](err)
	if !ok || limit.Max != 100<<20 || !within(float64(limit.Estimate), 2*10_000*(1<<16), 0.2) {
		t.Errorf("error %v, want a LimitError of about 1.3 GB", err)
	}
	if built > 100 {
		t.Errorf("%d inputs built before that was seen", built)
	}
	cfg.Samples = 100
	if _, err := runner.Run(t.Context(), cfg, tg); err != nil {
		t.Errorf("7 MB refused: %v", err)
	}
}

func TestInputErrorEndsTheSetUp(t *testing.T) {
	planted := errors.New("planted")
	_, err := runner.Run(t.Context(), runner.Config{Workers: 1, Duration: time.Second, Samples: 3}, target{
		input: func(_ context.Context, seq uint64) (any, error) {
			if seq == 2 {
				return nil, planted
			}
			return nil, nil
		},
	})
	must.Fail(t, err, planted, "inputs")
	golden.Contains(t, fmt.Sprint(err), "input 2")
}
