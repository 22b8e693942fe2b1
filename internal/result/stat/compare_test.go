package stat_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/perf/benchmath"
	"pgregory.net/rapid"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

var near = cmpopts.EquateApprox(1e-9, 1e-11)

// exps makes samples whose logarithms are the values of a textbook.
func exps(values ...float64) []float64 {
	e := make([]float64, len(values))
	for i, v := range values {
		e[i] = math.Exp(v)
	}
	return e
}

// The examples of Hollander and Wolfe: the depression scale (3.1 to 3.3) and the
// permeability of the chorioamnion (4.1 to 4.3).
func TestTextbook(t *testing.T) {
	for _, test := range []struct {
		name      string
		compare   func(old, new []float64, confidence float64) (stat.Effect, error)
		old, new  []float64
		shift     float64
		low, high float64
		p         float64
	}{
		{
			"test=signed-rank", stat.Paired,
			exps(1.83, 0.50, 1.62, 2.48, 1.68, 1.88, 1.55, 3.06, 1.30),
			exps(0.878, 0.647, 0.598, 2.05, 1.06, 1.29, 1.06, 3.14, 1.29),
			-0.46, -0.786, -0.010, 2 * 10. / 512,
		},
		{
			"test=rank-sum", stat.Unpaired,
			exps(1.15, 0.88, 0.90, 0.74, 1.21),
			exps(0.80, 0.83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, 0.73, 1.46),
			0.305, -0.15, 0.76, 764. / 3003,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := must.Get(test.compare(test.old, test.new, 0.95))(t)
			want := []float64{test.shift, test.low, test.high, test.p}
			got := []float64{math.Log1p(e.Change), math.Log1p(e.Low), math.Log1p(e.High), e.P}
			golden.Equal(t, "shift, interval, P", want, got, near)
		})
	}
}

// Signs dealt out in all ways, over ranks that count zeros and share ties.
func TestPairedPIsExactWithTies(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := rapid.SliceOfN(rapid.IntRange(-3, 3), 1, 9).Draw(t, "d")
		abs := func(x int) int { return max(x, -x) }
		ranks := make([]int, len(d)) // doubled
		observed, all := 0, 0
		for i, x := range d {
			if x == 0 {
				continue
			}
			for _, y := range d {
				switch {
				case abs(y) < abs(x):
					ranks[i] += 2
				case abs(y) == abs(x):
					ranks[i]++
				}
			}
			ranks[i]++
			all += ranks[i]
			if x > 0 {
				observed += ranks[i]
			}
		}
		extreme := 0
		for signs := range 1 << len(d) {
			sum := 0
			for i, r := range ranks {
				sum += r * (signs >> i & 1)
			}
			if abs(2*sum-all) >= abs(2*observed-all) {
				extreme++
			}
		}
		old, new := make([]float64, len(d)), make([]float64, len(d))
		for i, x := range d {
			old[i], new[i] = 100, 100*math.Pow(1.01, float64(x))
		}
		e, err := stat.Paired(old, new, 0.95)
		if few := (*stat.FewError)(nil); err != nil && !errors.As(err, &few) {
			t.Fatal(err)
		}
		golden.Equal(t, "P", float64(extreme)/float64(int(1)<<len(d)), e.P, near)
	})
}

func positive(n int) *rapid.Generator[[]float64] {
	return rapid.SliceOfN(rapid.Float64Range(50, 200), n, n)
}

// Without ties the interval and benchmath's P are two sides of one test.
func TestUnpairedAgreesWithBenchmath(t *testing.T) {
	excluded := 0
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		r := seeded(seed)
		sample := func(n int, shift float64) []float64 {
			x := make([]float64, n)
			for i := range x {
				x[i] = math.Exp(shift + r.NormFloat64())
			}
			return x
		}
		old := sample(5+r.IntN(10), 0)
		new := sample(5+r.IntN(10), 3*r.Float64())
		e := must.Get(stat.Unpaired(old, new, 0.99))(t)
		thresholds := benchmath.DefaultThresholds
		p := benchmath.AssumeNothing.Compare(
			benchmath.NewSample(slices.Clone(old), &thresholds),
			benchmath.NewSample(slices.Clone(new), &thresholds)).P
		if out := e.Low > 0 || e.High < 0; out != (p <= 0.01) || min(1, p) != e.P {
			t.Errorf("interval %v to %v, p %v, benchmath's %v", e.Low, e.High, e.P, p)
		} else if out {
			excluded++
		}
	})
	if excluded == 0 {
		t.Error("no sample showed a difference")
	}
}

// mirrored is the effect with the sides exchanged.
func mirrored(e stat.Effect) stat.Effect {
	m := e
	m.Change, m.Low, m.High = 1/(1+e.Change)-1, 1/(1+e.High)-1, 1/(1+e.Low)-1
	m.Old, m.New = e.New, e.Old
	return m
}

