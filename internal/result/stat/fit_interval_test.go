package stat_test

import (
	"math"
	"slices"
	"testing"

	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestCrossoverOfExact: a line and a constant without scatter cross in one point.
func TestCrossoverOfExact(t *testing.T) {
	for _, test := range []struct {
		name           string
		slope, samples float64
		want           float64
	}{{"rising", 2, 1000, 350}, {"falling", -2, 100, 100}, {"below 0", 2, 100, -100}} {
		x, y := []float64{0, 1, 2, 4}, make([]float64, 4)
		for i := range x {
			y[i] = 300 + test.slope*x[i]
		}
		f := must.Get(stat.Line(x, y, stat.Constant))(t)
		e := must.Get(f.Crossover([]float64{test.samples, test.samples}, 0.95))(t)
		for _, got := range []float64{e.Low, e.Value, e.High} {
			golden.Near(t, test.name, test.want, got, 1e-9)
		}
	}
}

// TestCrossoverIsFieller: at the ends of the interval the line differs from the constant
// by t standard errors, neither more nor less.
func TestCrossoverIsFieller(t *testing.T) {
	x, y := []float64{1, 2, 3, 4, 5, 6}, []float64{2.2, 3.9, 6.1, 8.3, 9.7, 12.1}
	f := must.Get(stat.Line(x, y, stat.Constant))(t)
	// A constant without scatter leaves the line's 4 degrees of freedom.
	e := must.Get(f.Crossover([]float64{15, 15, 15}, 0.95))(t)
	const t975, mean, squares = 2.776445, 3.5, 17.5 // of 4; of x
	for _, end := range []float64{e.Low, e.High} {
		se := f.Residual * math.Sqrt(1.0/6+(end-mean)*(end-mean)/squares)
		golden.Near(t, "standard errors", t975, math.Abs(f.Evaluate(end)-15)/se, 1e-6)
	}
	if !(e.Low < e.Value && e.Value < e.High) {
		t.Errorf("%v", e)
	}
	golden.Near(t, "line at the crossover", 15, f.Evaluate(e.Value), 1e-12)
	wider := must.Get(f.Crossover([]float64{14, 15, 16}, 0.95))(t)
	if !(wider.Low < e.Low && e.High < wider.High) {
		t.Errorf("a constant with scatter: %v, one without: %v", wider, e)
	}
}

// TestCrossoverOfNoSlope: where the slope may be 0 the line may never get there.
func TestCrossoverOfNoSlope(t *testing.T) {
	for _, y := range [][]float64{{5, 5, 5, 5}, {5, 4, 6, 5}, {5, 5.2, 4.9, 5.1}} {
		f := must.Get(stat.Line([]float64{1, 2, 3, 4}, y, stat.Constant))(t)
		e := must.Get(f.Crossover([]float64{9, 9.1, 8.9}, 0.95))(t)
		if !math.IsInf(e.Low, -1) || !math.IsInf(e.High, 1) {
			t.Errorf("%v: %v", y, e)
		}
	}
}

// TestCrossoverCoverage: the interval holds the crossover as often as it says, whether
// line or constant errs more, and of a rough slope too.
func TestCrossoverCoverage(t *testing.T) {
	for _, test := range []struct {
		name             string
		line, constant   float64 // relative standard deviations
		points, samples  int
		scatter          stat.Scatter
		least, mostShare float64
	}{
		{"line", 0.05, 0.001, 10, 5, stat.Relative, 0.935, 0.965},
		{"constant", 0.001, 0.05, 10, 5, stat.Relative, 0.935, 0.965},
		{"both", 0.03, 0.02, 10, 5, stat.Relative, 0.935, 0.97},
		{"few", 0.03, 0.03, 5, 3, stat.Relative, 0.935, 0.985},
		{"rough", 0.3, 0.03, 10, 5, stat.Constant, 0.935, 0.97},
	} {
		r, holds := seeded(21), 0
		const sets, crossing, level = 4000, 750_000, 1_500_300
		var ratios []float64
		for range sets {
			x, y := lengths[:test.points], make([]float64, test.points)
			for i := range x {
				y[i] = 300 + 2*x[i]
				if test.scatter == stat.Relative {
					y[i] *= 1 + test.line*r.NormFloat64()
				} else {
					y[i] += test.line * level * r.NormFloat64()
				}
			}
			f := must.Get(stat.Line(x, y, test.scatter))(t)
			samples := make([]float64, test.samples)
			for i := range samples {
				samples[i] = level * (1 + test.constant*r.NormFloat64())
			}
			e := must.Get(f.Crossover(samples, 0.95))(t)
			if e.Low <= crossing && crossing <= e.High {
				holds++
			}
			ratios = append(ratios, e.Value/crossing)
		}
		slices.Sort(ratios)
		golden.Near(t, test.name+": median crossover, as part of the truth", 1, ratios[sets/2], 0.01)
		share := float64(holds) / sets
		t.Logf("%s: %.3f", test.name, share)
		golden.Within(t, test.name+": share of intervals that hold the crossover", test.least, share, test.mostShare)
	}
}
