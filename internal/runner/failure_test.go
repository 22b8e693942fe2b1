package runner_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// manners are the ways in which an operation of this process fails.
var manners = []struct {
	name string
	fail func() error
	text string // of the record's error
}{
	{"error", func() error { return errors.New("out of memory") }, "out of memory"},
	{"panic", func() error { panic("out of order") }, "panic: out of order"},
	{"panic of its text", func() error { return unspeakable{} }, "panic: no text"},
	{"goexit", func() error { runtime.Goexit(); return nil }, "runtime.Goexit"},
	{"timeout", func() error { return fmt.Errorf("not ended after 1s: %w", context.DeadlineExceeded) }, "not ended after 1s"},
}

type unspeakable struct{}

func (unspeakable) Error() string { panic("no text") }

// TestFailuresAreCounted: one operation fails, at each moment of a run, in each manner.
// Operations take 10 ms, of two workers; the warm-up ends after 100 ms, the window 100 ms later.
func TestFailuresAreCounted(t *testing.T) {
	const before, window = "before", "window"
	moments := []struct {
		name    string
		fails   func(call int, since time.Duration) bool // by its number, and its begin since the first one of the load
		takes   time.Duration                            // the one that fails; 0: as the others
		when    string
		measure bool // a window was opened
	}{
		{"probe", func(call int, _ time.Duration) bool { return call == 1 }, 0, before, false},
		{"warm-up", func(call int, since time.Duration) bool { return call > 1 && since == 20*time.Millisecond }, 0, before, true},
		{"carried", func(call int, since time.Duration) bool { return call > 1 && since == 90*time.Millisecond }, 15 * time.Millisecond, before, true},
		{"window", func(call int, since time.Duration) bool { return call > 1 && since == 140*time.Millisecond }, 0, window, true},
		{"after", func(call int, since time.Duration) bool { return call > 1 && since == 190*time.Millisecond }, 50 * time.Millisecond, window, true},
	}
	for _, moment := range moments {
		for _, manner := range manners {
			t.Run(moment.name+"/"+manner.name, func(t *testing.T) {
				var calls, failed atomic.Int64
				var load atomic.Pointer[time.Time]
				res, _ := run(t, runner.Config{
					Workers: 2, Duration: 100 * time.Millisecond, Samples: 3, Grace: time.Second,
					Warmup: runner.Warmup{Time: 99 * time.Millisecond},
				}, target{run: func(_ context.Context, input any) ([]byte, error) {
					call := int(calls.Add(1))
					if call > 1 {
						now := time.Now()
						load.CompareAndSwap(nil, &now)
					}
					var since time.Duration
					if begin := load.Load(); begin != nil {
						since = time.Since(*begin)
					}
					fails := moment.fails(call, since) && failed.CompareAndSwap(0, 1)
					if fails && moment.takes > 0 {
						time.Sleep(moment.takes)
					} else {
						time.Sleep(10 * time.Millisecond)
					}
					if fails {
						return nil, manner.fail()
					}
					return text(input.(uint64)), nil
				}})
				if failed.Load() != 1 {
					t.Fatal("no operation failed: the test does not test")
				}
				rec := fill(t, res)
				if rec.Status != record.Failed || !strings.Contains(rec.Error, manner.text) || !hasFinding(rec, "error", manner.text) {
					t.Errorf("%s %q, findings %v; want it failed, and %q in both", rec.Status, rec.Error, rec.Findings, manner.text)
				}
				want := [2]uint64{1, 0}
				if moment.when == window {
					want = [2]uint64{0, 1}
				}
				golden.Equal(t, "failed before the window, and of it", want, [2]uint64{rec.Count(record.CountWarmupFailed), rec.Count(record.CountFailed)})
				golden.Equal(t, "a window was opened", moment.measure, rec.Count(record.CountDone) > 0)
				if moment.measure && (res.Done < 16 || res.Started != res.Done+res.Failed+uint64(len(res.Unfinished))) {
					t.Errorf("%d done, %d failed, %d unfinished of %d: a worker is missing", res.Done, res.Failed, len(res.Unfinished), res.Started)
				}
				if !moment.measure && calls.Load() != 1 {
					t.Errorf("%d operations were tried, want 1", calls.Load())
				}
			})
		}
	}
}

