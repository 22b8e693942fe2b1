package runner

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/stat"
)

// The trials of a search.
const (
	wideEnough    = 1.2 // the ends of its interval, one over the other, at most
	pilotTrials   = 6   // that tell where the others are to be
	leastFitted   = 18  // of the others
	mostTrials    = 96  // of a search, about
	effectiveLate = 40  // late operations, as many as independent ones would tell as much, at which it is sure enough
	leastSpread   = 0.005
	widestSpread  = 0.06 // of the rates of those trials, relative
	reach         = 0.15 // of what is looked at together, relative to the rate
	telling       = 6    // the share that may be late, times or over: beyond, a trial tells little but its side
	recent        = 8    // trials that tell whether a rate is at a cliff
	cliff         = 1.01 // between a rate that is held and one that is missed by far
)

// SearchConfidence is that of the interval of a search. That of the fit is greater: where its
// design lies, and when it ends, is told by trials too.
const (
	SearchConfidence = 0.95
	fitConfidence    = 0.975
)

// Trial measures a load at a rate, in operations a second, and counts who was late.
type Trial func(ctx context.Context, rate float64) (late, offered uint64, err error)

// Capacity estimates the highest rate, in operations a second, at which no more than the
// share of operations is late. The bounds are found by doubling and halving from the rate
// given, and bisection; then trials around the rate are fitted (stat.Crossing). A zero
// Estimate without an error: the share is held at no rate down to a thousandth of the first.
// High is +Inf where it is held up to MaxRate. Where over is not nil and tells so, a search
// whose bounds are found ends with what it has. When ctx ends, so does the search, with its
// cause.
func Capacity(ctx context.Context, first, share float64, over func() bool, try Trial) (stat.Estimate, error) {
	if !(first > 0 && first <= MaxRate) || !(share > 0 && share < 1) {
		return stat.Estimate{}, fmt.Errorf("%w: capacity: from %v a second with %v late, rates up to %v and shares below 1 accepted", zkbench.ErrParams, first, share, MaxRate)
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
	low, high float64 // the last rate that was held below one that was missed, and that one
	trials    []stat.Share
	over      func() bool
	run       Trial
}

// try tells whether the rate was held. What it shows counts for more than what was seen
// before: others' load may come and go.
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

// bracket doubles and halves from a rate until one is held and a greater one is missed. The
// estimate, if not nil, is the search's.
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

// narrow closes in on the rate.
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
		held, err := s.try(ctx, s.low) // once more: others' load may have come
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

// design is a number of trials at a rate, below it and above it. Where they lie depends on
// nothing that they show: an interval of trials that were moved as they came would be too
// narrow.
type design struct {
	center, spread float64 // the spread is relative
	from           int     // the first of its trials
	fit            stat.Rise
	fitted         bool
}

// estimate fits designs around a rate until one holds the rate that is sought, and is sure
// enough. The first, of few trials, tells where and how wide the next is to be.
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
	// Of all designs, since none was sure enough in time.
	var near []stat.Share
	for _, t := range s.trials[begin:] {
		if math.Abs(t.X-d.center) <= reach*d.center {
			near = append(near, t)
		}
	}
	fit, err := stat.Crossing(near, s.share, fitConfidence)
	if err != nil { // all that is known is what was held, and what not
		return stat.Estimate{Value: d.center, Low: 0, High: math.Inf(1)}, nil
	}
	return fit.Estimate, nil
}

// next is the design that follows from what one has shown: around the rate that it found, not
// far from where it was, and so wide that half of the share is late at one end and
// twice of it at the other.
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

// rising tells whether the share that is late grows over the rates around this one, which can
// be fitted: some trial saw about the share late, or a higher rate was held where a lower one
// was missed. Where a system falls over at once there is nothing to fit.
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
