package plot_test

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"math"
	"regexp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/plottest"
	"github.com/zkbench/zkbench/internal/view/plot"
)

// box is a text of an SVG with the space that it takes.
type box struct {
	text                   string
	left, right, low, high float64
}

var placedText = regexp.MustCompile(`<text textLength="([\d.e+]+)"[^>]*? x="([\d.e+-]+)" y="([\d.e+-]+)"([^>]*)font-size:([\d.]+)px[^>]*>([^<]*)</text>`)

func boxes(t *testing.T, f plot.Figure) (all []box) {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, plot.Write(&b, plot.SVG, f))
	for _, m := range placedText.FindAllStringSubmatch(b.String(), -1) {
		long, x, y, size := number(t, m[1]), number(t, m[2]), -number(t, m[3]), number(t, m[5])
		all = append(all, box{m[6], x, x + long, y, y + 0.7*size})
	}
	return all
}

func drawn(t *testing.T, f plot.Figure) plottest.Drawing {
	t.Helper()
	return draw(t, func(w io.Writer, format plot.Format, _ *record.Record) error { return plot.Write(w, format, f) }, nil)
}

// TestLinear: both axes begin at 0, what is twice as much is twice as far, error bars reach
// from end to end, and points have their names.
func TestLinear(t *testing.T) {
	c := &plot.Curves{
		Title: "Scaling", X: "CPUs", Y: "ops/s", Linear: true, Counts: true,
		Lines: []plot.Curve{
			{Name: "measured", Points: []plot.Point{
				{X: 1, Y: 100, Name: "1 CPU"},
				{X: 2, Y: 200, AboutY: plot.Interval{Least: 150, Most: 250}, Name: "2 CPUs"},
				{X: 4, Y: 400, AboutX: plot.Interval{Least: 3, Most: 5}, AboutY: plot.Interval{Least: 0, Most: 400}, Name: "4 CPUs"},
				{X: 8, Y: math.NaN()},
				{X: math.Inf(1), Y: 1},
				{X: -1, Y: 1},
			}},
			{Name: "ideal", Reference: true, Points: []plot.Point{{}, {X: 4, Y: 400}}},
		},
	}
	d := drawn(t, c)
	wantTexts(t, d, "Scaling", "CPUs", "ops/s", "measured", "ideal", "1", "2", "4", "1 CPU", "2 CPUs", "4 CPUs", "0", "100", "400")
	if slices.Contains(d.Texts, "8") {
		t.Error("a point that is not drawn has a tick")
	}
	lines := long(d.Lines[blue])
	if len(lines) != 1 || len(lines[0]) != 3 {
		t.Fatalf("lines %v, want one of three points", lines)
	}
	p := lines[0]
	zero := [2]float64{2*p[0][0] - p[1][0], 2*p[0][1] - p[1][1]}
	ideal := d.Lines["#595959"]
	if !slices.ContainsFunc(ideal, func(q plottest.Path) bool { return len(q) == 2 && near(q[0], zero) && near(q[1], p[2]) }) {
		t.Errorf("no line from %v to %v in %v", zero, p[2], ideal)
	}
	if !near(p[2], [2]float64{zero[0] + 4*(p[0][0]-zero[0]), zero[1] + 4*(p[0][1]-zero[1])}) {
		t.Errorf("four times as much is drawn at %v, one at %v, 0 at %v", p[2], p[0], zero)
	}
	// Three bars of two caps, and the sample of the key.
	golden.Equal(t, "strokes: a line, three bars with two caps each and a sample", 1+3*3+1, len(d.Lines[blue]))
	unit := [2]float64{p[0][0] - zero[0], p[0][1] - zero[1]}
	for _, bar := range [][2][2]float64{{{2, 1.5}, {2, 2.5}}, {{3, 4}, {5, 4}}, {{4, 0}, {4, 4}}} {
		at := func(i int) [2]float64 { return [2]float64{zero[0] + bar[i][0]*unit[0], zero[1] + bar[i][1]*unit[1]} }
		if !slices.ContainsFunc(d.Lines[blue], func(q plottest.Path) bool { return len(q) == 2 && near(q[0], at(0)) && near(q[1], at(1)) }) {
			t.Errorf("no bar from %v to %v", bar[0], bar[1])
		}
	}
}

func near(a, b [2]float64) bool { return math.Hypot(a[0]-b[0], a[1]-b[1]) < 0.05 }

// crowd returns lines whose points are close to each other and all have names.
func crowd(lines int) *plot.Curves {
	c := &plot.Curves{Title: "Crowd", X: "throughput", Y: "", Linear: true}
	for i := range lines {
		l := plot.Curve{Name: fmt.Sprintf("line number %d with a long name", i)}
		for k := range 5 {
			n := math.Pow(2, float64(k))
			l.Points = append(l.Points, plot.Point{X: n * (90 + 3*float64(i)), Y: 10 + float64(i) + n/8, AboutX: plot.Interval{Least: n * 85, Most: n * 110}, Name: fmt.Sprint(n)})
		}
		c.Lines = append(c.Lines, l)
	}
	return c
}