func TestSymmetries(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(8, 14).Draw(t, "n")
		old, new := positive(n).Draw(t, "old"), positive(n).Draw(t, "new")
		factor := rapid.Float64Range(1e-3, 1e3).Draw(t, "factor")
		scaled := func(x []float64) []float64 {
			y := make([]float64, n)
			for i, v := range x {
				y[i] = v * factor
			}
			return y
		}
		order := seeded(rapid.Uint64().Draw(t, "order")).Perm(n)
		permuted := func(x []float64) []float64 {
			y := make([]float64, n)
			for i, j := range order {
				y[i] = x[j]
			}
			return y
		}
		for name, compare := range map[string]func(old, new []float64, confidence float64) (stat.Effect, error){
			"paired": stat.Paired, "unpaired": stat.Unpaired,
		} {
			do := func(old, new []float64) stat.Effect {
				return must.Get(compare(old, new, 0.99))(t)
			}
			e := do(old, new)
			if !(e.Low <= e.Change && e.Change <= e.High) || e.Confidence < 0.99 || e.N != n {
				t.Errorf("%s: %+v", name, e)
			}
			golden.Equal(t, name+", sides exchanged", mirrored(e), do(new, old), near)
			larger := e
			larger.Old, larger.New = e.Old*factor, e.New*factor
			golden.Equal(t, name+", both sides scaled", larger, do(scaled(old), scaled(new)), near)
			golden.Equal(t, name+", permuted", e, do(permuted(old), permuted(new)), near)
			opposite := map[stat.Verdict]stat.Verdict{stat.Slower: stat.Faster, stat.Faster: stat.Slower, stat.Same: stat.Same}
			for _, other := range []stat.Verdict{
				stat.Judge(mirrored(e), 0.01, record.Lower),
				stat.Judge(e, 0.01, record.Higher),
			} {
				golden.Equal(t, name+": verdict with the sides or the direction exchanged", opposite[stat.Judge(e, 0.01, record.Lower)], other)
			}
			golden.Equal(t, name+": a gate trips for a time, and for its rate", stat.Tripped(e, 0.01, 0.03, record.Lower), stat.Tripped(mirrored(e), 0.01, 0.03, record.Higher))
		}
	})
}

func TestConstantSides(t *testing.T) {
	for _, test := range []struct {
		name     string
		old, new []float64
		change   float64
		p        float64
	}{
		{"sides=equal", []float64{7, 7, 7, 7, 7}, []float64{7, 7, 7, 7, 7}, 0, 1},
		{"sides=differ", []float64{100, 100, 100, 100, 100}, []float64{103, 103, 103, 103, 103}, 0.03, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			e := must.Get(stat.Unpaired(test.old, test.new, 0.99))(t)
			want := stat.Effect{
				Change: test.change, Low: test.change, High: test.change,
				Confidence: e.Confidence, P: test.p, Old: test.old[0], New: test.new[0], N: 5,
			}
			golden.Equal(t, "effect", want, e, near)
		})
	}
}

func TestTooFew(t *testing.T) {
	rising := func(n int, by float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = 100 * by * (1 + float64(i)/1000)
		}
		return x
	}
	for _, test := range []struct {
		name       string
		compare    func(old, new []float64, confidence float64) (stat.Effect, error)
		n          int
		confidence float64
		need       int // 0: enough
	}{
		{"test=paired/n=7", stat.Paired, 7, 0.99, 8},
		{"test=paired/n=8", stat.Paired, 8, 0.99, 0},
		{"test=paired/n=5", stat.Paired, 5, 0.95, 6},
		{"test=paired/n=6", stat.Paired, 6, 0.95, 0},
		{"test=paired/n=1", stat.Paired, 1, 0.99, 8},
		{"test=unpaired/n=4", stat.Unpaired, 4, 0.99, 5},
		{"test=unpaired/n=5", stat.Unpaired, 5, 0.99, 0},
		{"test=unpaired/n=1", stat.Unpaired, 1, 0.95, 4},
	} {
		t.Run(test.name, func(t *testing.T) {
			e, err := test.compare(rising(test.n, 1), rising(test.n, 1.5), test.confidence)
			golden.Within(t, "change", 0.49, e.Change, 0.51)
			verdict := stat.Judge(e, 0, record.Lower)
			if test.need == 0 {
				if err != nil || verdict != stat.Slower {
					t.Errorf("%s, error %v", verdict, err)
				}
				return
			}
			var few *stat.FewError
			if !errors.As(err, &few) || !errors.Is(err, zkbench.ErrEnv) {
				t.Fatalf("error %v", err)
			}
			golden.Equal(t, "pairs and how many are needed", [2]int{test.n, test.need}, [2]int{few.N, few.Need})
			if verdict != stat.Unknown || stat.Tripped(e, 0, 0, record.Lower) || e.Confidence != 0 {
				t.Errorf("%s of %+v", verdict, e)
			}
		})
	}
}

