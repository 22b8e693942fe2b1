// Package history shows how a metric of each case developed over commits and dates, and at which
// points its level changed. Such a change is called a step. The type Line holds the values of one
// metric of one case over time.
//
// Measurements from different environments are never in the same line, because their difference
// says nothing about the program. Within a line, the processes of a session that measure the same
// build make one point, their median, because they share the state of the machine on that day. A
// step says when a metric changed, but not why: the machine may have changed in a way that no
// record shows.
package history

import (
	"slices"
	"time"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
)

// Line is one metric of one case over time, in one environment.
type Line struct {
	Workload, Case string
	Env            record.Env // of its first record; env.Differences finds none between it and the others
	Metric, Unit   string
	Exact          bool // the metric repeats exactly, so any change is a step
	Better         record.Direction
	Points         []Point // in order of time
	Steps          []stat.Step
}

// Point is the measurement of one build of the program in one session.
type Point struct {
	Time       time.Time // of the session's first record
	Commit, Go string
	Modules    map[string]string
	Values     []float64 // one for each process, ascending
}

// Median returns the median of the values of the point's processes.
func (p Point) Median() float64 { return stat.Median(p.Values) }

// Least returns the smallest value of the point's processes.
func (p Point) Least() float64 { return p.Values[0] }

// Greatest returns the largest value of the point's processes.
func (p Point) Greatest() float64 { return p.Values[len(p.Values)-1] }

// Name returns the workload and the case, joined by a slash.
func (l *Line) Name() string {
	if l.Case == "" {
		return l.Workload
	}
	return l.Workload + "/" + l.Case
}

// step returns the step at the point with index at, if there is one.
func (l *Line) step(at int) (stat.Step, bool) {
	if i := slices.IndexFunc(l.Steps, func(s stat.Step) bool { return s.At == at }); i >= 0 {
		return l.Steps[i], true
	}
	return stat.Step{}, false
}

// worse reports whether a step is for the worse.
func (l *Line) worse(s stat.Step) bool { return s.After > s.Before == (l.Better == record.Lower) }

// findSteps finds the steps at the given level and stores them in the line.
func (l *Line) findSteps(level float64) {
	medians := make([]float64, len(l.Points))
	for i, p := range l.Points {
		medians[i] = p.Median()
	}
	if l.Exact {
		l.Steps = stat.Changes(medians)
	} else {
		l.Steps = stat.Steps(medians, level)
	}
}
