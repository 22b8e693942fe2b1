package history

import (
	"bytes"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zkbench/zkbench/internal/result/env"
	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/view/text"
)

// WithSteps returns the lines that have a step.
func WithSteps(lines []Line) []Line {
	return slices.DeleteFunc(slices.Clone(lines), func(l Line) bool { return len(l.Steps) == 0 })
}

// Summary writes the number of lines, the number of lines with a step, the largest step, and how
// many lines are expected to have a step by chance. The parameter level is the significance level
// at which the steps were found (Query.Level).
func Summary(w io.Writer, style text.Style, lines []Line, level float64) error {
	var b bytes.Buffer
	first, last, points := extent(lines)
	fmt.Fprintln(&b, style.Paint(text.Bold, fmt.Sprintf("%s: %s, %s, %s to %s", lines[0].Metric, format.Plural(len(lines), "line"), format.Plural(points, "point"),
		first.UTC().Format(dateForm), last.UTC().Format(dateForm))))
	if with := WithSteps(lines); len(with) == 0 {
		fmt.Fprintln(&b, "no line has a step")
	} else {
		l, s := greatest(with)
		fmt.Fprintf(&b, "%d of %d have a step; the largest: %s\n", len(with), len(lines),
			style.Paint(colour(l, s), fmt.Sprintf("%s %s, %s", l.Name(), l.Points[s.At].Time.UTC().Format(dateForm), l.describe(s))))
	}
	for _, line := range reliability(lines, level) {
		fmt.Fprintln(&b, line)
	}
	_, err := w.Write(b.Bytes())
	return err
}

// extent returns when the first and the last point of the lines began, and how many points there are.
func extent(lines []Line) (first, last time.Time, points int) {
	first, last = lines[0].Points[0].Time, lines[0].Points[0].Time
	for _, l := range lines {
		points += len(l.Points)
		for _, p := range l.Points {
			if p.Time.Before(first) {
				first = p.Time
			}
			if p.Time.After(last) {
				last = p.Time
			}
		}
	}
	return first, last, points
}

// testable returns how many of the lines have exact values, how many were tested for steps, how many are too short for
// that, and how many points a line needs.
func testable(lines []Line, level float64) (exact, tested, short, least int) {
	least = stat.StepPoints(level)
	for _, l := range lines {
		switch {
		case l.Exact:
			exact++
		case len(l.Points) < least:
			short++
		default:
			tested++
		}
	}
	return exact, tested, short, least
}

// reliability says how many steps are expected by chance, and how many lines are too short to have one.
func reliability(lines []Line, level float64) (all []string) {
	_, tested, short, least := testable(lines, level)
	if tested > 0 {
		all = append(all, fmt.Sprintf("%s tested at level %g: if nothing has changed, expect up to %.2g with a step", format.Plural(tested, "line"), level, level*float64(tested)))
	}
	if short > 0 {
		all = append(all, fmt.Sprintf("%s with fewer than %d points, too few for a step at level %g", format.Plural(short, "line"), least, level))
	}
	return all
}

// greatest returns the step with the largest change, and its line.
func greatest(lines []Line) (line *Line, most stat.Step) {
	for i := range lines {
		for _, s := range lines[i].Steps {
			if line == nil || math.Abs(s.Change()) > math.Abs(most.Change()) {
				line, most = &lines[i], s
			}
		}
	}
	return line, most
}

// Text writes a table for each Line. The table has a row for each point. The row says what
// changed at that point.
func Text(w io.Writer, style text.Style, lines []Line) error {
	var b bytes.Buffer
	for i := range lines {
		l := &lines[i]
		fmt.Fprintf(&b, "\n%s\n%s\n", style.Paint(text.Bold, l.Name()), environment(l.Env))
		for j := range lines[:i] {
			if other := &lines[j]; other.Name() == l.Name() && len(env.Differences(other.Env, l.Env)) > 0 {
				fmt.Fprintf(&b, "different environment: %s\n", strings.Join(env.Differences(other.Env, l.Env), "; "))
				break
			}
		}
		if err := l.points(style).Text(&b, "  ", 0); err != nil {
			return err
		}
	}
	_, err := w.Write(b.Bytes())
	return err
}

// StepTable writes a table with a row for each step of the lines, in order of time.
func StepTable(w io.Writer, style text.Style, lines []Line) error {
	type found struct {
		line *Line
		step stat.Step
	}
	var all []found
	for i := range lines {
		for _, s := range lines[i].Steps {
			all = append(all, found{&lines[i], s})
		}
	}
	slices.SortStableFunc(all, func(a, b found) int { return a.line.Points[a.step.At].Time.Compare(b.line.Points[b.step.At].Time) })
	if len(all) == 0 {
		return nil
	}
	table := &format.Table{Columns: format.Heads("begun (UTC)", "commit", "before", "after", "change", "line")}
	for _, f := range all {
		p := f.line.Points[f.step.At]
		table.Rows = append(table.Rows, format.Row{
			Cells: []string{
				p.Time.UTC().Format("2006-01-02 15:04"), format.Commit(p.Commit), f.line.figure(f.step.Before), f.line.figure(f.step.After),
				format.Change(f.step.Change()), f.line.Name(),
			},
			Paint: func(line string) string { return style.Paint(colour(f.line, f.step), line) },
		})
	}
	return table.Text(w, "", 0)
}

// points returns a table of the points, those with steps in colour.
func (l *Line) points(style text.Style) *format.Table {
	table := &format.Table{Columns: format.Heads("begun (UTC)", "commit", "median "+l.unit(), "least–greatest", "n", "change", "")}
	for i, p := range l.Points {
		change, remarks, row := "", []string(nil), format.Row{}
		if s, ok := l.step(i); ok {
			remarks = append(remarks, "step "+l.describe(s))
			row.Paint = func(line string) string { return style.Paint(colour(l, s), line) }
		}
		if i > 0 {
			before := l.Points[i-1]
			change = format.Change(stat.Step{Before: before.Median(), After: p.Median()}.Change())
			remarks = append(remarks, unlike(before, p)...)
		}
		row.Cells = []string{
			p.Time.UTC().Format("2006-01-02 15:04"), format.Commit(p.Commit), l.figure(p.Median()), l.spread(p), strconv.Itoa(len(p.Values)),
			change, strings.Join(remarks, "; "),
		}
		table.Rows = append(table.Rows, row)
	}
	return table
}

// colour returns the colour of a step.
func colour(l *Line, s stat.Step) string {
	if l.worse(s) {
		return text.Red
	}
	return text.Green
}
