package runner_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/runner"
)

func TestChecks(t *testing.T) {
	wrong := errors.New("wrong")
	for _, test := range []struct {
		name          string
		keep          int
		wantChecked   uint64
		wantBad       uint64
		wantStatus    record.Status
		everyIsBroken bool
	}{
		{"keep=all", 1000, 100, 20, record.Failed, false},
		{"keep=10", 10, 10, 10, record.Failed, true},
		{"keep=0", 0, 0, 0, record.OK, true},
	} {
		t.Run(test.name, func(t *testing.T) {
			res, _ := run(t, runner.Config{Workers: 2, Duration: window, Samples: 5, Keep: test.keep, Grace: time.Second}, target{
				run: func(_ context.Context, input any) (any, error) { time.Sleep(20 * time.Millisecond); return input, nil },
				check: func(_ context.Context, input, output any) error {
					if input != output {
						return errors.New("results and inputs are mixed up")
					}
					if test.everyIsBroken || input.(uint64) == 3 {
						return wrong
					}
					return nil
				},
			})
			if res.Checked != test.wantChecked || res.CheckFailed != test.wantBad {
				t.Errorf("%d checked, %d wrong; want %d, %d", res.Checked, res.CheckFailed, test.wantChecked, test.wantBad)
			}
			if test.wantBad > 0 && !errors.Is(res.CheckErr, wrong) {
				t.Errorf("first error %v, want %v", res.CheckErr, wrong)
			}
			rec := record.New()
			if err := res.Fill(rec); err != nil {
				t.Fatal(err)
			}
			if rec.Status != test.wantStatus {
				t.Errorf("status %s, want %s", rec.Status, test.wantStatus)
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
	res, _ := run(t, runner.Config{Workers: 1, Duration: window, Keep: 100, Seed: 1, Grace: time.Second}, target{
		run: func(_ context.Context, input any) (any, error) { time.Sleep(time.Millisecond); return input, nil },
		check: func(_ context.Context, input, _ any) error {
			mu.Lock()
			defer mu.Unlock()
			tenths[input.(uint64)/100]++
			return nil
		},
	})
	if res.Done != 1000 || res.Checked != 100 {
		t.Fatalf("%d done, %d checked; want 1000, 100", res.Done, res.Checked)
	}
	for i, n := range tenths {
		if n < 1 || n > 28 {
			t.Errorf("%d of 100 places from tenth %d of the window", n, i)
		}
	}
}