// TestCancelledFailures: an operation that is given up has not failed where its error says that
// it was; another error and a panic are failures.
func TestCancelledFailures(t *testing.T) {
	killed := func() error {
		cmd := exec.Command("sleep", "60")
		must.Do(t, cmd.Start())
		must.Do(t, cmd.Process.Kill())
		return cmd.Wait()
	}()
	for name, want := range map[string]uint64{"context": 0, "killed": 0, "error": 1, "panic": 1} {
		t.Run(name, func(t *testing.T) {
			res, _ := run(t, runner.Config{Workers: 1, Duration: window, Samples: 1, Check: none}, target{
				run: func(ctx context.Context, _ any) ([]byte, error) {
					<-ctx.Done()
					switch name {
					case "panic":
						panic("while it ended")
					case "context":
						return nil, fmt.Errorf("stopped: %w", ctx.Err())
					case "killed":
						return nil, fmt.Errorf("prove: %w", killed)
					}
					return nil, errors.New("out of memory")
				},
			})
			golden.Equal(t, "failed", want, res.Failed)
			golden.Equal(t, "unfinished", 1-want, uint64(len(res.Unfinished)))
		})
	}
}

// TestWarmupIsChecked: results of the probe and of the warm-up are checked as the window's are,
// also those that end in it.
func TestWarmupIsChecked(t *testing.T) {
	for name, test := range map[string]struct {
		check runner.Check
		wrong func(call int64) bool
		want  [2]uint64 // checked and wrong
	}{
		"the probe's":           {runner.Check{}, func(call int64) bool { return call == 1 }, [2]uint64{1, 1}},
		"all right":             {runner.Check{}, func(int64) bool { return false }, [2]uint64{11, 0}},
		"one of the warm-up's":  {runner.Check{}, func(call int64) bool { return call == 5 }, [2]uint64{11, 1}},
		"the one that outlasts": {runner.Check{}, func(call int64) bool { return call == 11 }, [2]uint64{11, 1}},
		"of all":                {runner.Check{Policy: runner.CheckAll}, func(call int64) bool { return call == 5 }, [2]uint64{11, 1}},
		"of a sample":           {sample(4), func(call int64) bool { return call > 1 && call <= 11 }, [2]uint64{5, 4}},
		"none":                  {none, func(call int64) bool { return call == 5 }, [2]uint64{0, 0}},
	} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int64
			bad := []byte("bad")
			res, _ := run(t, runner.Config{
				Workers: 1, Duration: window, Samples: 5, Check: test.check, Grace: time.Second,
				Warmup: runner.Warmup{Time: 95 * time.Millisecond},
			}, target{
				run: func(_ context.Context, input any) ([]byte, error) {
					call := calls.Add(1)
					time.Sleep(11 * time.Millisecond)
					if test.wrong(call) {
						return bad, nil
					}
					return text(input.(uint64)), nil
				},
				check: func(_ context.Context, input any, output []byte) error {
					if bytes.Equal(output, bad) {
						return errors.New("wrong")
					}
					if !bytes.Equal(output, text(input.(uint64))) {
						return errors.New("results and inputs are mixed up")
					}
					return nil
				},
			})
			rec := fill(t, res)
			golden.Equal(t, "checked, wrong", test.want, [2]uint64{rec.Count(record.CountWarmupChecked), rec.Count(record.CountWarmupBad)})
			golden.Equal(t, "wrong in the window", 0, res.CheckFailed)
			wantStatus := record.OK
			if test.want[1] > 0 {
				wantStatus = record.Failed
			}
			golden.Equal(t, "status of "+rec.Error, wantStatus, rec.Status)
		})
	}
}