func TestRefused(t *testing.T) {
	good := []float64{1, 2, 3}
	for _, test := range []struct {
		name       string
		old, new   []float64
		confidence float64
		want       string
	}{
		{"value=zero", []float64{1, 0, 3}, good, 0.99, "old[1] is 0"},
		{"value=negative", good, []float64{1, 2, -3}, 0.99, "new[2] is -3"},
		{"value=nan", []float64{math.NaN(), 1, 1}, good, 0.99, "old[0] is NaN"},
		{"value=infinite", []float64{1, 1, math.Inf(1)}, good, 0.99, "old[2] is +Inf"},
		{"side=empty", nil, nil, 0.99, "no values of old"},
		{"confidence=1", good, good, 1, "confidence 1"},
		{"confidence=0", good, good, 0, "confidence 0"},
		{"confidence=nan", good, good, math.NaN(), "confidence NaN"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for name, compare := range map[string]func(old, new []float64, confidence float64) (stat.Effect, error){
				"paired": stat.Paired, "unpaired": stat.Unpaired,
			} {
				_, err := compare(test.old, test.new, test.confidence)
				must.Fail(t, err, zkbench.ErrParams, "%s", name)
				golden.Contains(t, fmt.Sprint(err), test.want)
			}
		})
	}
	must.FailGet(stat.Paired(good, good[:2], 0.99))(t, zkbench.ErrParams, "unlike lengths")
	var sample *stat.SampleError
	if _, err := stat.Unpaired(good, []float64{1, -2}, 0.99); !errors.As(err, &sample) || sample.Side != stat.New || sample.Index != 1 {
		t.Errorf("error %v is not a SampleError of new[1]", err)
	}
}

func TestJudge(t *testing.T) {
	effect := func(low, change, high float64) stat.Effect {
		return stat.Effect{Change: change, Low: low, High: high, Confidence: 0.99, N: 10}
	}
	for _, test := range []struct {
		name        string
		effect      stat.Effect
		floor, gate float64
		better      record.Direction
		want        stat.Verdict
		tripped     bool
	}{
		{"time=more", effect(0.02, 0.03, 0.04), 0.01, 0.03, record.Lower, stat.Slower, false},
		{"time=beyond gate", effect(0.04, 0.05, 0.06), 0.01, 0.03, record.Lower, stat.Slower, true},
		{"time=less", effect(-0.06, -0.05, -0.04), 0.01, 0.03, record.Lower, stat.Faster, false},
		{"time=within floor", effect(0.02, 0.03, 0.04), 0.03, 0, record.Lower, stat.Same, false},
		{"time=interval within floor", effect(0.02, 0.03, 0.04), 0.025, 0, record.Lower, stat.Slower, false},
		{"time=unsure", effect(-0.01, 0.03, 0.07), 0.01, 0, record.Lower, stat.Same, false},
		{"time=touches zero", effect(0, 0.03, 0.07), 0.01, 0, record.Lower, stat.Same, false},
		{"rate=more", effect(0.04, 0.05, 0.06), 0.01, 0.03, record.Higher, stat.Faster, false},
		{"rate=less", effect(-0.06, -0.05, -0.04), 0.01, 0.03, record.Higher, stat.Slower, true},
		{"rate=1/1.03 exceeds -3 %", effect(-0.04, -0.035, -0.0295), 0.01, 0.03, record.Higher, stat.Slower, true},
		{"rate=-2.9 % is within 1/1.03", effect(-0.04, -0.035, -0.029), 0.01, 0.03, record.Higher, stat.Slower, false},
		{"floor=none", effect(0.04, 0.05, 0.06), math.NaN(), 0.03, record.Lower, stat.Unknown, false},
		{"effect=zero value", stat.Effect{}, 0.01, 0.03, record.Lower, stat.Unknown, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			golden.Equal(t, "verdict", test.want, stat.Judge(test.effect, test.floor, test.better))
			golden.Equal(t, "tripped", test.tripped, stat.Tripped(test.effect, test.floor, test.gate, test.better))
		})
	}
}

// What is attained is never below what was asked by a rounding: 1 - 2 * 0.25 of 1 and 7
// figures is.
func TestAttainedAsAsked(t *testing.T) {
	e, err := stat.Unpaired([]float64{1}, []float64{1, 1, 1, 1, 1, 1, 1}, 0.5)
	if err != nil {
		t.Fatal(err)
	}
	golden.Equal(t, "confidence", 0.5, e.Confidence)
}

