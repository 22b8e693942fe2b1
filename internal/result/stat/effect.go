package stat

import (
	"fmt"
	"math"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
)

// Effect is by how much new differs from old. Change, Low and High are relative,
// new/old - 1: 0.03 is 3 % more.
//
// Where the processes are too few for the confidence asked, Confidence is 0,
// Change stands, and Low and High are -1 and +Inf; of two sides that are constant
// they are Change. Judge calls such an effect Unknown.
type Effect struct {
	Change     float64 // Hodges-Lehmann estimate, or trimmed mean of the log ratios
	Low, High  float64 // confidence interval of the change, ends included
	Confidence float64 // of the interval as attained, at least what was asked; 0: not attained
	P          float64 // two-sided, of no difference; 0: two constants that differ
	Old, New   float64 // medians of the sides, in their unit
	N          int     // processes: pairs, or those of the smaller side
}

// FewError says that there are too few processes for an interval of the
// confidence asked. It is a zkbench.ErrEnv.
type FewError struct {
	What       string  // pairs of processes, or processes a side
	N, Need    int     // how many there are, and how many are needed
	Confidence float64 // that was asked
}

func (e *FewError) Error() string {
	return fmt.Sprintf("%v: %d %s; %d or more are needed for an interval at %g %%", zkbench.ErrEnv, e.N, e.What, e.Need, 100*e.Confidence)
}

func (e *FewError) Unwrap() error { return zkbench.ErrEnv }

// SampleError names a figure that cannot be compared. It is a zkbench.ErrParams.
type SampleError struct {
	Side  Side // Old or New
	Index int
	Value float64
}

func (e *SampleError) Error() string {
	return fmt.Sprintf("%v: %s[%d] is %v; accepted: finite and above 0", zkbench.ErrParams, e.Side, e.Index, e.Value)
}

func (e *SampleError) Unwrap() error { return zkbench.ErrParams }

// Verdict is what a comparison shows.
type Verdict string

const (
	Slower  Verdict = "slower"
	Faster  Verdict = "faster"
	Same    Verdict = "~" // no difference shown, which does not show that there is none
	Unknown Verdict = "?" // too few processes, or no noise floor
)

// Judge returns Slower or Faster where the interval of e excludes no change and
// the change exceeds the noise floor (Floor, SplitFloor; 0 for none), Same
// where not. It is Unknown where e has no interval at the confidence asked, or
// the floor is not a number. Changes are measured in logarithms, so exchanging
// the sides exchanges Slower and Faster and changes nothing else.
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

// Tripped tells whether the interval of e lies wholly on the worse side of both
// the gate and the floor, relative changes both: with gate 0.03, costs 3 % more
// than before, or a rate divided by more than 1.03. Where Judge is Unknown it is
// false.
func Tripped(e Effect, floor, gate float64, better record.Direction) bool {
	if !(e.Confidence > 0) || math.IsNaN(floor) {
		return false
	}
	low, _ := e.cost(better)
	return low > math.Log1p(max(floor, gate))
}

// Sees is the least change that this comparison would have shown almost surely: one as large
// as the interval is wide, or as the floor where that is more; +Inf where it shows nothing.
func (e Effect) Sees(floor float64) float64 {
	if !(e.Confidence > 0) || math.IsNaN(floor) {
		return math.Inf(1)
	}
	return max(math.Expm1(e.width()), floor)
}

// Blind tells whether a gate cannot be judged by e: it does not trip, nor is it Faster, and a change as
// large as the gate would not have been shown (Sees).
func Blind(e Effect, floor, gate float64, better record.Direction) bool {
	if !(e.Confidence > 0) || math.IsNaN(floor) {
		return true
	}
	return e.Sees(floor) > gate && Judge(e, floor, better) != Faster && !Tripped(e, floor, gate, better)
}

// width is the length of the interval, in logarithms.
func (e Effect) width() float64 { return math.Log1p(e.High) - math.Log1p(e.Low) }

// cost returns the interval of the log ratio with worse upwards.
func (e Effect) cost(better record.Direction) (low, high float64) {
	low, high = math.Log1p(e.Low), math.Log1p(e.High)
	if better == record.Higher {
		return -high, -low
	}
	return low, high
}

// check refuses what has no logarithm, and a confidence that is none.
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
