package history

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/zkbench/zkbench/internal/result/env"
	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
)

// scaled is the heading for times, because figure writes each of them with a unit.
const scaled = "time"

// unit returns the unit for the heading of a column of figures. Times have no unit there: each is
// written with the unit that fits.
func (l *Line) unit() string {
	_, per, isTime := record.TimeUnit(l.Unit)
	if !isTime {
		return l.Unit
	}
	return scaled + per
}

// figure formats a value: exact ones in full, up to the sixth decimal, others with about four
// digits.
func (l *Line) figure(v float64) string {
	ns, _, isTime := record.TimeUnit(l.Unit)
	switch {
	case isTime:
		return format.TightTime(ns * v)
	case l.Exact:
		return format.Exact(v)
	}
	return format.Prefixed(v)
}

// spread formats the range of a point's processes, or a dash if they all have one value.
func (l *Line) spread(p Point) string {
	if p.Least() == p.Greatest() {
		return "-"
	}
	return l.figure(p.Least()) + "–" + l.figure(p.Greatest())
}

// describe describes a step: its size, whether it is for the better, how sure it is, and between
// which commits it is.
func (l *Line) describe(s stat.Step) string {
	var b strings.Builder
	b.WriteString(format.Change(s.Change()) + ", ")
	if l.worse(s) {
		b.WriteString("worse")
	} else {
		b.WriteString("better")
	}
	if !l.Exact {
		fmt.Fprintf(&b, ", p=%.2g", s.P)
	}
	from, to := l.Points[s.At-1].Commit, l.Points[s.At].Commit
	switch {
	case to == "":
		return b.String()
	case from == to:
		return b.String() + ", no new commit"
	}
	b.WriteString(", since " + format.Commit(to))
	if from, to = strings.TrimSuffix(from, format.Dirty), strings.TrimSuffix(to, format.Dirty); from != "" && from != to {
		b.WriteString(" (" + format.Commit(from) + ".." + format.Commit(to) + ")")
	}
	return b.String()
}

// unlike returns how the programs of two points differ, except for their commits, which have a
// column of their own.
func unlike(a, b Point) []string {
	build := func(p Point) record.Env { return record.Env{Go: p.Go, Modules: p.Modules} }
	return env.BuildDifferences(build(a), build(b))
}

// environment describes an environment by the properties that separate lines, except for the vector
// extensions, which are many.
func environment(e record.Env) string {
	parts := []string{format.Machine(e), fmt.Sprintf("GOMAXPROCS %d", e.GOMAXPROCS)}
	if e.Quota > 0 {
		parts = append(parts, "quota "+strconv.FormatFloat(e.Quota, 'g', 3, 64))
	}
	if e.Governor != "" {
		parts = append(parts, "governor "+e.Governor)
	}
	if e.GOGC < 0 {
		parts = append(parts, "GOGC off")
	} else {
		parts = append(parts, fmt.Sprintf("GOGC %d", e.GOGC))
	}
	if e.GOMEMLIMIT > 0 {
		parts = append(parts, fmt.Sprintf("GOMEMLIMIT %d B", e.GOMEMLIMIT))
	}
	return strings.Join(parts, ", ")
}

// CSV writes the lines in CSV format, with a row for each point. Figures are not rounded and times
// are in UTC. If a step is just before a point, the point's row has the step's relative change.
func CSV(w io.Writer, lines []Line) error {
	number := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	rows := [][]string{{
		"workload", "case", "metric", "unit", "environment", "begun", "commit", "go", "median", "least", "greatest", "n", "step",
	}}
	for _, l := range lines {
		where := strings.TrimSuffix(environment(l.Env)+", "+strings.Join(l.Env.Vector, " "), ", ")
		for i, p := range l.Points {
			step := ""
			if s, ok := l.step(i); ok {
				step = number(s.Change())
			}
			rows = append(rows, []string{
				l.Workload, l.Case, l.Metric, l.Unit, where, p.Time.UTC().Format(time.RFC3339), p.Commit, p.Go,
				number(p.Median()), number(p.Least()), number(p.Greatest()), strconv.Itoa(len(p.Values)), step,
			})
		}
	}
	return csv.NewWriter(w).WriteAll(rows)
}
