package stat_test

import (
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/internal/stat"
)

// TestPairedRobustIsPairedOfFew: below 16 pairs there is one interval.
func TestPairedRobustIsPairedOfFew(t *testing.T) {
	r := seeded(3)
	for n := 1; n < 16; n++ {
		s := rough.session(r, stat.Schedule(n), 0.03)
		want, wantErr := stat.Paired(s[stat.Old], s[stat.New], 0.99)
		got, gotErr := stat.PairedRobust(s[stat.Old], s[stat.New], 0.99)
		if diff := cmp.Diff(want, got); diff != "" || (gotErr == nil) != (wantErr == nil) {
			t.Errorf("%d pairs: %v, %v, want %v\n%s", n, gotErr, got, wantErr, diff)
		}
	}
}

// TestPairedRobustStandsDisturbedProcesses: of 20 pairs with a change of 3 % and a
// thousandth of noise, four are far off. The sign test's interval at 99.5 % lies
// between the fourth and the seventeenth log ratio (P(X <= 3) of 20 coins is
// 0.00129, P(X <= 4) 0.0059), so three on one side do it no harm, and the
// signed-rank interval none of them.
func TestPairedRobustStandsDisturbedProcesses(t *testing.T) {
	r := seeded(4)
	var old, recent []float64
	for i := range 20 {
		old = append(old, 100)
		v := 103 * math.Exp(0.001*r.NormFloat64())
		if i < 3 {
			v *= 1.3
		}
		recent = append(recent, v)
	}
	robust := must.Get(stat.PairedRobust(old, recent, 0.99))(t)
	ranks := must.Get(stat.Paired(old, recent, 0.99))(t)
	ratios := slices.Clone(recent)
	slices.Sort(ratios)
	want := [2]float64{ratios[3]/100 - 1, ratios[16]/100 - 1}
	if got := [2]float64{robust.Low, robust.High}; math.Abs(got[0]-want[0]) > 1e-9 || math.Abs(got[1]-want[1]) > 1e-9 {
		t.Errorf("interval %v, want %v", got, want)
	}
	if robust.High > 0.04 || ranks.High < 0.1 {
		t.Errorf("interval up to %v, that of the ranks up to %v: the test does not test", robust.High, ranks.High)
	}
	if robust.Confidence < 0.99 || robust.P > 0.01 {
		t.Errorf("confidence %v, P %v", robust.Confidence, robust.P)
	}
}

func TestPairedRobustProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 40).Draw(t, "n")
		figures := rapid.SliceOfN(rapid.Float64Range(1, 2), n, n)
		old, recent := figures.Draw(t, "old"), figures.Draw(t, "new")
		e, err := stat.PairedRobust(old, recent, 0.99)
		if few, ok := errors.AsType[*stat.FewError](err); err != nil && (!ok || n >= few.Need) {
			t.Fatal(err)
		}
		if e.Low > e.Change || e.Change > e.High {
			t.Errorf("%v is not between %v and %v", e.Change, e.Low, e.High)
		}
		back, _ := stat.PairedRobust(recent, old, 0.99)
		if err == nil && (math.Abs(math.Log1p(back.Low)+math.Log1p(e.High)) > 1e-9 || math.Abs(back.P-e.P) > 1e-9) {
			t.Errorf("with sides exchanged %+v, was %+v", back, e)
		}
		if err == nil && (e.Low > 0 || e.High < 0) && e.P > 0.01+1e-9 {
			t.Errorf("the interval excludes no change, and P is %v", e.P)
		}
	})
}
