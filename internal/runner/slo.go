package runner

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
)

// SLO is a service level objective for response times: at least Percentile per cent of the
// offered operations must be answered within Limit.
type SLO struct {
	Percentile float64 // above 0 and below 100
	Limit      time.Duration
}

// ParseSLO parses an objective such as p99=50ms. It returns ErrParams if the text is malformed
// or a value is out of range.
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

// MinWindow returns the length of the shortest window in which the objective can be judged.
func (s SLO) MinWindow() time.Duration { return 20 * s.Limit }

// String returns the text that ParseSLO parses.
func (s SLO) String() string {
	return "p" + strconv.FormatFloat(s.Percentile, 'f', -1, 64) + "=" + s.Limit.String()
}

// Late returns how many of the offered operations of an open loop were not answered in time.
// Operations that failed, were dropped or never started count as late. Unfinished operations
// count as late if the time since their intended start is longer than the limit.
//
// The window's last operations may never start. The window must therefore be long compared to
// the limit, at least MinWindow. Late returns ErrEnv if no operation was offered.
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

// LateShare returns the share of operations that may be late, for example 0.1 for p90. It does
// not compute 1 - 0.9, which is not 0.1 in floating point.
func (s SLO) LateShare() float64 { return (100 - s.Percentile) / 100 }

// wantedLate is the approximate number of late operations in a trial at the highest rate. With
// fewer, the trial could hardly distinguish it from neighbouring rates.
const wantedLate = 100

// TrialTime returns how long a trial at the given rate, in operations per second, should last.
// About a hundred operations are then late if the objective is just met. The time is at most
// the parameter limit, but never less than MinWindow.
func (s SLO) TrialTime(rate float64, limit time.Duration) time.Duration {
	seconds := min(wantedLate/s.LateShare()/rate, limit.Seconds())
	return max(time.Duration(seconds*float64(time.Second)), s.MinWindow())
}
