package stat_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestCrossing: of shares without noise the crossing is exact; of counts that come alone, and
// of such as come in clumps of a geometric number, the interval holds the truth as often as it
// says.
func TestCrossing(t *testing.T) {
	const at, fold, level = 1000.0, 50.0, 0.01
	share := func(x float64) float64 { return level * math.Exp((x-at)/fold) }
	var exact []stat.Share
	for _, x := range []float64{960, 980, 1000, 1020} {
		exact = append(exact, stat.Share{X: x, Count: 1e9 * share(x), All: 1e9})
	}
	e := must.Get(stat.Crossing(exact, level, 0.95))(t)
	golden.Near(t, "crossing", at, e.Value, 1e-6)
	golden.Near(t, "fold", fold, e.Fold, 1e-4)
	if e.Low > at || e.High < at || e.High-e.Low > 0.1 {
		t.Errorf("interval %v to %v", e.Low, e.High)
	}
	r := rand.New(rand.NewPCG(1, 1))
	poisson := func(mean float64) (n float64) {
		for sum := r.ExpFloat64(); sum < mean; sum += r.ExpFloat64() {
			n++
		}
		return n
	}
	for _, test := range []struct {
		name       string
		clump      float64
		dispersion float64
	}{{"alone", 1, 1}, {"in clumps", 10, 19}} {
		const sets = 1000
		held, effective, late := 0, 0.0, 0.0
		for range sets {
			var shares []stat.Share
			for i := range 24 {
				x := at + 30*float64(i%3-1)
				count := poisson(1e4 * share(x) / test.clump)
				if test.clump > 1 { // of a geometric length of this mean
					total := 0.0
					for range int(count) {
						total += math.Ceil(math.Log(1-r.Float64()) / math.Log(1-1/test.clump))
					}
					count = total
				}
				shares = append(shares, stat.Share{X: x, Count: count, All: 1e4})
				late += count
			}
			e := must.Get(stat.Crossing(shares, level, 0.95))(t)
			if e.Low <= at && at <= e.High {
				held++
			}
			effective += e.Effective
		}
		golden.Within(t, "intervals of 1000 that hold the truth, "+test.name, 930, held, 980)
		golden.Near(t, "dispersion, "+test.name, test.dispersion, late/effective, 0.2)
	}
}

func TestCrossingRefuses(t *testing.T) {
	shares := func(counts ...float64) (all []stat.Share) {
		for i, c := range counts {
			all = append(all, stat.Share{X: float64(100 + i), Count: c, All: 1000})
		}
		return all
	}
	for name, f := range map[string]func() (stat.Rise, error){
		"few":        func() (stat.Rise, error) { return stat.Crossing(shares(1, 2, 3), 0.1, 0.95) },
		"level":      func() (stat.Rise, error) { return stat.Crossing(shares(1, 2, 3, 4), 1, 0.95) },
		"confidence": func() (stat.Rise, error) { return stat.Crossing(shares(1, 2, 3, 4), 0.1, 1) },
		"falling":    func() (stat.Rise, error) { return stat.Crossing(shares(400, 300, 200, 100), 0.1, 0.95) },
		"none late":  func() (stat.Rise, error) { return stat.Crossing(shares(0, 0, 0, 0), 0.1, 0.95) },
		"at one place": func() (stat.Rise, error) {
			return stat.Crossing([]stat.Share{{X: 1, Count: 1, All: 9}, {X: 1, Count: 2, All: 9}, {X: 1, Count: 1, All: 9}, {X: 1, Count: 2, All: 9}}, 0.1, 0.95)
		},
		"of no numbers": func() (stat.Rise, error) { return stat.Crossing(shares(math.NaN(), 1, 2, 3), 0.1, 0.95) },
	} {
		if e, err := f(); err == nil {
			t.Errorf("%s: %+v", name, e)
		} else {
			must.Fail(t, err, zkbench.ErrParams, "%s", name)
		}
	}
	// A slope that is not sure leaves a side open.
	e := must.Get(stat.Crossing(shares(90, 110, 95, 112), 0.1, 0.95))(t)
	if !math.IsInf(e.Low, -1) && !math.IsInf(e.High, 1) {
		t.Errorf("%+v", e)
	}
}
