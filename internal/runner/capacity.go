package runner

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/stat"
)

// Parameters of a search and its trials.
const (
	wideEnough    = 1.2   // maximum ratio of the ends of the interval
	pilotTrials   = 6     // trials that place the others
	leastFitted   = 18    // minimum number of the other trials
	mostTrials    = 96    // approximate maximum of a search
	effectiveLate = 40    // late operations, counted as independent ones, that make the estimate sure enough
	leastSpread   = 0.005 // minimum spread of the rates of a design's trials, relative
	widestSpread  = 0.06  // maximum spread, relative
	reach         = 0.15  // trials within this relative distance of a rate are judged together
	telling       = 6     // a late share this many times above or below the allowed one shows little but its side
	recent        = 8     // trials that show whether a rate is at a cliff
	cliff         = 1.01  // ratio between a rate that is held and one that is missed by far
)

// SearchConfidence is the confidence level of a search's interval. The fit uses a higher level,
// because trials also decide where its design is and when it ends.
const (
	SearchConfidence = 0.95
	fitConfidence    = 0.975
)

// Trial runs a load at the given rate, in operations per second. It returns how many operations
// were offered, and how many of them were late.
type Trial func(ctx context.Context, rate float64) (late, offered uint64, err error)

// Capacity estimates the highest rate, in operations per second, at which no more than the given
// share of operations is late. It finds bounds by doubling and halving the first rate, and by
// bisection. Then it fits a curve to trials at rates near the estimate (see stat.Crossing).
//
// If too many operations are late even at a thousandth of the first rate, Capacity returns a zero
// Estimate. If not too many are late even at MaxRate, High is +Inf. If over is not nil, Capacity
// calls over() before each trial that follows the search for bounds. If over() returns true,
// Capacity runs no more trials and returns the estimate so far. Capacity returns ErrParams if the
// first rate or the share is out of range, and the cause of ctx if ctx ends. Capacity runs each
// trial by calling try.
func Capacity(ctx context.Context, first, share float64, over func() bool, try Trial) (stat.Estimate, error) {
	if !(first > 0 && first <= MaxRate) || !(share > 0 && share < 1) {
		return stat.Estimate{}, fmt.Errorf("%w: capacity: from %v per second with %v late, rates up to %v and shares below 1 accepted", zkbench.ErrParams, first, share, MaxRate)
	}
	if over == nil {
		over = func() bool { return false }
	}
	s := &capacity{first: first, share: share, high: math.Inf(1), over: over, run: try}
	if end, err := s.bracket(ctx, first); end != nil || err != nil {
		return *cmp.Or(end, new(stat.Estimate)), err
	}
	return s.narrow(ctx)
}

// capacity is a search between two rates.
type capacity struct {
	first     float64
	share     float64
	low, high float64 // the last rate that was held, and the last one above it that was missed
	trials    []stat.Share
	over      func() bool
	run       Trial
}

// try runs a trial and reports whether the rate was held. It overrides what earlier trials
// showed, because the load of other processes may come and go.
func (s *capacity) try(ctx context.Context, rate float64) (held bool, err error) {
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	late, offered, err := s.run(ctx, rate)
	if err != nil {
		return false, err
	}
	s.trials = append(s.trials, stat.Share{X: rate, Count: float64(late), All: float64(offered)})
	held = float64(late) <= s.share*float64(offered)
	if held {
		if s.low = rate; s.high <= rate {
			s.high = rate * (1 + reach)
		}
	} else if s.high = rate; s.low >= rate {
		s.low = rate / (1 + reach)
	}
	return held, nil
}

// bracket doubles and halves a rate until one rate is held and a higher one is missed. If it
// returns an estimate, the search ends with it.
func (s *capacity) bracket(ctx context.Context, rate float64) (*stat.Estimate, error) {
	for s.low == 0 || math.IsInf(s.high, 1) {
		held, err := s.try(ctx, rate)
		switch {
		case err != nil:
			return nil, err
		case held && rate == MaxRate:
			return &stat.Estimate{Value: rate, Low: rate, High: math.Inf(1)}, nil
		case held:
			rate = min(2*rate, MaxRate)
		case rate < s.first/1000:
			return new(stat.Estimate), nil
		default:
			rate /= 2
		}
	}
	return nil, nil
}

