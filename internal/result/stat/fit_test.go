package stat_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

type fitter = func(x, y []float64, scatter stat.Scatter) (stat.Fit, error)

// TestFitReference: the certified values of NIST's Statistical Reference Datasets for
// linear regression: Norris (a line) and Pontius (a parabola, x up to three million).
func TestFitReference(t *testing.T) {
	load := make([]float64, 40)
	for i := range load {
		load[i] = 150_000 * float64(i%20+1)
	}
	for _, test := range []struct {
		name         string
		fit          fitter
		x, y         []float64
		coefficients []float64
		errors       []float64
		residual, r2 float64
	}{
		{
			"Norris", stat.Line,
			[]float64{0.2, 337.4, 118.2, 884.6, 10.1, 226.5, 666.3, 996.3, 448.6, 777.0, 558.2, 0.4, 0.6, 775.5, 666.9, 338.0, 447.5, 11.6, 556.0, 228.1, 995.8, 887.6, 120.2, 0.3, 0.3, 556.8, 339.1, 887.2, 999.0, 779.0, 11.1, 118.3, 229.2, 669.1, 448.9, 0.5},
			[]float64{0.1, 338.8, 118.1, 888.0, 9.2, 228.1, 668.5, 998.5, 449.1, 778.9, 559.2, 0.3, 0.1, 778.1, 668.8, 339.3, 448.9, 10.8, 557.7, 228.3, 998.0, 888.8, 119.6, 0.3, 0.6, 557.6, 339.3, 888.0, 998.5, 778.9, 10.2, 117.6, 228.9, 668.4, 449.2, 0.2},
			[]float64{-0.262323073774029, 1.00211681802045},
			[]float64{0.232818234301152, 0.429796848199937e-3},
			0.884796396144373, 0.999993745883712,
		},
		{
			"Pontius", stat.Quadratic, load,
			[]float64{0.11019, 0.21956, 0.32949, 0.43899, 0.54803, 0.65694, 0.76562, 0.87487, 0.98292, 1.09146, 1.20001, 1.30822, 1.41599, 1.52399, 1.63194, 1.73947, 1.84646, 1.95392, 2.06128, 2.16844, 0.11052, 0.22018, 0.32939, 0.43886, 0.54798, 0.65739, 0.76596, 0.87474, 0.98300, 1.09150, 1.20004, 1.30818, 1.41613, 1.52408, 1.63159, 1.73965, 1.84696, 1.95445, 2.06177, 2.16829},
			[]float64{0.673565789473684e-3, 0.732059160401003e-6, -0.316081871345029e-14},
			[]float64{0.107938612033077e-3, 0.157817399981659e-9, 0.486652849992036e-16},
			0.205177424076185e-3, 0.999999900178537,
		},
	} {
		f := must.Get(test.fit(test.x, test.y, stat.Constant))(t)
		for i := range test.coefficients {
			golden.Near(t, fmt.Sprintf("%s: coefficient %d", test.name, i), test.coefficients[i], f.Coefficients[i], 1e-9)
			golden.Near(t, fmt.Sprintf("%s: error %d", test.name, i), test.errors[i], f.Errors[i], 1e-9)
		}
		golden.Near(t, test.name+": residual", test.residual, f.Residual, 1e-9)
		golden.Near(t, test.name+": R²", test.r2, f.R2, 1e-14)
	}
}

// lengths are those of a study: from a block to 21 MB.
var lengths = []float64{136, 500, 1360, 5000, 13_600, 50_000, 136_000, 500_000, 1_360_000, 5_000_000, 13_600_000, 21_000_000}

// TestFitRecovers: points on a curve give the curve, whatever the scatter.
func TestFitRecovers(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		quadratic := rapid.Bool().Draw(t, "quadratic")
		scatter := rapid.SampledFrom([]stat.Scatter{stat.Constant, stat.Relative}).Draw(t, "scatter")
		c := []float64{rapid.Float64Range(100, 1e4).Draw(t, "c0"), rapid.Float64Range(0.5, 50).Draw(t, "c1")}
		fit := stat.Line
		if quadratic {
			c, fit = append(c, rapid.Float64Range(1e-8, 1e-5).Draw(t, "c2")), stat.Quadratic
		}
		curve := stat.Fit{Coefficients: c}
		y := make([]float64, len(lengths))
		for i, x := range lengths {
			y[i] = curve.Evaluate(x)
		}
		f := must.Get(fit(lengths, y, scatter))(t)
		// Of plain least squares the longest time's rounding is the intercept's error.
		least := 1e-9
		if scatter == stat.Constant {
			least = 1e-13 * y[len(y)-1] / c[0]
		}
		for i := range c {
			golden.Near(t, fmt.Sprint("coefficient ", i), c[i], f.Coefficients[i], max(1e-9, least))
		}
		if f.R2 < 1-1e-9 || f.Freedom != len(lengths)-len(c) {
			t.Fatalf("R² %v, freedom %d", f.R2, f.Freedom)
		}
	})
}