// Whatever the figures are, a comparison is an effect in order or a typed error.
func TestAnyFigures(t *testing.T) {
	figures := rapid.SliceOfN(rapid.OneOf(rapid.Float64(), rapid.Float64Range(0.1, 10),
		rapid.SampledFrom([]float64{0, 1, math.NaN(), math.Inf(1), math.SmallestNonzeroFloat64, math.MaxFloat64})), 0, 12)
	rapid.Check(t, func(t *rapid.T) {
		old, new := figures.Draw(t, "old"), figures.Draw(t, "new")
		confidence := rapid.SampledFrom([]float64{0, 0.5, 0.99, 1 - 1e-15, 1, math.NaN()}).Draw(t, "confidence")
		for name, compare := range map[string]func(old, new []float64, confidence float64) (stat.Effect, error){
			"paired": stat.Paired, "unpaired": stat.Unpaired,
		} {
			e, err := compare(old, new, confidence)
			switch {
			case errors.Is(err, zkbench.ErrParams):
				golden.Equal(t, name+": beside an error", stat.Effect{}, e)
			case err != nil && !errors.Is(err, zkbench.ErrEnv):
				t.Errorf("%s: error %v", name, err)
			case !(e.Low <= e.Change && e.Change <= e.High && e.P >= 0 && e.P <= 1):
				t.Errorf("%s: %+v", name, e)
			case (err == nil) != (e.Confidence >= confidence):
				t.Errorf("%s: confidence %v, error %v", name, e.Confidence, err)
			}
		}
	})
}

// TestUnderpowered: what could not have shown a change as large as the gate is blind, unless the
// change is beyond the gate anyway, or less than the gate, or is none for the worse.
func TestUnderpowered(t *testing.T) {
	nan := math.NaN()
	for _, test := range []struct {
		name            string
		low, high, conf float64
		floor           float64
		better          record.Direction
		blind           bool
		sees            float64
	}{
		{"narrow", -0.01, 0.0195, 0.99, 0.001, record.Lower, false, 1.0195/0.99 - 1},
		{"wide", -0.02, 0.035, 0.99, 0.001, record.Lower, true, 1.035/0.98 - 1},
		{"wide, up to the gate", -0.02, 0.03, 0.99, 0.001, record.Lower, true, 1.03/0.98 - 1},
		{"wide, and below the gate", -0.02, 0.02, 0.99, 0.001, record.Lower, false, 1.02/0.98 - 1},
		{"wide, and a rate is above the gate", -0.02, 0.02, 0.99, 0.001, record.Higher, false, 1.02/0.98 - 1},
		{"wide, and a rate is not", -0.035, 0.02, 0.99, 0.001, record.Higher, true, 1.02/0.965 - 1},
		{"wide, below the gate, of a high floor", -0.02, 0.02, 0.99, 0.04, record.Lower, true, 1.02/0.98 - 1},
		{"wide, and slower", 0.001, 0.05, 0.99, 0.001, record.Lower, true, 1.05/1.001 - 1},
		{"wide, and beyond", 0.031, 0.2, 0.99, 0.001, record.Lower, false, 1.2/1.031 - 1},
		{"wide, and faster", -0.2, -0.001, 0.99, 0.001, record.Lower, false, 0.999/0.8 - 1},
		{"wide, and a rate is less", -0.2, -0.001, 0.99, 0.001, record.Higher, true, 0.999/0.8 - 1},
		{"wide, and a rate is more", 0.001, 0.2, 0.99, 0.001, record.Higher, false, 1.2/1.001 - 1},
		{"narrow, of a high floor", -0.001, 0.001, 0.99, 0.04, record.Lower, true, 0.04},
		{"too few, alike", 0, 0, 0, 0.001, record.Lower, true, math.Inf(1)},
		{"too few, faster", -0.5, -0.5, 0, 0.001, record.Lower, true, math.Inf(1)},
		{"too few", -1, math.Inf(1), 0, nan, record.Lower, true, math.Inf(1)},
		{"no floor, and faster", -0.2, -0.1, 0.99, nan, record.Lower, true, math.Inf(1)},
		{"faster within a high floor", -0.04, -0.02, 0.99, 0.2, record.Lower, true, 0.2},
		{"no floor", -0.001, 0.001, 0.99, nan, record.Lower, true, math.Inf(1)},
	} {
		e := stat.Effect{Change: (test.low + test.high) / 2, Low: test.low, High: test.high, Confidence: test.conf}
		if got := stat.Underpowered(e, test.floor, 0.03, test.better); got != test.blind {
			t.Errorf("%s: blind %v", test.name, got)
		}
		if sees := e.Detectable(test.floor); !(math.Abs(sees-test.sees) < 1e-12 || sees == test.sees) {
			t.Errorf("%s: sees %v, want %v", test.name, sees, test.sees)
		}
	}
}
