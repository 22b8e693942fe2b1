package stat_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

// noises are what a point differs by from its level, relative.
var noises = map[string]func(r *rand.Rand) float64{
	"normal": func(r *rand.Rand) float64 { return 0.02 * r.NormFloat64() },
	// Student's t with 2 degrees of freedom has no variance.
	"heavy": func(r *rand.Rand) float64 { return 0.016 * r.NormFloat64() / math.Sqrt(r.ExpFloat64()) },
	// One point in seven is disturbed, always upwards.
	"busy": func(r *rand.Rand) float64 {
		v := 0.01 * r.NormFloat64()
		if r.Float64() < 0.15 {
			v += 0.1 * r.ExpFloat64()
		}
		return v
	},
}

// series returns points on two levels in turn, the second one higher by height,
// lengths points each, and where the steps are.
func series(r *rand.Rand, noise string, height float64, lengths ...int) (values []float64, steps []int) {
	for i, n := range lengths {
		if i > 0 {
			steps = append(steps, len(values))
		}
		for range n {
			values = append(values, 1e6*(1+height*float64(i%2)+noises[noise](r)))
		}
	}
	return values, steps
}

// TestStepsFalseAlarms: a series without a step is given one no more often than the
// level says.
func TestStepsFalseAlarms(t *testing.T) {
	testsize.Full(t)
	const runs = 300
	for _, level := range []float64{0.01, 0.05} {
		for _, noise := range []string{"normal", "heavy", "busy"} {
			for _, n := range []int{8, 20, 60} {
				r, wrong := seeded(uint64(n)), 0
				for range runs {
					values, _ := series(r, noise, 0, n)
					if len(stat.Steps(values, level)) > 0 {
						wrong++
					}
				}
				t.Logf("level=%v/noise=%s/n=%d: %d of %d", level, noise, n, wrong, runs)
				// Two standard deviations above what the level expects.
				if most := level*runs + 2*math.Sqrt(level*runs); float64(wrong) > most {
					t.Errorf("level=%v/noise=%s/n=%d: %d of %d series have a step, want at most %.0f", level, noise, n, wrong, runs, most)
				}
			}
		}
	}
}

// TestStepsPower: how often steps are found at all, and how often all of them and no
// other, each within a point of its place.
func TestStepsPower(t *testing.T) {
	testsize.Full(t)
	const runs = 100
	for _, test := range []struct {
		noise       string
		height      float64
		level       float64
		lengths     []int
		some, exact int // at least
	}{
		{"normal", 0.05, 0.05, []int{7, 7}, 90, 80},
		{"normal", 0.05, 0.05, []int{12, 3}, 60, 50},
		{"normal", 0.05, 0.01, []int{15, 15}, 98, 85},
		{"heavy", 0.05, 0.01, []int{15, 15}, 75, 60},
		{"busy", 0.05, 0.01, []int{15, 15}, 65, 50},
		{"normal", 0.05, 0.01, []int{30, 5}, 80, 70},
		{"normal", 0.05, 0.01, []int{10, 10, 10}, 85, 70},
		{"normal", 0.05, 0.01, []int{20, 10, 20}, 95, 70},
		{"normal", 0.05, 0.01, []int{20, 20, 20, 20}, 98, 60},
		{"normal", 0.20, 0.01, []int{6, 5}, 95, 95},
		{"normal", 0.20, 0.01, []int{11, 3}, 90, 90},
		{"normal", 0.20, 0.01, []int{32, 2}, 80, 80},
		{"normal", 0.20, 0.05, []int{5, 3}, 90, 90},
		{"normal", 0.20, 0.05, []int{10, 2}, 90, 90},
	} {
		r, some, exact := seeded(1), 0, 0
		for range runs {
			values, want := series(r, test.noise, test.height, test.lengths...)
			got := stat.Steps(values, test.level)
			if len(got) > 0 {
				some++
			}
			if slices.EqualFunc(got, want, func(s stat.Step, at int) bool { return s.At >= at-1 && s.At <= at+1 }) {
				exact++
			}
		}
		t.Logf("noise=%s/height=%v/level=%v/lengths=%v: %d of %d, exactly %d", test.noise, test.height, test.level, test.lengths, some, runs, exact)
		if some < test.some || exact < test.exact {
			t.Errorf("noise=%s/height=%v/level=%v/lengths=%v: %d of %d, exactly %d; want at least %d, %d",
				test.noise, test.height, test.level, test.lengths, some, runs, exact, test.some, test.exact)
		}
	}
}