// scattered returns times 300 + 2x at the lengths, off by 2 % in the mean, or by so many.
func scattered(r *rand.Rand, scatter stat.Scatter, sd float64) []float64 {
	y := make([]float64, len(lengths))
	for i, x := range lengths {
		y[i] = 300 + 2*x
		if scatter == stat.Relative {
			y[i] *= 1 + sd*r.NormFloat64()
		} else {
			y[i] += sd * r.NormFloat64()
		}
	}
	return y
}

// TestFitRelative: the fit is that of its definition, the normal equations with weights
// 1/curve², and so are its errors; the order of points and the unit do not matter.
func TestFitRelative(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		y := scattered(r, stat.Relative, 0.1)
		f := must.Get(stat.Line(lengths, y, stat.Relative))(t)
		var s, sx, sxx, sr, srx, srr, mean float64
		for i, x := range lengths {
			w := 1 / (f.Evaluate(x) * f.Evaluate(x))
			e := y[i] - f.Evaluate(x)
			s, sx, sxx = s+w, sx+w*x, sxx+w*x*x
			sr, srx, srr, mean = sr+w*e, srx+w*e*x, srr+w*e*e, mean+w*y[i]
		}
		mean /= s
		all := 0.0
		for i, x := range lengths {
			all += (y[i] - mean) * (y[i] - mean) / (f.Evaluate(x) * f.Evaluate(x))
		}
		variance := srr / float64(len(lengths)-2)
		det := s*sxx - sx*sx
		golden.Near(t, "residual", math.Sqrt(variance), f.Residual, 1e-9)
		golden.Near(t, "error of the intercept", math.Sqrt(variance*sxx/det), f.Errors[0], 1e-9)
		golden.Near(t, "error of the slope", math.Sqrt(variance*s/det), f.Errors[1], 1e-9)
		golden.Near(t, "R²", 1-srr/all, f.R2, 1e-9)
		if math.Abs(sr) > 1e-9*math.Sqrt(s) || math.Abs(srx) > 1e-9*math.Sqrt(sxx) {
			t.Fatalf("normal equations: %v, %v", sr, srx)
		}

		x, z := slices.Clone(lengths), slices.Clone(y)
		r.Shuffle(len(x), func(i, j int) { x[i], x[j], z[i], z[j] = x[j], x[i], z[j], z[i] })
		for i := range z {
			z[i] *= 1e-9
		}
		g := must.Get(stat.Line(x, z, stat.Relative))(t)
		golden.Near(t, "intercept in another unit and order", f.Coefficients[0], 1e9*g.Coefficients[0], 1e-9)
		golden.Near(t, "error of the slope in another unit and order", f.Errors[1], 1e9*g.Errors[1], 1e-9)
		golden.Near(t, "residual in another unit and order", f.Residual, g.Residual, 1e-9)
	})
}

// TestFitCoverage: intervals hold what they are of as often as they say, but not those of
// the wrong scatter.
func TestFitCoverage(t *testing.T) {
	for _, test := range []struct {
		truth, fitted stat.Scatter
		power         int
		low, high     float64
	}{
		{stat.Relative, stat.Relative, 0, 0.935, 0.965},
		{stat.Relative, stat.Relative, 1, 0.935, 0.965},
		{stat.Constant, stat.Constant, 0, 0.935, 0.965},
		{stat.Constant, stat.Constant, 1, 0.935, 0.965},
		{stat.Relative, stat.Constant, 1, 0, 0.9},
	} {
		sd := 0.02
		if test.truth == stat.Constant {
			sd = 1e5
		}
		r, holds := seeded(11), 0
		const sets = 4000
		for range sets {
			f := must.Get(stat.Line(lengths, scattered(r, test.truth, sd), test.fitted))(t)
			e := must.Get(f.Coefficient(test.power, 0.95))(t)
			if truth := []float64{300, 2}[test.power]; e.Low <= truth && truth <= e.High {
				holds++
			}
		}
		if share := float64(holds) / sets; share < test.low || share > test.high {
			t.Errorf("truth=%d/fitted=%d/power=%d: %.3f, want %v to %v", test.truth, test.fitted, test.power, share, test.low, test.high)
		} else {
			t.Logf("truth=%d/fitted=%d/power=%d: %.3f", test.truth, test.fitted, test.power, share)
		}
	}
}

