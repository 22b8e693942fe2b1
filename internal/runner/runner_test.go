package runner_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/runner"
)

// target is made of functions; those that are nil do the obvious.
type target struct {
	input func(ctx context.Context, seq uint64) (any, error)
	run   func(ctx context.Context, input any) (any, error)
	check func(ctx context.Context, input, output any) error
}

func (t target) Input(ctx context.Context, seq uint64) (any, error) {
	if t.input == nil {
		return seq, nil
	}
	return t.input(ctx, seq)
}

func (t target) Run(ctx context.Context, input any) (any, error) { return t.run(ctx, input) }

func (t target) Check(ctx context.Context, input, output any) error {
	if t.check == nil {
		return nil
	}
	return t.check(ctx, input, output)
}

// stragglers is longer than any operation of these tests: a bubble ends only
// when the operations that a run left behind have ended.
const stragglers = time.Hour

// window is a second but for half a millisecond, so that no operation of whole
// milliseconds ends in the instant in which the window closes.
const window = 999500 * time.Microsecond

// run runs in a bubble, whose clock moves only when all its goroutines wait: the
// latencies are exactly those that the operations sleep for.
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

func within(got, want, tolerance float64) bool { return math.Abs(got-want) <= tolerance*want }

func TestLatenciesAndThroughput(t *testing.T) {
	// One worker; every hundredth operation takes 50 ms, the others 1 ms to 2 ms.
	latency := func(seq uint64) time.Duration {
		if seq%100 == 99 {
			return 50 * time.Millisecond
		}
		return time.Millisecond + time.Duration(seq%100)*10*time.Microsecond
	}
	res, _ := run(t, runner.Config{Workers: 1, Duration: 20 * time.Second, Samples: 100, Grace: time.Second}, target{
		run: func(_ context.Context, input any) (any, error) {
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
	if res.Done < 9_000 || res.Failed != 0 || res.Unfinished != 0 {
		t.Fatalf("%d done, %d failed, %d unfinished", res.Done, res.Failed, res.Unfinished)
	}
	if want := time.Duration(sum); res.Elapsed != want {
		t.Errorf("elapsed %v, want %v, the sum of all latencies", res.Elapsed, want)
	}
	mean := sum / float64(res.Done)
	if !within(res.Mean, mean, 1e-9) {
		t.Errorf("mean %v, want %v", res.Mean, mean)
	}
	if want := jitter / float64(res.Done-1); !within(res.Jitter, want, 1e-9) {
		t.Errorf("jitter %v, want %v", res.Jitter, want)
	}
	var squares float64
	for _, d := range all {
		squares += (float64(d) - mean) * (float64(d) - mean)
	}
	if want := math.Sqrt(squares / float64(res.Done-1)); !within(res.StdDev, want, 1e-6) {
		t.Errorf("standard deviation %v, want %v", res.StdDev, want)
	}
	slices.Sort(all)
	for _, p := range []float64{1, 50, 75, 95, 99, 99.9, 100} {
		want := float64(all[int(math.Ceil(p/100*float64(len(all))))-1])
		if got := float64(res.Latency.ValueAtPercentile(p)); !within(got, want, 0.001) {
			t.Errorf("P%v %v, want %v", p, got, want)
		}
	}

	rec := record.New()
	if err := res.Fill(rec); err != nil {
		t.Fatal(err)
	}
	if rec.Status != record.OK || rec.Error != "" {
		t.Errorf("status %s: %s", rec.Status, rec.Error)
	}
	if got, want := rec.Value(record.Throughput), float64(res.Done)/(sum/1e9); !within(got, want, 1e-9) {
		t.Errorf("throughput %v, want %v", got, want)
	}
	if got, want := rec.Value(record.PureThroughput), 1e9/mean; !within(got, want, 1e-9) {
		t.Errorf("pure throughput %v, want %v", got, want)
	}
}

func TestAccounting(t *testing.T) {
	failed := errors.New("failed")
	rapid.Check(t, func(rt *rapid.T) {
		workers := rapid.IntRange(1, 8).Draw(rt, "workers")
		length := time.Duration(rapid.IntRange(1, 1000).Draw(rt, "window")) * time.Millisecond
		longest := rapid.IntRange(1, 2000).Draw(rt, "longest")
		deaf := rapid.Bool().Draw(rt, "deaf") // operations that do not look at their context
		interrupt := time.Duration(rapid.IntRange(1, 3000).Draw(rt, "interrupt")) * time.Millisecond
		keep := rapid.SampledFrom([]int{0, 10, 1 << 14}).Draw(rt, "keep")
		warmup := rapid.IntRange(0, 10).Draw(rt, "warmup")

		var res *runner.Result
		var took time.Duration
		synctest.Test(t, func(t *testing.T) {
			ctx, cancel := context.WithTimeout(t.Context(), interrupt)
			defer cancel()
			begin := time.Now()
			var err error
			res, err = runner.Run(ctx, runner.Config{
				Workers: workers, Duration: length, WarmupOps: warmup, Samples: 7, Keep: keep,
			}, target{run: func(ctx context.Context, input any) (any, error) {
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
				return n, nil
			}})
			if err != nil {
				t.Fatal(err)
			}
			took = time.Since(begin)
			time.Sleep(stragglers)
		})
		if res.Started != res.Done+res.Failed+res.Unfinished {
			rt.Errorf("started %d, but %d done + %d failed + %d unfinished", res.Started, res.Done, res.Failed, res.Unfinished)
		}
		if n := uint64(res.Latency.TotalCount()); n != res.Done {
			rt.Errorf("%d latencies of %d operations done", n, res.Done)
		}
		if res.Unfinished > uint64(workers) {
			rt.Errorf("%d unfinished of %d workers", res.Unfinished, workers)
		}
		var counted uint64
		for _, e := range res.Errors {
			counted += e.Count
		}
		if counted != res.Failed {
			rt.Errorf("%d errors counted, %d operations failed", counted, res.Failed)
		}
		if keep == 1<<14 && !res.Interrupted && res.Checked != res.Done {
			rt.Errorf("%d checked of %d, for all of which there was room", res.Checked, res.Done)
		}
		if res.Checked > uint64(keep+workers) {
			rt.Errorf("%d checked, %d to be kept", res.Checked, keep)
		}
		if took > interrupt+100*time.Millisecond {
			rt.Errorf("took %v, interrupted after %v", took, interrupt)
		}
	})
}

func TestOperationLongerThanTheWindow(t *testing.T) {
	for _, deaf := range []bool{false, true} {
		res, took := run(t, runner.Config{Workers: 1, Duration: 4 * time.Second, Samples: 1}, target{
			run: func(ctx context.Context, _ any) (any, error) {
				if deaf {
					ctx = context.WithoutCancel(ctx)
				}
				select {
				case <-time.After(3 * time.Second):
				case <-ctx.Done():
				}
				return nil, ctx.Err()
			},
		})
		if took > 4*time.Second+100*time.Millisecond {
			t.Errorf("deaf=%v: ended after %v, want 4s", deaf, took)
		}
		if res.Started != 2 || res.Done != 1 || res.Unfinished != 1 {
			t.Errorf("deaf=%v: started %d, done %d, unfinished %d; want 2, 1, 1", deaf, res.Started, res.Done, res.Unfinished)
		}
		if res.Elapsed < 4*time.Second {
			t.Errorf("deaf=%v: elapsed %v leaves out time that was spent", deaf, res.Elapsed)
		}
	}
}

func TestGraceLetsOperationsEnd(t *testing.T) {
	res, took := run(t, runner.Config{Workers: 3, Duration: 4 * time.Second, Samples: 1, Grace: time.Minute}, target{
		run: func(context.Context, any) (any, error) { time.Sleep(3 * time.Second); return nil, nil },
	})
	if res.Done != 6 || res.Unfinished != 0 || took != 6*time.Second || res.Elapsed != 6*time.Second {
		t.Errorf("done %d, unfinished %d, took %v, elapsed %v; want 6, 0, 6s, 6s", res.Done, res.Unfinished, took, res.Elapsed)
	}
}

func TestWarmupStaysOutOfTheWindow(t *testing.T) {
	var mu sync.Mutex
	var seqs []uint64
	res, _ := run(t, runner.Config{Workers: 2, Duration: window, Warmup: 100 * time.Millisecond, WarmupOps: 10, Grace: time.Second}, target{
		input: func(_ context.Context, seq uint64) (any, error) {
			mu.Lock()
			defer mu.Unlock()
			seqs = append(seqs, seq)
			return seq, nil
		},
		run: func(context.Context, any) (any, error) { time.Sleep(100 * time.Millisecond); return nil, nil },
	})
	if res.Warmup < 10 || res.Warmup > 12 {
		t.Errorf("%d operations before the window, want 10, and those that began as they ended", res.Warmup)
	}
	if res.Done != 20 || res.Latency.TotalCount() != 20 {
		t.Errorf("%d done, %d latencies; want 20", res.Done, res.Latency.TotalCount())
	}
	// The window's inputs do not depend on how long the warm-up was.
	window := slices.Sorted(slices.Values(seqs[res.Warmup:]))
	if window[0] != 0 || window[len(window)-1] != 19 {
		t.Errorf("the window's inputs run from %d to %d, want 0 to 19", window[0], window[len(window)-1])
	}
}

func TestInputsAreUsedInTurn(t *testing.T) {
	var built atomic.Int64
	uses := make([]atomic.Int64, 5)
	res, _ := run(t, runner.Config{Workers: 1, Duration: window, Samples: 5, Grace: time.Second}, target{
		input: func(_ context.Context, seq uint64) (any, error) { built.Add(1); return seq, nil },
		run: func(_ context.Context, input any) (any, error) {
			uses[input.(uint64)].Add(1)
			time.Sleep(10 * time.Millisecond)
			return nil, nil
		},
	})
	if built.Load() != 5 || res.Input.TotalCount() != 0 {
		t.Errorf("%d inputs built, %d of them timed; want 5, 0", built.Load(), res.Input.TotalCount())
	}
	for i := range uses {
		if uses[i].Load() != int64(res.Done)/5 {
			t.Errorf("input %d used %d times of %d", i, uses[i].Load(), res.Done)
		}
	}
}

func TestInputsBuiltByEachOperationAreTimedApart(t *testing.T) {
	res, _ := run(t, runner.Config{Workers: 2, Duration: time.Second, Grace: time.Second}, target{
		input: func(context.Context, uint64) (any, error) { time.Sleep(40 * time.Millisecond); return nil, nil },
		run:   func(context.Context, any) (any, error) { time.Sleep(10 * time.Millisecond); return nil, nil },
	})
	if got := res.Latency.Max(); !within(float64(got), 10e6, 0.001) {
		t.Errorf("longest latency %v ns, want 10 ms: the input's time is not part of it", got)
	}
	if got := res.Input.Mean(); uint64(res.Input.TotalCount()) != res.Done || !within(got, 40e6, 0.001) {
		t.Errorf("%d inputs of %v ns, want %d of 40 ms", res.Input.TotalCount(), got, res.Done)
	}
	rec := record.New()
	if err := res.Fill(rec); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{record.AllocBytes, record.Allocs, record.Goroutines} {
		if m, ok := rec.Metric(name); ok {
			t.Errorf("%s %v counts the building of inputs", name, m.Value)
		}
	}
	if !slices.ContainsFunc(rec.Findings, func(f record.Finding) bool { return f.Name == "inputs" }) {
		t.Errorf("no finding says why memory per operation is missing: %+v", rec.Findings)
	}
}

func TestPanicIsAnErrorOfItsOperation(t *testing.T) {
	res, _ := run(t, runner.Config{Workers: 1, Duration: window, Samples: 2, Grace: time.Second}, target{
		run: func(_ context.Context, input any) (any, error) {
			time.Sleep(10 * time.Millisecond)
			if input.(uint64) == 1 {
				panic("planted")
			}
			return nil, nil
		},
	})
	if res.Done != 50 || res.Failed != 50 {
		t.Errorf("%d done, %d failed; want 50 each", res.Done, res.Failed)
	}
	rec := record.New()
	if err := res.Fill(rec); err != nil {
		t.Fatal(err)
	}
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
				res, err := runner.Run(ctx, runner.Config{Workers: 1, Duration: time.Hour, Warmup: time.Second, Samples: 5, Grace: time.Hour}, target{
					input: func(context.Context, uint64) (any, error) { time.Sleep(10 * time.Millisecond); return nil, nil },
					run:   func(context.Context, any) (any, error) { time.Sleep(19 * time.Millisecond); return nil, nil },
				})
				if err != nil {
					t.Fatal(err)
				}
				if !res.Interrupted || res.Done != test.done {
					t.Errorf("interrupted %v, %d done; want true, %d", res.Interrupted, res.Done, test.done)
				}
				if late := time.Since(begin) - test.after; late > 100*time.Millisecond {
					t.Errorf("ended %v after the interrupt", late)
				}
				rec := record.New()
				if err := res.Fill(rec); err != nil {
					t.Fatal(err)
				}
				if rec.Status != record.Partial {
					t.Errorf("status %s, want partial", rec.Status)
				}
			})
		})
	}
}

