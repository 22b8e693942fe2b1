package stat_test

import (
	"math"
	"slices"
	"testing"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

func TestLooks(t *testing.T) {
	for _, test := range []struct {
		plan record.Plan
		want []int
	}{
		{record.Plan{}, nil},
		{record.Plan{First: 24, Most: 24}, nil},
		{record.Plan{First: -3, Most: 24}, nil},
		{record.Plan{First: 24, Most: 26}, []int{24, 26}},
		{record.Plan{First: 24, Most: 36}, []int{24, 30, 36}},
		{record.Plan{First: 24, Most: 96}, []int{24, 42, 60, 78, 96}},
		{record.Plan{First: 8, Most: 1000}, []int{8, 256, 504, 752, 1000}},
	} {
		if got := stat.Looks(test.plan); !slices.Equal(got, test.want) {
			t.Errorf("%+v: looks after %v pairs, want %v", test.plan, got, test.want)
		}
	}
}

// TestLookConfidence: one look has the confidence that was asked for, and several looks together have it, as in paths of
// a random walk. Pairs between two looks have the interval of the later one.
func TestLookConfidence(t *testing.T) {
	golden.Equal(t, "without a plan", 0.99, stat.LookConfidence(record.Plan{}, 24, 0.99))
	plan := record.Plan{First: 24, Most: 96}
	golden.Equal(t, "between looks", stat.LookConfidence(plan, 42, 0.99), stat.LookConfidence(plan, 26, 0.99))
	golden.Equal(t, "beyond the last", stat.LookConfidence(plan, 96, 0.99), stat.LookConfidence(plan, 1000, 0.99))
	golden.Equal(t, "before the first", stat.LookConfidence(plan, 24, 0.99), stat.LookConfidence(plan, 3, 0.99))
	r := seeded(1)
	for _, plan := range []record.Plan{{First: 24, Most: 26}, {First: 24, Most: 48}, {First: 24, Most: 96}, {First: 24, Most: 480}} {
		var values []float64 // that a standard normal variable exceeds, in either direction, with the error of the look
		for _, at := range stat.Looks(plan) {
			c := stat.LookConfidence(plan, at, 0.95)
			values = append(values, math.Sqrt2*math.Erfinv(c))
		}
		const sessions = 20000
		wrong := 0.0
		for range sessions {
			sum, done := 0.0, 0
			for i, at := range stat.Looks(plan) {
				sum += math.Sqrt(float64(at-done)) * r.NormFloat64()
				if done = at; math.Abs(sum) > values[i]*math.Sqrt(float64(at)) {
					wrong += 1.0 / sessions
					break
				}
			}
		}
		golden.Within(t, "error of all looks", 0.045, wrong, 0.055)
	}
}

// gated is a session that is judged as compare --gate does, from figures that draw returns.
func gated(t *testing.T, gate float64, first, most int, draw func() (old, recent float64)) (e stat.Effect, pairs int) {
	t.Helper()
	var old, recent []float64
	add := func(n int) {
		for len(old) < n {
			a, b := draw()
			old, recent = append(old, a), append(recent, b)
		}
	}
	add(first * 3 / 4)
	e, _ = stat.PairedRobust(old, recent, 0.99)
	plan, hopeless := stat.NewPlan([]stat.Effect{e}, first, most, gate, 0.99)
	looks := stat.Looks(plan)
	if looks == nil {
		looks = []int{first}
	}
	for _, at := range looks {
		add(at)
		e = must.Get(stat.PairedRobust(old, recent, stat.LookConfidence(plan, at, 0.99)))(t)
		if stat.Decided(e, 0, gate, record.Lower) || len(hopeless) > 0 {
			break
		}
	}
	return e, len(old)
}

// TestGateRule simulates sessions with a gate of 3 %, on machines whose pairs differ by 1 to 8 %: how many err where nothing has
// changed, how many fail although the change is that of the gate, how many find 1.5 times the gate, as planned, and how many pairs they take.
func TestGateRule(t *testing.T) {
	testsize.Full(t)
	const gate = 0.03
	for _, test := range []struct {
		spread, planted          float64
		different, fails, passes [2]float64 // shares of the sessions, at least and at most
		pairs                    float64    // at most, in the mean
	}{
		{0.01, 0, [2]float64{0, 0.015}, [2]float64{0, 0}, [2]float64{1, 1}, 24},
		{0.02, 0, [2]float64{0, 0.015}, [2]float64{0, 0}, [2]float64{1, 1}, 25},
		{0.04, 0, [2]float64{0, 0.01}, [2]float64{0, 0}, [2]float64{1, 1}, 65},
		{0.08, 0, [2]float64{0, 0.01}, [2]float64{0, 0}, [2]float64{0.99, 1}, 250},
		{0.02, 0.03, [2]float64{0.99, 1}, [2]float64{0, 0.0075}, [2]float64{0.95, 1}, 60},
		{0.04, 0.03, [2]float64{0.99, 1}, [2]float64{0, 0.0075}, [2]float64{0.95, 1}, 220},
		{0.01, 0.045, [2]float64{1, 1}, [2]float64{0.99, 1}, [2]float64{0, 0.01}, 25},
		{0.02, 0.045, [2]float64{1, 1}, [2]float64{0.9, 1}, [2]float64{0, 0.1}, 40},
		{0.04, 0.045, [2]float64{1, 1}, [2]float64{0.87, 1}, [2]float64{0, 0.12}, 130},
		{0.08, 0.045, [2]float64{1, 1}, [2]float64{0.87, 1}, [2]float64{0, 0.12}, 500},
	} {
		sessions := 2000
		if test.spread > 0.02 {
			sessions = 800
		}
		share := 1 / float64(sessions)
		r := seeded(uint64(1000*test.spread + 1e6*test.planted))
		var different, fails, passes, pairs float64
		for range sessions {
			e, n := gated(t, gate, 24, 2000, func() (float64, float64) {
				return 1, (1 + test.planted) * math.Exp(test.spread*r.NormFloat64())
			})
			pairs += float64(n) * share
			if stat.Judge(e, 0, record.Lower) != stat.Same {
				different += share
			}
			switch {
			case stat.Tripped(e, 0, gate, record.Lower):
				fails += share
			case !stat.Underpowered(e, 0, gate, record.Lower):
				passes += share
			}
		}
		t.Logf("pairs differ by %g %%, planted %g %%: different %.4f, fails %.4f, passes %.4f, %.1f pairs", 100*test.spread, 100*test.planted, different, fails, passes, pairs)
		golden.Within(t, "different", test.different[0]-1e-9, different, test.different[1]+1e-9)
		golden.Within(t, "fails", test.fails[0], fails, test.fails[1]+1e-9)
		golden.Within(t, "passes", test.passes[0]-1e-9, passes, test.passes[1]+1e-9)
		golden.Within(t, "pairs", 24-1e-9, pairs, test.pairs+1e-9)
	}
}