// TestRelativeKnowsTheIntercept: of times that err by 2 % plain least squares says
// nothing of the intercept; the relative fit has it to a few hundredths.
func TestRelativeKnowsTheIntercept(t *testing.T) {
	y := scattered(seeded(12), stat.Relative, 0.02)
	for _, test := range []struct {
		scatter stat.Scatter
		good    bool
	}{{stat.Constant, false}, {stat.Relative, true}} {
		f := must.Get(stat.Line(lengths, y, test.scatter))(t)
		golden.Equal(t, fmt.Sprintf("scatter %d: the intercept is known", test.scatter), test.good, f.Errors[0] < 30)
	}
}

// TestFitRefused: what has no curve.
func TestFitRefused(t *testing.T) {
	for _, test := range []struct {
		name    string
		fit     fitter
		x, y    []float64
		scatter stat.Scatter
	}{
		{"unlike lengths", stat.Line, []float64{1, 2, 3}, []float64{1, 2}, stat.Constant},
		{"no points", stat.Line, nil, nil, stat.Constant},
		{"two points", stat.Line, []float64{1, 2}, []float64{1, 2}, stat.Constant},
		{"three points of a parabola", stat.Quadratic, []float64{1, 2, 3}, []float64{1, 2, 3}, stat.Constant},
		{"one x", stat.Line, []float64{2, 2, 2}, []float64{1, 2, 3}, stat.Constant},
		{"two x of a parabola", stat.Quadratic, []float64{1, 2, 1, 2}, []float64{1, 2, 3, 4}, stat.Constant},
		{"x too great", stat.Line, []float64{1e300, 2e300, 3e300}, []float64{1, 2, 3}, stat.Constant},
		{"y without a number", stat.Line, []float64{1, 2, 3}, []float64{1, math.NaN(), 3}, stat.Constant},
		{"x without end", stat.Line, []float64{1, 2, math.Inf(1)}, []float64{1, 2, 3}, stat.Constant},
		{"a time of 0", stat.Line, []float64{1, 2, 3}, []float64{0, 2, 3}, stat.Relative},
		{"a curve below 0", stat.Line, []float64{1, 7, 14, 18}, []float64{1, 1, 11_840, 79}, stat.Relative},
		{"points near no curve", stat.Line, []float64{0, 3, 12, 17}, []float64{32, 2, 1, 10}, stat.Relative},
	} {
		must.FailGet(test.fit(test.x, test.y, test.scatter))(t, zkbench.ErrParams, "%s", test.name)
	}
	f := must.Get(stat.Line([]float64{1, 2, 3}, []float64{1, 2, 4}, stat.Constant))(t)
	parabola := must.Get(stat.Quadratic([]float64{1, 2, 3, 4}, []float64{1, 2, 4, 9}, stat.Constant))(t)
	for i, err := range []error{
		second(f.Coefficient(-1, 0.95)), second(f.Coefficient(2, 0.95)),
		second(f.Coefficient(1, 0)), second(f.Coefficient(1, 1)), second(f.Coefficient(1, math.NaN())),
		second(f.Crossover(nil, 0.95)), second(f.Crossover([]float64{5}, 0.95)),
		second(f.Crossover([]float64{5, math.Inf(1)}, 0.95)), second(f.Crossover([]float64{5, 6}, 1)),
		second(parabola.Crossover([]float64{5, 6}, 0.95)), second(stat.Fit{}.Crossover([]float64{5, 6}, 0.95)),
	} {
		must.Fail(t, err, zkbench.ErrParams, "call %d", i)
	}
}

func second(_ stat.Estimate, err error) error { return err }

// TestStudent: table 26.10 of Abramowitz and Stegun, through the interval of a slope.
func TestStudent(t *testing.T) {
	for _, test := range []struct {
		freedom    int
		confidence float64
		want       float64
	}{
		{1, 0.95, 12.706},
		{2, 0.95, 4.303},
		{3, 0.95, 3.182},
		{4, 0.95, 2.776},
		{10, 0.95, 2.228},
		{29, 0.95, 2.045},
		{30, 0.95, 2.042},
		{120, 0.95, 1.980},
		{1, 0.99, 63.657},
		{2, 0.99, 9.925},
		{10, 0.99, 3.169},
		{30, 0.99, 2.750},
		{5000, 0.95, 1.962},
	} {
		t.Run(fmt.Sprintf("freedom=%d/confidence=%v", test.freedom, test.confidence), func(t *testing.T) {
			x, y := make([]float64, test.freedom+2), make([]float64, test.freedom+2)
			for i := range x {
				x[i], y[i] = float64(i), float64(i*i%7)
			}
			f := must.Get(stat.Line(x, y, stat.Constant))(t)
			e := must.Get(f.Coefficient(1, test.confidence))(t)
			for _, got := range []float64{(e.High - e.Value) / f.Errors[1], (e.Value - e.Low) / f.Errors[1]} {
				if math.Abs(got-test.want) > 6e-4 {
					t.Errorf("%v, want %v", got, test.want)
				}
			}
		})
	}
}
