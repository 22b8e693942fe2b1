package stat_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/testsize"
)

func ones(n int) []float64 { return slices.Repeat([]float64{1}, n) }

// t975 is the 97.5 % quantile of Student's t (Cornish and Fisher, to within 2 % from
// 2 degrees of freedom).
func t975(freedom float64) float64 {
	const z = 1.959964
	v := max(freedom, 1)
	return z + (math.Pow(z, 3)+z)/(4*v) + (5*math.Pow(z, 5)+16*math.Pow(z, 3)+3*z)/(96*v*v) +
		(3*math.Pow(z, 7)+19*math.Pow(z, 5)+17*math.Pow(z, 3)-15*z)/(384*v*v*v)
}

func TestMeanSECoverage(t *testing.T) {
	testsize.Full(t)
	const runs = 2000
	for _, test := range []struct {
		slots, per    int // samples per slot
		phi           float64
		normal, t     float64 // least share of ±1.96 se, of Student's interval
		tMost         float64 // greatest share of the latter
		least, effect float64 // bounds of the mean effective number of slots
	}{
		{128, 1, 0, 0.94, 0.95, 0.98, 100, 128},
		{128, 10, 0.9, 0.93, 0.94, 0.97, 40, 55},
		{128, 4, 0.9, 0.92, 0.93, 0.97, 20, 28},
		{128, 1, 0.9, 0.88, 0.915, 0.95, 6, 10},
		{128, 1, -0.4, 0.98, 0.98, 1, 120, 128},
		{256, 4, 0.9, 0.93, 0.94, 0.97, 42, 54},
		{32, 4, 0.9, 0.88, 0.91, 0.96, 5, 9},
		{16, 10, 0.9, 0.87, 0.90, 0.96, 4, 8},
		{16, 1, 0, 0.94, 0.95, 0.99, 9, 16},
	} {
		t.Run(fmt.Sprintf("slots=%d/per=%d/phi=%v", test.slots, test.per, test.phi), func(t *testing.T) {
			r := seeded(uint64(test.slots))
			normal, student, worth := 0.0, 0.0, 0.0
			for range runs {
				z := autoregressive(r, test.slots, test.per, test.phi)
				mean, se, effective := stat.MeanSE(z, ones(test.slots))
				if math.Abs(mean) <= 1.96*se {
					normal += 1. / runs
				}
				if math.Abs(mean) <= t975(effective-1)*se {
					student += 1. / runs
				}
				worth += effective / runs
			}
			t.Logf("±1.96 se %.3f, Student %.3f, effective %.1f", normal, student, worth)
			if normal < test.normal || student < test.t || student > test.tMost {
				t.Errorf("want at least %v and %v, the latter at most %v", test.normal, test.t, test.tMost)
			}
			golden.Within(t, "effective slots", test.least, worth, test.effect)
		})
	}
}

// The weighted mean is that of all operations, and its error is right where slots
// hold unlike numbers of them, or none: operations longer than a slot leave gaps.
func TestMeanSEWeights(t *testing.T) {
	const runs, slots = 2000, 128
	for _, test := range []struct {
		name  string
		count func(i int) int
	}{
		{"operations=1 to 9", func(i int) int { return 1 + i*5%9 }},
		{"operations=every third slot", func(i int) int { return (2 - i%3) / 2 * 4 }},
	} {
		t.Run(test.name, func(t *testing.T) {
			r := seeded(2)
			covered, worth := 0.0, 0.0
			for range runs {
				means, weights := make([]float64, slots), make([]float64, slots)
				sum, n := 0.0, 0
				for i := range means {
					operations := test.count(i)
					for range operations {
						x := r.NormFloat64()
						means[i] += x / float64(operations)
						sum += x
						n++
					}
					if weights[i] = float64(operations); operations == 0 {
						means[i] = math.NaN()
					}
				}
				mean, se, effective := stat.MeanSE(means, weights)
				if diff := cmp.Diff(sum/float64(n), mean, near); diff != "" {
					t.Fatal(diff)
				}
				if math.Abs(mean) <= t975(effective-1)*se {
					covered += 1. / runs
				}
				worth += effective / runs
			}
			t.Logf("coverage %.3f, effective %.1f", covered, worth)
			golden.Within(t, "coverage", 0.94, covered, 0.985)
		})
	}
}