// TestWorkerStuckInTheWarmup: one of two workers never comes back.
func TestWorkerStuckInTheWarmup(t *testing.T) {
	var calls atomic.Int64
	res, _ := run(t, runner.Config{
		Workers: 2, Duration: window, Samples: 1, Check: none, Warmup: runner.Warmup{Time: 100 * time.Millisecond},
	}, target{run: func(context.Context, any) ([]byte, error) {
		if calls.Add(1) == 3 {
			time.Sleep(time.Minute)
		}
		time.Sleep(10 * time.Millisecond)
		return nil, nil
	}})
	if rec := fill(t, res); !hasFinding(rec, "unfinished", "1 operation of the warm-up still ran at the end") {
		t.Errorf("findings %v: the worker that did nothing is not named", rec.Findings)
	}
}

// TestDoubts: a check that accepts whatever it is given, and an operation that changes its input.
func TestDoubts(t *testing.T) {
	descending := func(seq uint64) []byte { return text(9876543210 + seq) }
	fresh := func(_ context.Context, seq uint64) (any, error) { return descending(seq), nil }
	sort := func(in []byte) ([]byte, error) { time.Sleep(time.Millisecond); slices.Sort(in); return in, nil }
	right := func(_ context.Context, input any, output []byte) error {
		if want := slices.Sorted(slices.Values(input.([]byte))); !bytes.Equal(want, output) {
			return errors.New("not sorted")
		}
		return nil
	}
	copied := func(_ context.Context, input any) ([]byte, error) { return sort(bytes.Clone(input.([]byte))) }
	var made atomic.Uint64
	for _, test := range []struct {
		name string
		target
		want string
	}{
		{"nothing is wrong", target{fresh, copied, right}, ""},
		{"a check that accepts all", target{fresh, copied, func(context.Context, any, []byte) error { return nil }}, runner.AnyResult},
		{"a check that ignores one byte", target{fresh, copied, func(ctx context.Context, input any, output []byte) error {
			output[1] = slices.Sorted(slices.Values(input.([]byte)))[1]
			return right(ctx, input, output)
		}}, ""},
		{"a check that panics", target{fresh, copied, func(ctx context.Context, input any, output []byte) error {
			if err := right(ctx, input, output); err != nil {
				panic(err)
			}
			return nil
		}}, ""},
		{"sorted in place", target{fresh, func(_ context.Context, input any) ([]byte, error) { return sort(input.([]byte)) }, right}, runner.InputChanged},
		{"inputs that differ each time", target{func(context.Context, uint64) (any, error) { return descending(made.Add(1)), nil }, copied, right}, ""},
		{"a check that hangs on what is wrong", target{fresh, copied, func(ctx context.Context, input any, output []byte) error {
			if err := right(ctx, input, output); err != nil {
				<-ctx.Done()
				return err
			}
			return nil
		}}, ""},
		{"a cache that is filled on first use", target{func(_ context.Context, seq uint64) (any, error) { return &lazy{of: int(seq)}, nil }, func(_ context.Context, input any) ([]byte, error) {
			time.Sleep(time.Millisecond)
			l := input.(*lazy)
			l.once.Do(func() { l.cache = []int{l.of}; l.byName = map[string]int{"of": l.of} })
			return text(uint64(l.cache[0])), nil
		}, func(_ context.Context, input any, output []byte) error {
			if string(output) != string(text(uint64(input.(*lazy).of))) {
				return errors.New("not it")
			}
			return nil
		}}, ""},
		{"numbers that are none, and a list of a million", target{func(context.Context, uint64) (any, error) { return list(1 << 20), nil }, func(context.Context, any) ([]byte, error) {
			time.Sleep(time.Millisecond)
			return nil, nil
		}, nil}, ""},
		{"nothing to check", target{fresh, func(context.Context, any) ([]byte, error) { time.Sleep(time.Millisecond); return nil, nil }, nil}, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			res, _ := run(t, runner.Config{Workers: 2, Duration: window, Samples: 3, Grace: time.Second}, test.target)
			rec := fill(t, res)
			golden.Equal(t, "status of "+rec.Error, record.OK, rec.Status)
			rec.Findings = res.Doubt(t.Context())
			for _, name := range []string{runner.AnyResult, runner.InputChanged} {
				golden.Equal(t, name, name == test.want, hasFinding(rec, name, ""))
			}
		})
	}
}

