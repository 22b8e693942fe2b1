package stat_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/testing/golden"
)

func TestWelch(t *testing.T) {
	inf := math.Inf(1)
	for _, test := range []struct {
		name string
		a, b []float64
		want float64
	}{
		// Means 2.5 and 4, variances 5/3 and 4.
		{"classes=by hand", []float64{1, 2, 3, 4}, []float64{2, 4, 6}, -1.5 / math.Sqrt(5./12+4./3)},
		{"classes=constant and equal", []float64{5, 5}, []float64{5, 5}, 0},
		{"classes=constant, the first greater", []float64{6, 6}, []float64{5, 5}, inf},
		{"classes=constant, the second greater", []float64{5, 5}, []float64{6, 6}, -inf},
		{"classes=one value", []float64{5}, []float64{6, 7}, 0},
		{"classes=none", nil, nil, 0},
		{"classes=not finite", []float64{5, inf, 5, math.NaN()}, []float64{5, 5, -inf}, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			var w stat.Welch
			for _, v := range test.a {
				w.Add(0, v)
			}
			for _, v := range test.b {
				w.Add(1, v)
			}
			w.Add(2, 1e9)
			w.Add(-1, 1e9)
			if got := w.T(); got != test.want && !(math.Abs(got-test.want) < 1e-12) {
				t.Errorf("t %v, want %v", got, test.want)
			}
		})
	}
}

// Sums that are kept online are those of the definition.
func TestWelchIsItsDefinition(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var w stat.Welch
		var n [2]uint64
		var mean, variance [2]float64
		for class := range 2 {
			values := rapid.SliceOfN(rapid.Float64Range(1e6, 1e6+10), 3, 50).Draw(t, "values")
			values = append(values, 1e6, 1e6+1) // not constant
			for _, v := range values {
				w.Add(class, v)
				mean[class] += v / float64(len(values))
			}
			for _, v := range values {
				variance[class] += (v - mean[class]) * (v - mean[class]) / float64(len(values)-1)
			}
			n[class] = uint64(len(values))
		}
		want := (mean[0] - mean[1]) / math.Sqrt(variance[0]/float64(n[0])+variance[1]/float64(n[1]))
		if got := w.T(); !(math.Abs(got-want) < 1e-5*(1+math.Abs(want))) || w.N() != n {
			t.Errorf("t %v of %v, want %v of %v", got, w.N(), want, n)
		}
	})
}

// timing is an operation of 1000 units with noise of 10, and one time in 50 an
// interruption of up to 40 times as long.
func timing(r *rand.Rand) float64 {
	v := 1000 + 10*r.NormFloat64()
	if r.IntN(50) == 0 {
		v += 4e4 * r.ExpFloat64()
	}
	return v
}

func TestLeak(t *testing.T) {
	for _, test := range []struct {
		name        string
		operation   func(r *rand.Rand, class int) float64
		least, most float64
		crop        string
	}{
		{"operation=constant", func(r *rand.Rand, _ int) float64 { return timing(r) }, 0, 4.5, ""},
		{"operation=constant, coarse clock", func(r *rand.Rand, _ int) float64 { return math.Round(timing(r)/20) * 20 }, 0, 4.5, ""},
		{"operation=constant, no noise", func(*rand.Rand, int) float64 { return 1000 }, 0, 0, "all"},
		// 3 of 1000 units, which the interruptions hide from the test of all.
		{"operation=early exit", func(r *rand.Rand, class int) float64 { return timing(r) - 3*float64(class) }, 10, 100, "below"},
		{"operation=rare early exit", func(r *rand.Rand, class int) float64 {
			if v := timing(r); class == 0 || r.IntN(10) > 0 {
				return v
			}
			return 970 + 10*r.NormFloat64()
		}, 10, 100, "below"},
		{"operation=spread", func(r *rand.Rand, class int) float64 { return 1000 + (10+3*float64(class))*r.NormFloat64() }, 10, 100, ""},
		{"operation=deterministic leak", func(_ *rand.Rand, class int) float64 { return 1000 + float64(class) }, math.Inf(1), math.Inf(1), "all"},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := seeded(6)
			l := stat.NewLeak(1000)
			for range 30000 {
				class := r.IntN(2)
				l.Add(class, test.operation(r, class))
			}
			statistic, crop, n := l.T()
			t.Logf("t %.1f, %s, %v", statistic, crop, n)
			if v := math.Abs(statistic); v < test.least || v > test.most || !strings.HasPrefix(crop, test.crop) {
				t.Errorf("want %v to %v in crop %q", test.least, test.most, test.crop)
			}
			if min(n[0], n[1]) < stat.LeakSamples || n[0]+n[1] > 29000 {
				t.Errorf("%v samples", n)
			}
		})
	}
}

// Fifty constant operations: the greatest of the hundred tests stays below the
// threshold in every one.
func TestLeakFalseAlarms(t *testing.T) {
	alarms, greatest := 0, 0.0
	for run := range 50 {
		r := seeded(uint64(100 + run))
		l := stat.NewLeak(500)
		for range 5000 {
			l.Add(r.IntN(2), timing(r))
		}
		statistic, _, _ := l.T()
		if math.Abs(statistic) >= 4.5 {
			alarms++
		}
		greatest = max(greatest, math.Abs(statistic))
	}
	if alarms > 0 {
		t.Errorf("%d alarms of 50, the greatest |t| %v", alarms, greatest)
	}
}

func TestLeakOfLittle(t *testing.T) {
	l := stat.NewLeak(0)
	feed := func(n int) {
		for i := range n {
			l.Add(i%2, float64(1000+i%2))
		}
		l.Add(2, 5)
		l.Add(0, math.NaN())
	}
	check := func(t0 float64, n0 [2]uint64) {
		t.Helper()
		statistic, crop, n := l.T()
		if statistic != t0 || crop != "all" {
			t.Errorf("t %v of %s, want %v of all", statistic, crop, t0)
		}
		golden.Equal(t, "samples", n0, n)
	}
	check(0, [2]uint64{})
	feed(100) // calibration
	check(0, [2]uint64{})
	feed(2*stat.LeakSamples - 2)
	check(0, [2]uint64{stat.LeakSamples - 1, stat.LeakSamples - 1})
	feed(2)
	check(math.Inf(-1), [2]uint64{stat.LeakSamples, stat.LeakSamples})
}