func TestGoroutinesAndAllocationsPerOperation(t *testing.T) {
	res, err := runner.Run(t.Context(), runner.Config{Workers: 2, Duration: 200 * time.Millisecond, WarmupOps: 2, Samples: 1, Grace: time.Second}, target{
		run: func(context.Context, any) (any, error) {
			var wg sync.WaitGroup
			sums := make([][]byte, 10)
			for i := range sums {
				wg.Go(func() { sums[i] = make([]byte, 1<<16) })
			}
			wg.Wait()
			return sums, nil
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	n := float64(res.Done)
	if got := float64(res.Usage.Goroutines) / n; !within(got, 10, 0.01) {
		t.Errorf("%v goroutines per operation, want 10", got)
	}
	if got := float64(res.Usage.Bytes) / n; !within(got, 10*(1<<16), 0.05) {
		t.Errorf("%v bytes per operation, want %d", got, 10*(1<<16))
	}
	// The sum is ten buffers, ten closures, their slice and the group, and what
	// the runtime needs for new goroutines.
	if got := float64(res.Usage.Allocs) / n; got < 20 || got > 35 {
		t.Errorf("%v allocations per operation, want 20 to 35", got)
	}
}

func TestRunRefuses(t *testing.T) {
	good := runner.Config{Workers: 1, Duration: time.Second}
	for _, test := range []struct {
		name string
		edit func(c *runner.Config)
		want string
	}{
		{"workers=0", func(c *runner.Config) { c.Workers = 0 }, "workers: 0"},
		{"workers=many", func(c *runner.Config) { c.Workers = runner.MaxWorkers + 1 }, "workers"},
		{"duration=0", func(c *runner.Config) { c.Duration = 0 }, "duration: 0s"},
		{"warmup=-1s", func(c *runner.Config) { c.Warmup = -time.Second }, "warm-up"},
		{"warmup ops=-1", func(c *runner.Config) { c.WarmupOps = -1 }, "warm-up"},
		{"samples=-1", func(c *runner.Config) { c.Samples = -1 }, "samples: -1"},
		{"samples=many", func(c *runner.Config) { c.Samples = runner.MaxSamples + 1 }, "samples"},
		{"keep=-1", func(c *runner.Config) { c.Keep = -1 }, "results kept"},
		{"keep=many", func(c *runner.Config) { c.Keep = runner.MaxKeep + 1 }, "results kept"},
		{"grace=-1s", func(c *runner.Config) { c.Grace = -time.Second }, "grace"},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := good
			test.edit(&cfg)
			_, err := runner.Run(t.Context(), cfg, target{})
			if !errors.Is(err, zkbench.ErrParams) || !strings.Contains(err.Error(), test.want) {
				t.Errorf("error %v, want ErrParams with %q", err, test.want)
			}
		})
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
	if !errors.Is(err, planted) || !strings.Contains(err.Error(), "input 2") {
		t.Errorf("error %v, want that of input 2", err)
	}
}
