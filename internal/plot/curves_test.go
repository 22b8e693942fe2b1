package plot_test

import (
	"bytes"
	"io"
	"math"
	"slices"
	"testing"

	"github.com/zkbench/zkbench/internal/golden"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/internal/plot"
	"github.com/zkbench/zkbench/internal/record"
)

func curves(c plot.Curves) figure {
	return func(w io.Writer, f plot.Format, _ *record.Record) error { return c.Write(w, f) }
}

// TestCurves: every series, mark and axis is named, a power is a straight line, and what
// cannot stand on a logarithmic axis is left out.
func TestCurves(t *testing.T) {
	c := plot.Curves{
		Title: "Prove", Notes: []string{"one thread"}, X: "gates", Y: "seconds",
		Lines: []plot.Curve{
			{Name: "square", Points: []plot.Point{{X: 1, Y: 1}, {X: 10, Y: 100}, {X: 100, Y: 1e4}, {X: 0, Y: 1}, {X: 1, Y: math.Inf(1)}}},
			{Name: "absent", Points: []plot.Point{{X: -1, Y: 1}}},
			{Name: "loose", Points: []plot.Point{{X: 10, Y: 10}}, Loose: true},
		},
		Marks: []plot.Mark{{Name: "crossover", X: 50}},
	}
	got := draw(t, curves(c), nil)
	wantTexts(t, got, "Prove", "one thread", "gates", "seconds", "square", "loose", "crossover", "1", "10", "100", "10000")
	if slices.Contains(got.texts, "absent") {
		t.Error("a series without points has a key")
	}
	const blue = "#0072B2"
	straight := 0
	for _, p := range got.lines[blue] {
		if len(p) != 3 {
			continue
		}
		first, second := (p[1][1]-p[0][1])/(p[1][0]-p[0][0]), (p[2][1]-p[1][1])/(p[2][0]-p[1][0])
		if math.Abs(first-second) < 0.01*math.Abs(first) {
			straight++
		}
	}
	golden.Equal(t, "straight lines of three points", 1, straight)
	var one, two bytes.Buffer
	for _, b := range []*bytes.Buffer{&one, &two} {
		must.Do(t, c.Write(b, plot.SVG))
	}
	if !bytes.Equal(one.Bytes(), two.Bytes()) {
		t.Error("two figures of the same values differ")
	}
}

func TestCurvesWithoutPoints(t *testing.T) {
	var b bytes.Buffer
	c := plot.Curves{Title: "Prove", Lines: []plot.Curve{{Name: "none", Points: []plot.Point{{X: 0, Y: 1}}}}, Marks: []plot.Mark{{X: 1}}}
	if err := c.Write(&b, plot.SVG); err != nil || b.Len() > 0 {
		t.Errorf("%d bytes, %v; want nothing", b.Len(), err)
	}
}
