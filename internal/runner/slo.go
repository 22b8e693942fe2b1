package runner

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
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

// Late counts the operations of an open loop that were not answered in time, of those
// offered. One that failed, was dropped or never started was not answered, nor was one in
// time that had not ended when the limit had passed. The last ones of a window are among
// those that never started, so the window must be long beside the limit: MinWindow. The error
// is a zkbench.ErrEnv where none was offered.
func (s SLO) Late(rec *record.Record) (late, offered uint64, err error) {
	offered = rec.Count(record.CountOffered)
	if offered == 0 {
		return 0, 0, fmt.Errorf("%w: slo: no operation was offered", zkbench.ErrEnv)
	}
	late = rec.Count(record.CountDropped) + rec.Count(record.CountFailed) + rec.Count(record.CountNeverStarted)
	for _, u := range rec.Unfinished {
		if u.Wait+u.Age > s.Limit {
			late++
		}
	}
	slow, err := slower(rec, record.HistResponse, s.Limit)
	return late + slow, offered, err
}

// slower counts the values of a histogram that are above the limit.
func slower(rec *record.Record, histogram string, limit time.Duration) (n uint64, err error) {
	encoded, ok := rec.Histogram(histogram)
	if !ok {
		return 0, nil
	}
	h, err := encoded.Decode()
	if err != nil {
		return 0, err
	}
	for _, bar := range h.Distribution() {
		if bar.Count > 0 && bar.From > int64(limit) {
			n += uint64(bar.Count)
		}
	}
	return n, nil
}

// LateShare is the share of operations that may be late: of p90 0.1, which 1 - 0.9 is not in
// floating point.
func (s SLO) LateShare() float64 { return (100 - s.Percentile) / 100 }

// wantedLate are the late operations that a trial at the highest rate sees, about: fewer would
// tell it from neighbouring rates too badly.
const wantedLate = 100

// TrialTime is how long a trial at a rate must last to see as many late operations as are
// wanted, but at most the limit, and at least MinWindow.
func (s SLO) TrialTime(rate float64, limit time.Duration) time.Duration {
	seconds := min(wantedLate/s.LateShare()/rate, limit.Seconds())
	return max(time.Duration(seconds*float64(time.Second)), s.MinWindow())
}
