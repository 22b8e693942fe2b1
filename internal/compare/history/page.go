package history

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/view/plot"
	"github.com/zkbench/zkbench/internal/view/text"
	"github.com/zkbench/zkbench/internal/view/web"
)

//go:embed assets
var assets embed.FS

// mostCharts is the maximum number of charts on a page.
const mostCharts = 60

// Page writes the lines as one HTML page that loads nothing from elsewhere. It begins with a sentence that says what
// changed most, and with the chart of that line. A table of the lines follows, then the other charts. The parameter all
// contains the lines of the query, and shown those of them that the page shows. The parameter level is the significance
// level at which the steps were found (Query.Level).
func Page(w io.Writer, all, shown []Line, level float64) error {
	own, err := fs.Sub(assets, "assets")
	if err != nil {
		return err
	}
	parts, errParts := web.Load(own, []string{"history.css"}, []string{"history.js"})
	frame, errFrame := template.ParseFS(own, "history.html")
	if err := errors.Join(errParts, errFrame); err != nil {
		return err
	}
	first, last, points := extent(all)
	v := struct {
		*web.Parts
		Policy, Title, Sentence, About string
		Notes                          []string
		Table                          template.HTML
		First                          *chartView
		Others                         []*chartView
		Left                           int
		Data                           template.JS
	}{
		Parts: parts, Policy: parts.Policy(false), Title: "History of " + metricInWords(all[0].Metric), Sentence: Answer(all, level), Notes: reliability(all, level),
		About: fmt.Sprintf("%s, %s, %s to %s (UTC).", format.Plural(len(all), "line"), format.Plural(points, "point"), first.UTC().Format(dateForm), last.UTC().Format(dateForm)),
	}
	if len(shown) > 0 {
		if v.Table, err = inHTML(overview(shown)); err != nil {
			return err
		}
	}
	at := 0
	largest := 0.0
	for i := range shown {
		if l, s := greatest(shown[i : i+1]); l != nil && math.Abs(s.Change()) > largest {
			at, largest = i, math.Abs(s.Change())
		}
	}
	var charts []*chartView
	for i := range shown {
		if i != at && len(charts) >= mostCharts {
			v.Left++
			continue
		}
		c, err := shown[i].chartView(i)
		if err != nil {
			return err
		}
		charts = append(charts, c)
		if i == at {
			v.First = c
		} else {
			v.Others = append(v.Others, c)
		}
	}
	data, err := json.Marshal(charts) // it writes <, > and & as \u003c, \u003e and \u0026
	if err != nil {
		return fmt.Errorf("data of the page: %w", err)
	}
	v.Data = template.JS(data)
	var b bytes.Buffer
	if err := frame.Execute(&b, v); err != nil {
		return err
	}
	_, err = w.Write(b.Bytes())
	return err
}

func inHTML(t *format.Table) (template.HTML, error) {
	var b strings.Builder
	err := t.HTML(&b, "")
	return template.HTML(b.String()), err // escaped by Table.HTML
}

// chartView is a chart as the page's script draws it.
type chartView struct {
	ID     string        `json:"id"`
	Title  string        `json:"-"`
	Notes  []string      `json:"-"`
	Steps  []string      `json:"-"` // each in words
	Points template.HTML `json:"-"` // the values as a table

	Y     string      `json:"y"`     // label of the axis
	Dates []string    `json:"dates"` // of the points
	Says  []string    `json:"says"`  // the points in words
	Lines []curveView `json:"lines"`
	Marks []markView  `json:"marks"`
}

type curveView struct {
	Name      string      `json:"name"`
	Reference bool        `json:"reference"`
	Points    [][]float64 `json:"points"` // x, y and, if there is a range, its least and most
}

type markView struct {
	X    float64 `json:"x"`
	Text string  `json:"text"`
}

// chartView returns the chart of the line, the same as in its SVG file.
func (l *Line) chartView(i int) (*chartView, error) {
	c := l.Chart()
	v := &chartView{ID: fmt.Sprintf("line-%d-", i), Title: inOneLine(l.Name()), Notes: c.Notes[min(1, len(c.Notes)):], Y: metricInWords(l.Metric) + ", " + c.Y, Marks: []markView{}}
	if l.Case == "" {
		v.Notes = c.Notes
	}
	var err error
	if v.Points, err = inHTML(l.points(text.Style{})); err != nil {
		return nil, err
	}
	for _, p := range l.Points {
		date := p.Time.UTC().Format(dateForm)
		v.Dates = append(v.Dates, date)
		v.Says = append(v.Says, fmt.Sprintf("%s, commit %s: %s", date, format.Commit(p.Commit), l.figure(p.Median())))
	}
	for _, curve := range c.Lines {
		one := curveView{Name: curve.Name, Reference: curve.Reference}
		for _, p := range curve.Points {
			point := []float64{p.X, p.Y}
			if p.AboutY != (plot.Interval{}) {
				point = append(point, p.AboutY.Least, p.AboutY.Most)
			}
			one.Points = append(one.Points, point)
		}
		v.Lines = append(v.Lines, one)
	}
	for _, s := range l.Steps {
		at := float64(s.At) + 0.5
		if slices.ContainsFunc(c.Marks, func(m plot.Mark) bool { return m.X == at }) {
			v.Marks = append(v.Marks, markView{at, format.Change(s.Change())})
		}
		v.Steps = append(v.Steps, l.Points[s.At].Time.UTC().Format(dateForm)+": "+l.describe(s))
	}
	return v, nil
}

// inOneLine writes a name with spaces in place of slashes, so that it can be broken into lines.
func inOneLine(name string) string { return strings.ReplaceAll(name, "/", " ") }

