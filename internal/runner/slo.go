package runner

import (
	"context"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/record"
)

// SLO is a promise about response times: of the operations offered, so many per
// cent are answered within the limit.
type SLO struct {
	Percentile float64
	Limit      time.Duration
}

// ParseSLO reads p99=50ms. The error is an ErrParams.
func ParseSLO(text string) (SLO, error) {
	name, limit, _ := strings.Cut(text, "=")
	digits, isPercentile := strings.CutPrefix(name, "p")
	percentile, err := strconv.ParseFloat(digits, 64)
	d, errLimit := time.ParseDuration(limit)
	if !isPercentile || err != nil || errLimit != nil || !(percentile > 0 && percentile < 100) || d <= 0 {
		return SLO{}, fmt.Errorf("%w: slo: %q, a percentile above 0 and below 100 and a time accepted, for example p99=50ms", zkbench.ErrParams, text)
	}
	return SLO{percentile, d}, nil
}

// MinWindow returns the shortest window in which the promise can be judged.
func (s SLO) MinWindow() time.Duration { return 20 * s.Limit }

func (s SLO) String() string {
	return "p" + strconv.FormatFloat(s.Percentile, 'f', -1, 64) + "=" + s.Limit.String()
}

// Held tells whether the promise was held in the record of an open loop. An
// operation that failed, was dropped or never started was not answered, nor was
// one in time that had not ended when the limit had passed. The last ones of a
// window are among those that never started, so the window must be long beside
// the limit: MinWindow.
func (s SLO) Held(rec *record.Record) (bool, error) {
	offered := rec.Count(record.CountOffered)
	if offered == 0 {
		return false, fmt.Errorf("%w: slo: no operation was offered", zkbench.ErrEnv)
	}
	late := rec.Count(record.CountDropped) + rec.Count(record.CountFailed) + rec.Count(record.CountNeverStarted)
	for _, u := range rec.Unfinished {
		if u.Wait+u.Age > s.Limit {
			late++
		}
	}
	if encoded, ok := rec.Histogram(record.HistResponse); ok {
		h, err := encoded.Decode()
		if err != nil {
			return false, err
		}
		for _, bar := range h.Distribution() {
			if bar.Count > 0 && bar.From > int64(s.Limit) {
				late += uint64(bar.Count)
			}
		}
	}
	return float64(late) <= (100-s.Percentile)*float64(offered)/100, nil
}

// Capacity returns the highest rate, in operations a second, at which try holds,
// to within the relative tolerance: the bounds are found by doubling and halving
// from the rate given, then bisected, and the result is tried once more; where
// that fails, lower ones are, in growing steps. 0 without an error: no rate holds down to
// a thousandth of the first. When ctx ends, so does the search, with its cause.
func Capacity(ctx context.Context, first, tolerance float64, try func(ctx context.Context, rate float64) (bool, error)) (float64, error) {
	if !(first > 0 && first <= MaxRate) || !(tolerance > 0 && tolerance < 1) {
		return 0, fmt.Errorf("%w: capacity: from %v a second to within %v, rates up to %v and tolerances below 1 accepted", zkbench.ErrParams, first, tolerance, MaxRate)
	}
	holds := func(rate float64) (bool, error) {
		if ctx.Err() != nil {
			return false, context.Cause(ctx)
		}
		return try(ctx, rate)
	}
	low, high := 0.0, math.Inf(1)
	for rate := first; low == 0 || math.IsInf(high, 1); {
		ok, err := holds(rate)
		if err != nil {
			return 0, err
		}
		switch {
		case ok && rate == MaxRate:
			return rate, nil
		case ok:
			low, rate = rate, min(2*rate, MaxRate)
		case rate < first/1000:
			return 0, nil
		default:
			high, rate = rate, rate/2
		}
		if low > 0 && high < math.Inf(1) {
			break
		}
	}
	for high/low > 1+tolerance {
		middle := math.Sqrt(low * high)
		ok, err := holds(middle)
		if err != nil {
			return 0, err
		}
		if ok {
			low = middle
		} else {
			high = middle
		}
	}
	// A rate that held once may have had luck, and others' load may come and go: the
	// steps down double, so that the last is far below.
	const confirmations = 9
	for i := range confirmations {
		ok, err := holds(low)
		if err != nil || ok {
			return low, err
		}
		low /= 1 + tolerance*float64(int(1)<<i)
	}
	return 0, nil
}
