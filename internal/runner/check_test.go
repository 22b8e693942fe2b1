package runner_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

func sample(n int) runner.Check { return runner.Check{Policy: runner.CheckSample, N: n} }

func TestChecks(t *testing.T) {
	wrong := errors.New("wrong")
	var calls atomic.Int64
	for _, test := range []struct {
		name          string
		check         runner.Check
		arena         int64
		wantChecked   uint64
		wantBad       uint64
		wantStatus    record.Status
		everyIsBroken bool
	}{
		{"check=fit", runner.Check{}, 0, 100, 20, record.Failed, false},
		{"check=all", runner.Check{Policy: runner.CheckAll}, 0, 100, 20, record.Failed, false},
		{"check=sample=10", sample(10), 0, 10, 10, record.Failed, true},
		{"check=fit, arena=10 results", runner.Check{}, 10 * 16, 10, 10, record.Failed, true},
		{"check=sample=3, workers=2", sample(3), 0, 3, 3, record.Failed, true},
		{"check=none", none, 0, 0, 0, record.OK, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			calls.Store(0)
			res, _ := run(t, runner.Config{Workers: 2, Duration: window, Samples: 5, Check: test.check, Arena: test.arena, Grace: time.Second}, target{
				run: func(_ context.Context, input any) ([]byte, error) {
					time.Sleep(20 * time.Millisecond)
					return text(input.(uint64)), nil
				},
				check: func(_ context.Context, input any, output []byte) error {
					if !bytes.Equal(text(input.(uint64)), output) {
						return errors.New("results and inputs are mixed up")
					}
					// One that is wrong in the probe ends the run.
					if first := calls.Add(1) == 1; test.everyIsBroken && !first || input.(uint64) == 3 {
						return wrong
					}
					return nil
				},
			})
			golden.Equal(t, "checked, wrong", [2]uint64{test.wantChecked, test.wantBad}, [2]uint64{res.Checked, res.CheckFailed})
			if test.wantBad > 0 && !errors.Is(res.CheckErr, wrong) {
				t.Errorf("first error %v, want %v", res.CheckErr, wrong)
			}
			rec := fill(t, res)
			golden.Equal(t, "status", test.wantStatus, rec.Status)
			if rec.Count(record.CountChecked) != test.wantChecked || hasFinding(rec, "checked", "of 100 results checked") != (test.wantChecked < 100) {
				t.Errorf("the record does not say %d of 100: %v", test.wantChecked, rec.Findings)
			}
		})
	}
}

// TestCheckAllRefusesWhatCannotFit: results of 1000 bytes, 100 of them a second
// for an hour.
func TestCheckAllRefusesWhatCannotFit(t *testing.T) {
	for _, test := range []struct {
		name   string
		edit   func(cfg *runner.Config)
		refuse bool
	}{
		{"arena=256 MiB", func(*runner.Config) {}, true},
		{"arena=1 GiB", func(cfg *runner.Config) { cfg.Arena = 1 << 30 }, false},
		{"check=fit", func(cfg *runner.Config) { cfg.Check = runner.Check{} }, false},
		{"count=1000", func(cfg *runner.Config) { cfg.Count = 1000 }, false},
		{"count=1000000", func(cfg *runner.Config) { cfg.Duration, cfg.Count = 0, 1_000_000 }, true},
		{"rate=10", func(cfg *runner.Config) { cfg.Arrivals, cfg.Queue = arrivals(runner.Constant, 10), 1 }, false},
		{"rate=1000", func(cfg *runner.Config) { cfg.Arrivals, cfg.Queue = arrivals(runner.Constant, 1000), 1 }, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			cfg := runner.Config{Workers: 1, Duration: time.Hour, Samples: 1, Check: runner.Check{Policy: runner.CheckAll}}
			test.edit(&cfg)
			var err error
			// A plan that is accepted would run for an hour: the operation ends it.
			bubble(t, func(ctx context.Context) {
				ctx, cancel := context.WithCancel(ctx)
				defer cancel()
				operations := 0
				_, err = runner.Run(ctx, cfg, target{run: func(context.Context, any) ([]byte, error) {
					if operations++; operations == 3 {
						cancel()
					}
					time.Sleep(10 * time.Millisecond)
					return make([]byte, 1000), nil
				}})
			})
			limit, refused := errors.AsType[*zkbench.LimitError](err)
			if refused != test.refuse || !refused && err != nil {
				t.Errorf("error %v, want a refusal: %v", err, test.refuse)
			}
			if refused && (limit.Max != runner.DefaultArena || !strings.Contains(err.Error(), "sample")) {
				t.Errorf("%v: does not tell the arena's size and what is accepted", err)
			}
		})
	}
}

