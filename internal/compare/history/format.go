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

// scaled is the unit of times that figure writes with their own.
const scaled = "time"

// unit is the unit that stands in the head for figures: times have their own, each that
// which fits.
func (l *Line) unit() string {
	base, per, _ := strings.Cut(l.Unit, "/")
	switch {
	case base != "ns" && base != "s":
		return l.Unit
	case per != "":
		return scaled + "/" + per
	}
	return scaled
}

// figure writes a value: exact ones in full, to the sixth decimal, others with about
// four figures.
func (l *Line) figure(v float64) string {
	switch base, _, _ := strings.Cut(l.Unit, "/"); {
	case base == "ns":
		return format.TightTime(v)
	case base == "s":
		return format.TightTime(1e9 * v)
	case l.Exact:
		return format.Exact(v)
	}
	return format.Prefixed(v)
}

// spread writes what the processes of a point lie within, a dash where that says
// nothing.
func (l *Line) spread(p Point) string {
	if p.Least() == p.Greatest() {
		return "-"
	}
	return l.figure(p.Least()) + "–" + l.figure(p.Greatest())
}

// describe says what a step is: how great, whether for the better, how sure, and
// between which commits.
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

// unlike returns in what the programs of two points differ. Commits are left aside: they
// have a column of their own.
func unlike(a, b Point) []string {
	of := func(p Point) record.Env { return record.Env{Go: p.Go, Modules: p.Modules} }
	return env.BuildDifferences(of(a), of(b))
}

// environment is what an environment has that lines are kept apart by, without the
// vector extensions, which are many.
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

// CSV writes a row for each point, figures unrounded, times in UTC. The step stands as a
// relative change at the first point of the new level.
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