func TestMeanSEOfLittle(t *testing.T) {
	nan := math.NaN()
	for _, test := range []struct {
		name           string
		means, weights []float64
		want           [3]float64
	}{
		{"slots=0", nil, nil, [3]float64{nan, nan, nan}},
		{"slots=1", []float64{5, nan}, []float64{2, 0}, [3]float64{5, nan, nan}},
		{"slots=constant", []float64{5, 5, 5}, []float64{2, 1, 1}, [3]float64{5, 0, 3}},
		{"weights=unlike lengths", []float64{5, 5}, []float64{2}, [3]float64{nan, nan, nan}},
		{"weights=negative", []float64{5, 5}, []float64{2, -1}, [3]float64{nan, nan, nan}},
		{"weights=0", []float64{5, 5}, []float64{0, 0}, [3]float64{nan, nan, nan}},
	} {
		t.Run(test.name, func(t *testing.T) {
			var got [3]float64
			got[0], got[1], got[2] = stat.MeanSE(test.means, test.weights)
			golden.Equal(t, "mean, error, effective", test.want, got, cmpopts.EquateNaNs())
		})
	}
}

func TestTrendRates(t *testing.T) {
	testsize.Full(t)
	const runs = 500
	for _, test := range []struct {
		slots       int
		phi         float64
		rise        float64 // from start to end, in standard deviations of a slot
		least, most float64 // share with p < 0.01
	}{
		{128, 0, 0, 0, 0.02},
		{128, 0.5, 0, 0, 0.025},
		{128, 0.9, 0, 0, 0.04},
		{16, 0, 0, 0, 0.02},
		{16, 0.9, 0, 0, 0.06},
		{128, 0, 2, 0.95, 1},
		{128, 0.5, 4, 0.95, 1},
	} {
		t.Run(fmt.Sprintf("slots=%d/phi=%v/rise=%v", test.slots, test.phi, test.rise), func(t *testing.T) {
			r := seeded(3)
			shown, total := 0.0, 0.0
			for range runs {
				z := autoregressive(r, test.slots, 1, test.phi)
				for i := range z {
					z[i] = 100 + z[i] + test.rise*float64(i)/float64(test.slots)
				}
				change, p := stat.Trend(z, ones(test.slots))
				total += change / runs
				if p < 0.01 {
					shown += 1. / runs
				}
			}
			t.Logf("shown %.3f, mean change %.4f", shown, total)
			golden.Within(t, "share that is shown", test.least, shown, test.most)
			if want := test.rise / (100 + test.rise/2); math.Abs(total-want) > 0.002 {
				t.Errorf("mean change %v, want %v", total, want)
			}
		})
	}
}

func TestTrendOfLittle(t *testing.T) {
	for _, test := range []struct {
		name           string
		means, weights []float64
		change, p      float64
	}{
		{"slots=3", []float64{1, 2, 3}, ones(3), math.NaN(), 1},
		{"slots=3 with operations", []float64{1, 2, 3, 9}, []float64{1, 1, 1, 0}, math.NaN(), 1},
		{"weights=unlike lengths", []float64{1, 2, 3, 4, 5}, ones(4), math.NaN(), 1},
		{"slots=not a number", []float64{1, 2, math.NaN(), 4, 5}, ones(5), math.NaN(), 1},
		{"slots=constant", []float64{7, 7, 7, 7, 7}, ones(5), 0, 1},
		{"slots=zero", []float64{0, 0, 0, 0}, ones(4), 0, 1},
		// Kendall's S is 10 of 10, its variance 50/3: z = 9/sqrt(50/3).
		{"slots=rising", []float64{8, 9, 10, 11, 12}, ones(5), 0.5, math.Erfc(9 / math.Sqrt(50./3) / math.Sqrt2)},
		// A gap is time that passes: the slope is 1 per slot, over 6 slots.
		{"slots=rising, one empty", []float64{8, 9, math.NaN(), 11, 12, 13}, []float64{1, 1, 0, 1, 1, 1}, 6. / 11, math.Erfc(9 / math.Sqrt(50./3) / math.Sqrt2)},
	} {
		t.Run(test.name, func(t *testing.T) {
			change, p := stat.Trend(test.means, test.weights)
			golden.Equal(t, "change and p", []float64{test.change, test.p}, []float64{change, p}, near, cmpopts.EquateNaNs())
		})
	}
}