// TestKeptResultsAreAUniformSample: with 1000 results and 100 places each tenth
// of the window gives a tenth of the places, give or take six standard
// deviations. The seed makes it repeatable.
func TestKeptResultsAreAUniformSample(t *testing.T) {
	var mu sync.Mutex
	var tenths [10]int
	res, _ := run(t, runner.Config{Workers: 1, Duration: window, Check: sample(100), Seed: 1, Grace: time.Second}, target{
		run: func(_ context.Context, input any) ([]byte, error) {
			time.Sleep(time.Millisecond)
			return text(input.(uint64)), nil
		},
		check: func(_ context.Context, input any, output []byte) error {
			if !bytes.Equal(text(input.(uint64)), output) {
				return errors.New("results and inputs are mixed up")
			}
			if input.(uint64) >= 1000 { // the probe's
				return nil
			}
			mu.Lock()
			defer mu.Unlock()
			tenths[input.(uint64)/100]++
			return nil
		},
	})
	if res.Done != 1000 || res.Checked != 100 || res.CheckFailed != 0 {
		t.Fatalf("%d done, %d checked, %d wrong; want 1000, 100, 0", res.Done, res.Checked, res.CheckFailed)
	}
	for i, n := range tenths {
		golden.Within(t, fmt.Sprintf("places of 100 from tenth %d of the window", i), 1, n, 28)
	}
}

// TestLargeResultsAreKeptWhole: results outgrow the slots that were made for the
// first ones.
func TestLargeResultsAreKeptWhole(t *testing.T) {
	output := func(seq uint64) []byte { return bytes.Repeat(text(seq), 1+int(seq*seq)) }
	res, _ := run(t, runner.Config{Workers: 1, Duration: window, Samples: 50, Grace: time.Second}, target{
		run: func(_ context.Context, input any) ([]byte, error) {
			time.Sleep(time.Millisecond)
			return output(input.(uint64)), nil
		},
		check: func(_ context.Context, input any, got []byte) error {
			if !bytes.Equal(output(input.(uint64)), got) {
				return errors.New("not what was returned")
			}
			return nil
		},
	})
	golden.Equal(t, "checked, wrong", [2]uint64{1000, 0}, [2]uint64{res.Checked, res.CheckFailed})
}

// TestAllocationsAlone: operations that run alone have counts that repeat.
func TestAllocationsAlone(t *testing.T) {
	var sink []byte
	for _, test := range []struct {
		name  string
		run   func(ctx context.Context, input any) ([]byte, error)
		want  float64 // allocs/op
		exact bool
	}{
		{"three each", func(context.Context, any) ([]byte, error) {
			for range 3 {
				sink = make([]byte, 1024)
			}
			return nil, nil
		}, 3, true},
		{"by input", func(_ context.Context, input any) ([]byte, error) {
			for range input.(uint64) {
				sink = make([]byte, 1024)
			}
			return nil, nil
		}, 1.5, true}, // inputs 0, 1, 2, 3
	} {
		t.Run(test.name, func(t *testing.T) {
			res := must.Get(runner.Run(t.Context(), runner.Config{Workers: 1, Count: 10, Samples: 4, Alone: true, Check: none}, target{run: test.run}))(t)
			rec := fill(t, res)
			allocs, _ := rec.Metric(record.Allocs)
			bytes, _ := rec.Metric(record.AllocBytes)
			if allocs.Value != test.want || (allocs.Kind == record.Exact) != test.exact || bytes.Value != 1024*test.want || bytes.Kind != allocs.Kind {
				t.Errorf("%+v, %+v; want %v allocations of 1 kB, exact: %v", allocs, bytes, test.want, test.exact)
			}
		})
	}
	_ = sink
	calls := 0
	res := must.Get(runner.Run(t.Context(), runner.Config{Workers: 1, Count: 10, Samples: 4, Alone: true, Check: none}, target{
		run: func(context.Context, any) ([]byte, error) { calls++; sink = make([]byte, 8*calls); return nil, nil },
	}))(t)
	if m, _ := fill(t, res).Metric(record.AllocBytes); m.Kind != record.Timed {
		t.Errorf("bytes that grow from call to call are %+v, want timed", m)
	}
}