// narrow bisects the bounds until the rates between them can be fitted, and returns the
// estimate. At a cliff the bounds themselves are the estimate.
func (s *capacity) narrow(ctx context.Context) (stat.Estimate, error) {
	rate := math.Sqrt(s.low * s.high)
	for ; len(s.trials) < mostTrials && !s.over() && !s.rising(rate); rate = math.Sqrt(s.low * s.high) {
		if s.high > s.low*cliff {
			if _, err := s.try(ctx, rate); err != nil {
				return stat.Estimate{}, err
			}
			continue
		}
		found := stat.Estimate{Value: rate, Low: s.low, High: s.high}
		held, err := s.try(ctx, s.low) // again: the load of other processes may have come
		if err != nil || held {
			return found, err
		}
		s.low, s.high = 0, found.Low
		if end, err := s.bracket(ctx, s.high/2); end != nil || err != nil {
			return *cmp.Or(end, new(stat.Estimate)), err
		}
	}
	return s.estimate(ctx, rate)
}

// design is a number of trials at a rate, below it and above it. Their rates do not depend on
// their results: otherwise the interval would be too narrow.
type design struct {
	center, spread float64 // the spread is relative
	from           int     // the first of its trials
	fit            stat.Rise
	fitted         bool
}

// estimate fits designs around a rate until one contains the estimate and is sure enough. The
// first, with few trials, sets the center and spread of the next.
func (s *capacity) estimate(ctx context.Context, rate float64) (stat.Estimate, error) {
	sure := func(d design) bool {
		return d.fitted && d.fit.Effective >= effectiveLate && d.fit.Low > 0 && d.fit.High < d.fit.Low*wideEnough
	}
	pilot := true
	begin := len(s.trials)
	d := design{center: rate, spread: widestSpread / 2, from: len(s.trials)}
	for len(s.trials) < mostTrials && !s.over() {
		n := len(s.trials) - d.from
		if _, err := s.try(ctx, min(d.center*(1+d.spread*float64(n%3-1)), MaxRate)); err != nil {
			return stat.Estimate{}, err
		}
		n++
		fit, err := stat.Crossing(s.trials[d.from:], s.share, fitConfidence)
		if d.fitted = err == nil; d.fitted {
			d.fit = fit
		}
		off := d.fitted && math.Abs(d.fit.Value-d.center) > 2*d.spread*d.center
		switch {
		case n%pilotTrials != 0 || n < pilotTrials:
		case pilot || off || !d.fitted && n >= 2*pilotTrials:
			d = s.next(d)
			pilot = false
			continue
		}
		if !pilot && !off && n >= leastFitted && sure(d) {
			break
		}
	}
	if sure(d) {
		return d.fit.Estimate, nil
	}
	// No design was sure enough in time, so fit the trials of all designs.
	var near []stat.Share
	for _, t := range s.trials[begin:] {
		if math.Abs(t.X-d.center) <= reach*d.center {
			near = append(near, t)
		}
	}
	fit, err := stat.Crossing(near, s.share, fitConfidence)
	if err != nil { // only the bounds are known
		return stat.Estimate{Value: d.center, Low: 0, High: math.Inf(1)}, nil
	}
	return fit.Estimate, nil
}

// next returns the design that follows d: around the rate that d found, but not far from d.
// Its spread is such that half of the share is late at one end and twice the share at the
// other.
func (s *capacity) next(d design) design {
	next := design{center: d.center, spread: d.spread, from: len(s.trials)}
	most := d.center * reach
	if d.fitted {
		next.center = max(d.center-most, min(d.fit.Value, d.center+most))
		next.spread = max(leastSpread, min(d.fit.Fold*math.Ln2/next.center, widestSpread))
		return next
	}
	late, all := 0.0, 0.0
	for _, t := range s.trials[d.from:] {
		late, all = late+t.Count, all+t.All
	}
	step := 2 * d.spread * d.center
	if seen := late / all; seen < s.share/telling || seen > s.share*telling {
		step = most
	}
	if late > s.share*all {
		step = -step
	}
	next.center += step
	return next
}

// rising reports whether the late share grows over the rates around this one, so that it can be
// fitted: some trial had about the share late, or a higher rate was held although a lower one
// was missed. If a system falls over at a cliff there is nothing to fit.
func (s *capacity) rising(rate float64) bool {
	held, missed := 0.0, math.Inf(1)
	for _, t := range s.trials[max(0, len(s.trials)-recent):] {
		if math.Abs(t.X-rate) > reach*rate {
			continue
		}
		seen := t.Count / t.All
		if seen > s.share/telling && seen < min(s.share*telling, 0.9) {
			return true
		}
		if seen <= s.share {
			held = max(held, t.X)
		} else {
			missed = min(missed, t.X)
		}
	}
	return held > missed
}
