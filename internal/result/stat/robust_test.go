package stat_test

import (
	"errors"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestPairedRobustIsPairedOfFew: below 24 pairs nothing is trimmed.
func TestPairedRobustIsPairedOfFew(t *testing.T) {
	r := seeded(3)
	for n := 1; n < 24; n++ {
		s := rough.session(r, stat.Schedule(n, r.Uint64()), 0.03)
		want, wantErr := stat.Paired(s[stat.Old], s[stat.New], 0.99)
		got, gotErr := stat.PairedRobust(s[stat.Old], s[stat.New], 0.99)
		if diff := cmp.Diff(want, got); diff != "" || (gotErr == nil) != (wantErr == nil) {
			t.Errorf("%d pairs: %v, %v, want %v\n%s", n, gotErr, got, wantErr, diff)
		}
	}
}

// TestPairedRobustByHand: of 24 pairs the middle 12 have log ratios from -0.5 to 0.5 around
// 3 %. The outermost of them stand for all that are farther off, wherever those are. The t
// of 11 degrees of freedom at 99 % is 3.1058.
func TestPairedRobustByHand(t *testing.T) {
	for _, far := range []float64{0.6, 5} {
		var old, recent []float64
		add := func(d float64) { old, recent = append(old, 1), append(recent, math.Exp(0.03+d)) }
		squares := 0.0
		for i := range 12 {
			d := (float64(i) - 5.5) / 11
			add(d)
			squares += d * d
		}
		for range 6 {
			add(-far)
			add(far)
			squares += 2 * 0.25
		}
		e := must.Get(stat.PairedRobust(old, recent, 0.99))(t)
		width := 3.1058 * math.Sqrt(squares/23) * math.Sqrt(23.0/(12*11))
		golden.Near(t, "change", 1+0.03, math.Log1p(e.Change)+1, 1e-12)
		golden.Near(t, "low end", width, 0.03-math.Log1p(e.Low), 1e-4)
		golden.Near(t, "high end", width, math.Log1p(e.High)-0.03, 1e-4)
	}
}

// TestPairedRobustStandsDisturbedProcesses: of 24 pairs with a change of 3 % and a
// thousandth of noise, five are far off, all on one side: they do this interval no harm, and
// the signed-rank interval can stand one.
func TestPairedRobustStandsDisturbedProcesses(t *testing.T) {
	r := seeded(4)
	var old, recent []float64
	for i := range 24 {
		old = append(old, 100)
		v := 103 * math.Exp(0.001*r.NormFloat64())
		if i < 5 {
			v *= 1.3
		}
		recent = append(recent, v)
	}
	robust := must.Get(stat.PairedRobust(old, recent, 0.99))(t)
	ranks := must.Get(stat.Paired(old, recent, 0.99))(t)
	if robust.Low > 0.03 || robust.High < 0.03 || robust.High > 0.033 || ranks.High < 0.1 {
		t.Errorf("interval %v to %v, that of the ranks up to %v", robust.Low, robust.High, ranks.High)
	}
	if robust.Confidence != 0.99 || robust.P > 0.01 {
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