// TestMixIsCountedByClass.
func TestMixIsCountedByClass(t *testing.T) {
	res, _ := run(t, runner.Config{
		Workers: 3, Duration: time.Minute, Count: 900, Samples: 9, Check: none,
		Classes: []string{"issue", "transfer"}, Class: func(seq uint64) int { return int(min(seq%9, 1)) },
	}, target{run: func(_ context.Context, input any) ([]byte, error) {
		time.Sleep(time.Duration(10+min(input.(uint64), 1)*10) * time.Millisecond)
		return nil, nil
	}})
	rec := fill(t, res)
	for name, want := range map[string]struct {
		n  int64
		ns float64
	}{"latency/issue": {100, 10e6}, "latency/transfer": {800, 20e6}, "latency": {900, 20e6}} {
		encoded, _ := rec.Histogram(name)
		h := must.Get(encoded.Decode())(t)
		if h.TotalCount() != want.n || !within(float64(h.ValueAtPercentile(50)), want.ns, 0.001) {
			t.Errorf("%s: %d operations, P50 %v ns; want %d, %v", name, h.TotalCount(), h.ValueAtPercentile(50), want.n, want.ns)
		}
	}
}

// TestSeries: operations of 10 ms in the first two seconds, 20 ms in the third;
// a window of 2.5 s at one worker.
func TestSeries(t *testing.T) {
	var rec *record.Record
	bubble(t, func(ctx context.Context) {
		begin := time.Now()
		res := must.Get(runner.Run(ctx, runner.Config{Workers: 1, Duration: 2500 * time.Millisecond, Samples: 1, Check: none}, target{
			run: func(context.Context, any) ([]byte, error) {
				if time.Since(begin) < 2*time.Second {
					time.Sleep(10*time.Millisecond - time.Microsecond)
				} else {
					time.Sleep(20*time.Millisecond - time.Microsecond)
				}
				return nil, nil
			},
		}))(t)
		rec = fill(t, res)
	})
	for name, want := range map[record.Quantity][]float64{
		record.Throughput: {100, 100, 50},
		record.LatencyP50: {10e6, 10e6, 20e6},
		record.LatencyP99: {10e6, 10e6, 20e6},
	} {
		s, _ := rec.SeriesOf(name)
		if len(s.Values) != len(want) || s.Interval != time.Second {
			t.Errorf("%s: %v every %v, want %v every second", name, s.Values, s.Interval, want)
			continue
		}
		for i := range want {
			if !within(s.Values[i], want[i], 0.02) {
				t.Errorf("%s: %v, want %v", name, s.Values, want)
			}
		}
	}
	// The parts of the histogram add up to the whole.
	whole, _ := rec.Histogram(record.HistLatency)
	if len(whole.Parts) != 3 || whole.Interval != time.Second {
		t.Fatalf("%d parts every %v, want 3 every second", len(whole.Parts), whole.Interval)
	}
	sum := must.Get(record.Histogram{HDR: whole.Parts[0]}.Decode())(t)
	for _, p := range whole.Parts[1:] {
		h := must.Get(record.Histogram{HDR: p}.Decode())(t)
		sum.Merge(h)
	}
	h := must.Get(whole.Decode())(t)
	if late := h.TotalCount() - sum.TotalCount(); late < 0 || late > 1 { // what ended after the window
		t.Errorf("the parts hold %d values, the whole %d", sum.TotalCount(), h.TotalCount())
	}
}

func TestTheArenaIsOutsideTheHeap(t *testing.T) {
	res := must.Get(runner.Run(t.Context(), runner.Config{Workers: 2, Count: 100, Samples: 1, Arena: 64 << 20}, target{
		run: func(context.Context, any) ([]byte, error) { return make([]byte, 1<<18), nil },
	}))(t)
	golden.Within(t, "bytes of the arena resident, the results' 26 MB and some more", 100<<18, res.Arena, 64<<20)
	if res.Usage.HeapLive > 16<<20 {
		t.Errorf("%d bytes live on the heap: the results are among them", res.Usage.HeapLive)
	}
	golden.Equal(t, "results checked", 100, res.Checked)
}