func TestStationaryRates(t *testing.T) {
	const runs = 2000
	for _, test := range []struct {
		slots       int
		noise, phi  float64
		fall        float64 // over the slots, relative
		least, most float64 // share found stationary
	}{
		{8, 0.02, 0, 0, 0.96, 0.99},
		{16, 0.02, 0, 0, 0.94, 0.98},
		{8, 0.02, 0.5, 0, 0.80, 0.92},
		{16, 0.02, 0.5, 0, 0.70, 0.85},
		{8, 0.002, 0.9, 0, 0.98, 1}, // less than 1 % in all
		{8, 0.02, 0, 0.1, 0, 0.27},
		{16, 0.02, 0, 0.1, 0, 0.01},
		{8, 0.02, 0, 0.2, 0, 0.01},
		{8, 0.002, 0, 0.02, 0, 0.01},
	} {
		t.Run(fmt.Sprintf("slots=%d/noise=%v/phi=%v/fall=%v", test.slots, test.noise, test.phi, test.fall), func(t *testing.T) {
			r := seeded(4)
			share := 0.0
			for range runs {
				z := autoregressive(r, test.slots, 1, test.phi)
				for i := range z {
					z[i] = 1 + test.noise*z[i] - test.fall*float64(i)/float64(test.slots)
				}
				if stat.Stationary(z) {
					share += 1. / runs
				}
			}
			t.Logf("stationary %.3f", share)
			golden.Within(t, "stationary share", test.least, share, test.most)
		})
	}
	if stat.Stationary(ones(7)) || !stat.Stationary(ones(8)) {
		t.Error("8 slots are needed, and enough where they are equal")
	}
	if stat.Stationary(append(ones(11), math.NaN())) {
		t.Error("what is not a number was taken for stationary")
	}
}

func TestSeriesFindings(t *testing.T) {
	r := seeded(5)
	level := func(z []float64, scale, rise float64) []float64 {
		for i := range z {
			z[i] = 100 + scale*z[i] + rise*float64(i)/float64(len(z))
		}
		return z
	}
	for _, test := range []struct {
		name              string
		means             []float64
		drift, correlated string // part of the text; empty: no finding
	}{
		{"series=white", level(autoregressive(r, 128, 1, 0), 1, 0), "", ""},
		{"series=correlated, few slots", level(autoregressive(r, 31, 1, 0.9), 1, 0), "", ""},
		{"series=correlated", level(autoregressive(r, 128, 1, 0.9), 1, 0), "", "independent slots of the window's 128"},
		{"series=rising", level(autoregressive(r, 128, 1, 0), 1, 20), "changed by +18.2 %", "independent slots of the window's 128"},
		{"series=rising by less than 1 %", level(autoregressive(r, 128, 1, 0), 0.01, 0.5), "", "independent slots of the window's 128"},
	} {
		t.Run(test.name, func(t *testing.T) {
			drift, ok := stat.Drifted("latency", test.means, ones(len(test.means)))
			if ok != (test.drift != "") || !strings.Contains(drift.Text, test.drift) {
				t.Errorf("drift %v %q, want %q", ok, drift.Text, test.drift)
			}
			correlated, ok := stat.Correlated("latency", test.means, ones(len(test.means)))
			if ok != (test.correlated != "") || !strings.Contains(correlated.Text, test.correlated) {
				t.Errorf("autocorrelation %v %q, want %q", ok, correlated.Text, test.correlated)
			}
		})
	}
}
