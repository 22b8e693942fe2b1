package stat

import (
	"fmt"
	"math"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
)

// Effect says by how much the new side of a comparison differs from the old one. Change,
// Low and High are relative, new/old - 1: 0.03 means 3 % more.
//
// If there are too few processes for the requested confidence, Confidence is 0 and Judge
// returns Unknown. Change is computed all the same; Low and High are then -1 and +Inf, or
// equal to Change if both sides are constant.
type Effect struct {
	Change     float64 // Hodges-Lehmann estimate, or trimmed mean of the log ratios
	Low, High  float64 // confidence interval of the change, ends included
	Confidence float64 // of the interval as computed, at least what was asked for; 0: not reached
	P          float64 // two-sided p-value for no difference; 0: two constants that differ
	Old, New   float64 // medians of the sides, in their unit
	N          int     // processes: pairs, or those of the smaller side
}

// FewError reports that there are too few processes for an interval with the requested
// confidence. It wraps zkbench.ErrEnv.
type FewError struct {
	What       string  // pairs of processes, or values on the smaller side
	N, Need    int     // how many there are, and how many are needed
	Confidence float64 // the confidence asked for
}

func (e *FewError) Error() string {
	return fmt.Sprintf("%v: %d %s; %d or more are needed for an interval at %g %%", zkbench.ErrEnv, e.N, e.What, e.Need, 100*e.Confidence)
}

func (e *FewError) Unwrap() error { return zkbench.ErrEnv }

// SampleError reports a figure that cannot be compared, because it has no logarithm. It
// wraps zkbench.ErrParams.
type SampleError struct {
	Side  Side // Old or New
	Index int
	Value float64
}

func (e *SampleError) Error() string {
	return fmt.Sprintf("%v: %s[%d] is %v; accepted: finite and above 0", zkbench.ErrParams, e.Side, e.Index, e.Value)
}

func (e *SampleError) Unwrap() error { return zkbench.ErrParams }

// Verdict is the result of a comparison.
type Verdict string

// The verdicts of Judge.
const (
	Slower  Verdict = "slower"
	Faster  Verdict = "faster"
	Same    Verdict = "~" // no difference was shown; there may be one
	Unknown Verdict = "?" // too few processes, or no noise floor
)

// Judge returns Slower or Faster if the interval of e does not contain 0 and the change
// exceeds the noise floor. Otherwise it returns Same. It returns Unknown if e has no
// interval at the requested confidence, or if floor is not a number. The parameter floor is
// the noise floor that Floor or SplitFloor returns, or 0 for none. Changes are measured in
// logarithms, so exchanging the two sides only exchanges Slower and Faster.
func Judge(e Effect, floor float64, better record.Direction) Verdict {
	if !(e.Confidence > 0) || math.IsNaN(floor) {
		return Unknown
	}
	low, high := e.cost(better)
	change := math.Abs(math.Log1p(e.Change))
	switch {
	case change <= math.Log1p(floor):
		return Same
	case low > 0:
		return Slower
	case high < 0:
		return Faster
	default:
		return Same
	}
}

// Tripped reports whether e trips the gate, which is a threshold for changes to the worse.
// All of e's interval must be worse than both the gate and the noise floor. The gate and
// the floor are relative: with a gate of 0.03, a cost trips the gate if it is above 1.03
// times the old value, and a rate trips it if it is below 1/1.03 of the old value. If
// Judge returns Unknown, Tripped returns false.
func Tripped(e Effect, floor, gate float64, better record.Direction) bool {
	if !(e.Confidence > 0) || math.IsNaN(floor) {
		return false
	}
	low, _ := e.cost(better)
	return low > math.Log1p(max(floor, gate))
}

// Detectable returns the minimum detectable effect: the smallest change that this comparison
// would almost certainly have shown. This is the width of the interval, or the noise floor
// if that is larger. If e has no interval, or floor is NaN, the result is +Inf.
func (e Effect) Detectable(floor float64) float64 {
	if !(e.Confidence > 0) || math.IsNaN(floor) {
		return math.Inf(1)
	}
	return max(math.Expm1(e.width()), floor)
}

// Decided reports whether e decides about a gate (see Tripped): the whole interval is worse than the
// gate, or the whole interval is better than the gate, or Judge returns Faster.
func Decided(e Effect, floor, gate float64, better record.Direction) bool {
	if !(e.Confidence > 0) || math.IsNaN(floor) {
		return false
	}
	_, high := e.cost(better)
	return Tripped(e, floor, gate, better) || floor <= gate && high < math.Log1p(gate) || Judge(e, floor, better) == Faster
}

// Underpowered reports whether e says too little about a gate. It returns true only if e does not
// decide about the gate (see Decided) and the comparison would not have shown a change as large as
// the gate (see Effect.Detectable).
func Underpowered(e Effect, floor, gate float64, better record.Direction) bool {
	return e.Detectable(floor) > gate && !Decided(e, floor, gate, better)
}

// width returns the length of the interval, in logarithms.
func (e Effect) width() float64 { return math.Log1p(e.High) - math.Log1p(e.Low) }

// cost returns the interval of the log ratio, with a sign that makes larger worse.
func (e Effect) cost(better record.Direction) (low, high float64) {
	low, high = math.Log1p(e.Low), math.Log1p(e.High)
	if better == record.Higher {
		return -high, -low
	}
	return low, high
}

// check returns an error if a figure has no logarithm, if a side has no figures, or if
// confidence is not between 0 and 1.
func check(old, new []float64, confidence float64) error {
	if err := checkConfidence(confidence); err != nil {
		return err
	}
	for _, side := range []struct {
		name   Side
		values []float64
	}{{Old, old}, {New, new}} {
		if len(side.values) == 0 {
			return fmt.Errorf("%w: no values of %s; accepted: one or more", zkbench.ErrParams, side.name)
		}
		for i, v := range side.values {
			if !(v > 0) || math.IsInf(v, 1) {
				return &SampleError{Side: side.name, Index: i, Value: v}
			}
		}
	}
	return nil
}