// metricInWords returns the name of a metric as it stands in a sentence.
func metricInWords(metric string) string { return strings.ReplaceAll(metric, "-", " ") }

// isSpeed reports whether the metric says how fast something is.
func (l *Line) isSpeed() bool {
	_, _, isTime := record.TimeUnit(l.Unit)
	return isTime || l.Metric == record.Throughput.Name()
}

// Answer says in a sentence or two which line changed most, by how much, when and at which commit, or that none
// changed. The parameter level is the significance level at which the steps were found (Query.Level).
func Answer(lines []Line, level float64) string {
	first, last, _ := extent(lines)
	over := fmt.Sprintf("%s from %s to %s", format.Plural(len(lines), "line"), first.UTC().Format(dateForm), last.UTC().Format(dateForm))
	metric := metricInWords(lines[0].Metric)
	with := WithSteps(lines)
	l, s := greatest(with)
	if l == nil {
		exact, tested, _, least := testable(lines, level)
		switch {
		case exact+tested == 0:
			return fmt.Sprintf("It is too early to tell: no line of %s has the %d points that a step at level %g needs.", metric, least, level)
		case lines[0].isSpeed():
			return fmt.Sprintf("No case got slower or faster: %s has no step in %s.", metric, over)
		}
		return fmt.Sprintf("Nothing changed: %s has no step in %s.", metric, over)
	}
	how := map[[2]bool]string{{true, true}: "slower", {true, false}: "faster", {false, true}: "worse", {false, false}: "better"}[[2]bool{l.isSpeed(), l.worse(s)}]
	verb, change := "rose", s.Change()
	if s.After < s.Before {
		verb = "fell"
	}
	by := " by " + strings.TrimLeft(format.Change(math.Abs(change)), "+")
	if math.IsInf(change, 0) || math.IsNaN(change) {
		by = " from " + l.figure(s.Before) + " to " + l.figure(s.After)
	}
	p := l.Points[s.At]
	text := fmt.Sprintf("%s got %s: its %s %s%s on %s", inOneLine(l.Name()), how, metric, verb, by, p.Time.UTC().Format(dateForm))
	if p.Commit != "" {
		text += ", with commit " + format.Commit(p.Commit)
	}
	switch {
	case len(lines) == 1:
		return text + "."
	case len(with) == 1:
		return fmt.Sprintf("%s. It is the only one of %d lines that changed.", text, len(lines))
	}
	return fmt.Sprintf("%s. It is the largest change; %d of %d lines changed.", text, len(with), len(lines))
}

// overview returns a table with a row for each line.
func overview(lines []Line) *format.Table {
	unit, size := commonUnit(lines)
	metric := lines[0].Metric
	several := false // a case in several environments
	names := make(map[string]bool)
	for i := range lines {
		several = several || names[lines[i].Name()]
		names[lines[i].Name()] = true
	}
	t := &format.Table{Columns: []format.Column{
		{Head: "case"},
		{Head: "last " + metricInWords(metric), Unit: unit, Number: true},
		{Head: "change since the first", Unit: "%", Number: true},
		{Head: "points", Number: true},
		{Head: "largest step", Unit: "%", Number: true},
		{Head: "is"},
		{Head: "date of the step", Unit: "UTC"},
		{Head: "commit"},
	}}
	if several {
		t.Columns = append(t.Columns, format.Column{Head: "environment"})
	}
	exactly := func(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }
	percent := func(change float64) (cell, value string) {
		if math.IsNaN(change) || math.IsInf(change, 0) {
			return format.Change(change), ""
		}
		return strings.TrimSuffix(format.Change(change), " %"), exactly(change)
	}
	for i := range lines {
		l := &lines[i]
		first, last := l.Points[0].Median(), l.Points[len(l.Points)-1].Median()
		shown := l.figure(last)
		switch {
		case size > 0:
			shown = format.Significant(last/size, 4, 6)
		case unit == "":
			shown += " " + l.Unit
		}
		change, by := percent(stat.Step{Before: first, After: last}.Change())
		row := format.Row{
			Cells:  []string{inOneLine(l.Name()), shown, change, strconv.Itoa(len(l.Points)), "-", "-", "-", "-"},
			Values: []string{"", exactly(last), by, "", "", "", "", ""},
		}
		if _, s := greatest(lines[i : i+1]); len(l.Steps) > 0 {
			p := l.Points[s.At]
			row.Cells[4], row.Values[4] = percent(s.Change())
			row.Cells[5], row.Cells[6], row.Cells[7] = "better", p.Time.UTC().Format(dateForm), format.Commit(p.Commit)
			if l.worse(s) {
				row.Cells[5] = "worse"
			}
		}
		if several {
			row.Cells = append(row.Cells, environment(l.Env))
		}
		t.Rows = append(t.Rows, row)
	}
	return t
}

// commonUnit returns the unit of the lines' last values for the head of their column, and for times the size of that
// unit in the unit of the records. The unit is empty if the lines have different ones, and size is 0 if the values are
// written as in the text.
func commonUnit(lines []Line) (unit string, size float64) {
	unit = lines[0].Unit
	if slices.ContainsFunc(lines, func(l Line) bool { return l.Unit != unit }) {
		return "", 0
	}
	ns, per, isTime := record.TimeUnit(unit)
	if !isTime {
		return unit, 0
	}
	var values []float64
	for _, l := range lines {
		values = append(values, ns*l.Points[len(l.Points)-1].Median())
	}
	u := format.Fitting("ns", stat.Median(values))
	return u.Name + per, u.Size / ns
}