// TestStepsOf: what a step says, and what is none.
func TestStepsOf(t *testing.T) {
	r := seeded(7)
	wave := func(n int, height float64) []float64 {
		values := make([]float64, n)
		for i := range values {
			values[i] = 100 + height*math.Sin(float64(i)*2.399) // irregular, never the same twice
		}
		return values
	}
	spike := wave(60, 1)
	spike[30], spike[59] = 1000, 1000
	coarse := slices.Concat(slices.Repeat([]float64{0}, 12), slices.Repeat([]float64{3}, 12))
	coarse[4] = 1
	small, _ := series(r, "normal", 0.01, 200, 200)
	negative := wave(40, 1)
	for i := range negative[:20] {
		negative[i] -= 200
	}
	for _, test := range []struct {
		name   string
		values []float64
		want   []stat.Step
	}{
		{"none", nil, nil},
		{"one", []float64{1}, nil},
		{"constant", slices.Repeat([]float64{5}, 50), nil},
		{"not finite", append(wave(40, 1), math.NaN()), nil},
		{"too few", []float64{1, 1.1, 0.9, 5, 5.1, 4.9}, nil},
		{"disturbed points", spike, nil},
		{"less than the noise", small, nil},
		{"mostly equal", coarse, []stat.Step{{At: 12, Before: 0, After: 3}}},
		{"below 0", negative, []stat.Step{{At: 20, Before: -99.98, After: 100.03}}},
	} {
		got := stat.Steps(test.values, 0.01)
		for _, s := range got {
			if !(s.P > 0 && s.P <= 0.01) {
				t.Errorf("%s: p=%v at %d, want above 0 and at most the level", test.name, s.P, s.At)
			}
		}
		golden.Equal(t, test.name, test.want, got, cmpopts.EquateApprox(0, 0.5), cmpopts.EquateEmpty(), cmpopts.IgnoreFields(stat.Step{}, "P"))
		golden.Equal(t, test.name+", once more", got, stat.Steps(test.values, 0.01))
	}
}

func TestStepChange(t *testing.T) {
	for _, test := range []struct{ before, after, want float64 }{
		{100, 107, 0.07},
		{-100, -93, 0.07},
		{0, 2, math.Inf(1)},
		{0, 0, 0},
	} {
		if got := (stat.Step{Before: test.before, After: test.after}).Change(); math.Abs(got-test.want) > 1e-12 {
			t.Errorf("from %v to %v: %v, want %v", test.before, test.after, got, test.want)
		}
	}
}

func TestChanges(t *testing.T) {
	want := []stat.Step{{At: 2, Before: 40, After: 41}, {At: 3, Before: 41, After: 40}}
	golden.Equal(t, "changes", want, stat.Changes([]float64{40, 40, 41, 40, 40}))
	if got := stat.Changes(nil); got != nil {
		t.Errorf("of none: %v", got)
	}
}

// TestStepPoints: with one point more than StepPoints the clearest step is found, with
// one less it is not.
func TestStepPoints(t *testing.T) {
	for level, want := range map[float64]int{0.01: 10, 0.02: 9, 0.05: 8, 0.1: 7} {
		got := stat.StepPoints(level)
		golden.Equal(t, fmt.Sprintf("points of level %v", level), want, got)
		clear := func(n int) []float64 {
			values, _ := series(seeded(1), "normal", 1, n/2, n-n/2)
			return values
		}
		golden.Equal(t, fmt.Sprintf("steps in enough points at level %v", level), 1, len(stat.Steps(clear(got+1), level)))
		golden.Equal(t, fmt.Sprintf("steps in too few points at level %v", level), 0, len(stat.Steps(clear(got-1), level)))
	}
}
