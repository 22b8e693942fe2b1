// Package history shows how a metric of each case went over commits and dates, and
// where it has a step.
//
// What was measured in unlike environments is never in one line, since it says nothing
// about a change of the program. Within a line the session is the unit: the processes
// of one session share the machine's day, so they make one point, their median. What the
// package does not promise: a step says when, not why; the machine may have changed in
// what no record tells.
package history

import (
	"slices"
	"time"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
)

// Line is how one metric of one case went in one environment.
type Line struct {
	Workload, Case string
	Env            record.Env // of its first record; of the others what env.Differences compares is the same
	Metric, Unit   string
	Exact          bool // it repeats exactly, so any change is a step
	Better         record.Direction
	Points         []Point // in order of time
	Steps          []stat.Step
}

// Point is a build in a session.
type Point struct {
	Time       time.Time // of the session's first record
	Commit, Go string
	Modules    map[string]string
	Values     []float64 // one a process, ascending
}

// Median of the processes.
func (p Point) Median() float64 { return stat.Median(p.Values) }

// Least of the processes.
func (p Point) Least() float64 { return p.Values[0] }

// Greatest of the processes.
func (p Point) Greatest() float64 { return p.Values[len(p.Values)-1] }

// Name is the workload with the case.
func (l *Line) Name() string {
	if l.Case == "" {
		return l.Workload
	}
	return l.Workload + "/" + l.Case
}

// step returns the step at a point.
func (l *Line) step(at int) (stat.Step, bool) {
	if i := slices.IndexFunc(l.Steps, func(s stat.Step) bool { return s.At == at }); i >= 0 {
		return l.Steps[i], true
	}
	return stat.Step{}, false
}

// worse tells whether a step is one for the worse.
func (l *Line) worse(s stat.Step) bool { return s.After > s.Before == (l.Better == record.Lower) }

// findSteps fills in the steps, found at that level.
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