// TestNamesDoNotOverlap: every point has its name, no two texts of the figure cover each
// other, and none leaves it; a key that is too long for a row has several.
func TestNamesDoNotOverlap(t *testing.T) {
	for _, lines := range []int{1, 3, plot.MaxSeries} {
		all := boxes(t, crowd(lines))
		found := make(map[string]int)
		for i, a := range all {
			found[a.text]++
			if a.left < 0 || a.right > 504 || a.low < 0 {
				t.Errorf("lines=%d: %q stands from %.1f to %.1f", lines, a.text, a.left, a.right)
			}
			for _, b := range all[:i] {
				if a.left < b.right && b.left < a.right && a.low < b.high && b.low < a.high {
					t.Errorf("lines=%d: %q and %q overlap", lines, a.text, b.text)
				}
			}
		}
		for _, name := range []string{"1", "2", "4", "8", "16"} {
			if found[name] < lines {
				t.Errorf("lines=%d: %d points are named %s", lines, found[name], name)
			}
		}
	}
}

// TestSeriesDiffer: no two of MaxSeries have the same colour.
func TestSeriesDiffer(t *testing.T) {
	d := drawn(t, crowd(plot.MaxSeries))
	colours := 0
	for colour := range maps.Keys(d.Lines) {
		if len(long(d.Lines[colour])) > 0 {
			colours++
		}
	}
	golden.Equal(t, "colours", plot.MaxSeries, colours)
}

// TestLongTexts: a title that has no room is wrapped, a word that has none is cut.
func TestLongTexts(t *testing.T) {
	c := crowd(1)
	c.Title = strings.Repeat("many words ", 20) + strings.Repeat("x", 10000)
	c.Notes = []string{strings.Repeat("y", 10000) + "\x00<"}
	c.Lines[0].Name = strings.Repeat("z", 10000)
	c.Lines[0].Points[0].Name = "\x01&"
	all := boxes(t, c)
	titles, cut := 0, 0
	for _, b := range all {
		if b.right > 504 {
			t.Errorf("%.20q… ends at %v", b.text, b.right)
		}
		if strings.HasPrefix(b.text, "many words") {
			titles++
		}
		if strings.HasSuffix(b.text, "…") {
			cut++
		}
	}
	if titles < 2 || cut != 3 {
		t.Errorf("%d lines of the title, %d texts that are cut", titles, cut)
	}
}

// TestChartOfAnything: no values and no names make a chart fail, or one that is not XML.
func TestChartOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.OneOf(rapid.Float64(), rapid.SampledFrom([]float64{0, 1, 5e-324, math.MaxFloat64, math.NaN(), math.Inf(1), math.Inf(-1), -1}))
		name := rapid.StringN(0, 20, 100)
		var points []plot.Point
		var bars []plot.Bar
		for range rapid.IntRange(0, 5).Draw(t, "points") {
			v := func() float64 { return value.Draw(t, "value") }
			points = append(points, plot.Point{X: v(), Y: v(), AboutX: plot.Interval{Least: v(), Most: v()}, AboutY: plot.Interval{Least: v(), Most: v()}, Name: name.Draw(t, "point")})
			bars = append(bars, plot.Bar{Name: name.Draw(t, "bar"), Value: v()})
		}
		figures := []plot.Figure{
			&plot.Curves{Title: name.Draw(t, "title"), X: "x", Y: "y", Linear: true, Counts: rapid.Bool().Draw(t, "counts"), Lines: []plot.Curve{{Name: name.Draw(t, "line"), Points: points}}},
			&plot.Panels{Title: name.Draw(t, "title"), Panels: []plot.Curves{{Title: name.Draw(t, "panel"), Y: "y", Lines: []plot.Curve{{Points: points}}}, {Linear: true, Lines: []plot.Curve{{Points: points}}}}},
			&plot.Curves{Lines: []plot.Curve{{Points: points}}, Marks: []plot.Mark{{Name: "mark", X: value.Draw(t, "mark")}}},
			&plot.Dots{Series: []string{name.Draw(t, "series"), "b"}, Rows: []plot.DotsRow{{Name: "row", Values: []float64{value.Draw(t, "value"), value.Draw(t, "value")}}}},
			&plot.Bars{Title: "bars", Groups: []plot.BarGroup{{Name: name.Draw(t, "group"), Rows: bars}, {}}},
			&plot.Heat{Title: "heat", Tiles: []plot.HeatTile{
				{Rows: []string{"1", "2"}, Columns: []string{name.Draw(t, "column")}, Values: [][]float64{{value.Draw(t, "value")}}},
				{Name: "short", Rows: []string{"1"}, Columns: []string{"1", "2"}, Values: [][]float64{{1, value.Draw(t, "value"), 3}, {4}}},
			}},
		}
		for i, f := range figures {
			var b bytes.Buffer
			must.Do(t, plot.Write(&b, plot.SVG, f))
			if b.Len() > 0 == plot.Empty(f) {
				t.Fatal(i, "is drawn and empty, or neither")
			}
			if _, err := plottest.SVG(b.Bytes()); err != nil || strings.Contains(b.String(), "NaN") {
				t.Fatalf("%d: %v, NaN %t", i, err, strings.Contains(b.String(), "NaN"))
			}
		}
		must.Do(t, plot.Document(&bytes.Buffer{}, figures...))
	})
}