type lazy struct {
	of     int
	once   sync.Once
	cache  []int
	byName map[string]int
}

type node struct {
	of   float64
	next *node
}

func list(n int) *node {
	var first *node
	for range n {
		first = &node{math.NaN(), first}
	}
	return first
}

// TestDoubtsOfEachClass: the second class of a mix is doubted too.
func TestDoubtsOfEachClass(t *testing.T) {
	res, _ := run(t, runner.Config{
		Workers: 1, Count: 90, Samples: 9, Grace: time.Second,
		Classes: []string{"right", "agreeable"}, Class: func(seq uint64) int { return int(seq % 9 / 8) },
	}, target{
		input: func(_ context.Context, seq uint64) (any, error) { return []uint64{seq}, nil },
		run: func(_ context.Context, input any) ([]byte, error) {
			time.Sleep(time.Millisecond)
			in := input.([]uint64)
			if in[0]%9 == 8 {
				in[0] += 9
			}
			return text(in[0] % 9), nil
		},
		check: func(_ context.Context, input any, output []byte) error {
			if in := input.([]uint64)[0] % 9; in != 8 && !bytes.Equal(output, text(in)) {
				return errors.New("wrong")
			}
			return nil
		},
	})
	rec := fill(t, res)
	golden.Equal(t, "status of "+rec.Error, record.OK, rec.Status)
	rec.Findings = res.Doubt(t.Context())
	if !hasFinding(rec, runner.AnyResult, "") || !hasFinding(rec, runner.InputChanged, "input 8") {
		t.Errorf("findings %v", rec.Findings)
	}
}

// TestWarmupResultsAreBounded: results of the warm-up that outgrow the probe's are kept as far as
// there is room, and never pile up on the heap.
func TestWarmupResultsAreBounded(t *testing.T) {
	var calls atomic.Int64
	res, _ := run(t, runner.Config{
		Workers: 1, Count: 10, Samples: 1, Warmup: runner.Warmup{Ops: 2000}, Grace: time.Second,
	}, target{run: func(context.Context, any) ([]byte, error) {
		time.Sleep(time.Millisecond)
		if calls.Add(1) == 1 {
			return []byte{1}, nil
		}
		return make([]byte, 1<<20), nil
	}})
	rec := fill(t, res)
	golden.Equal(t, "status of "+rec.Error, record.OK, rec.Status)
	golden.Within(t, "results checked, of 16 MiB at most and the probe's", 2, rec.Count(record.CountWarmupChecked), 18)
}

// TestPanicOfAnInput is an error of its input, in the set-up and in the window.
func TestPanicOfAnInput(t *testing.T) {
	for _, samples := range []int{0, 2} {
		for _, manner := range manners {
			tg := target{
				input: func(_ context.Context, seq uint64) (any, error) {
					if seq == 1 {
						return nil, manner.fail()
					}
					return seq, nil
				},
				run: func(context.Context, any) ([]byte, error) { return nil, nil },
			}
			res, err := runner.Run(t.Context(), runner.Config{Workers: 1, Count: 3, Samples: samples, Check: none}, tg)
			if err == nil && res != nil {
				rec := record.New()
				must.Do(t, res.Fill(rec))
				err = errors.New(rec.Error)
			}
			// Of what ends the goroutine of a worker, the stack tells that it was the input.
			named := samples == 0 && manner.name == "goexit" || err != nil && strings.Contains(err.Error(), "input")
			if err == nil || !strings.Contains(err.Error(), manner.text) || !named {
				t.Errorf("samples=%d, %s: error %v", samples, manner.name, err)
			}
		}
	}
}
