package plot_test

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/plottest"
	"github.com/zkbench/zkbench/internal/view/plot"
)

func document(t *testing.T, figures ...plot.Figure) ([]byte, []plottest.Page) {
	t.Helper()
	var b bytes.Buffer
	must.Do(t, plot.Document(&b, figures...))
	pages := must.Get(plottest.Pages(b.Bytes()))(t)
	return b.Bytes(), pages
}

// dotsOf returns a chart with the given number of rows.
func dotsOf(title string, rows int) *plot.Dots {
	d := &plot.Dots{Title: title, Unit: "µs", Series: []string{"ours"}}
	for i := range rows {
		d.Rows = append(d.Rows, plot.DotsRow{Name: fmt.Sprint("row ", i), Values: []float64{float64(i + 1)}})
	}
	return d
}

// TestDocument: two figures on a page where both fit, in their order; one that is taller
// than a page has one of its own; one without values has no place.
func TestDocument(t *testing.T) {
	figures := []plot.Figure{
		dotsOf("A", 5), &plot.Bars{Title: "none"}, dotsOf("B", 5), dotsOf("C", 5), dotsOf("D", 60), dotsOf("E (µ·…→)", 200), dotsOf("F", 2),
	}
	raw, pages := document(t, figures...)
	var got [][]string
	for _, p := range pages {
		var titles []string
		for _, s := range p.Texts {
			if strings.ContainsAny(s[:1], "ABCDEF") {
				titles = append(titles, s)
			}
		}
		got = append(got, titles)
	}
	golden.Equal(t, "titles by page", [][]string{{"A", "B"}, {"C"}, {"D"}, {"E (µ·…?)"}, {"F"}}, got)
	if !slices.Contains(pages[0].Texts, "µs") || !slices.Contains(pages[3].Texts, "row 199") {
		t.Errorf("texts are missing: %q", pages[0].Texts)
	}
	again, _ := document(t, figures...)
	golden.Equal(t, "a second document of the same figures", raw, again)
}

func TestDocumentOfNothing(t *testing.T) {
	if raw, _ := document(t); len(raw) > 0 {
		t.Errorf("no figures: %d bytes", len(raw))
	}
	nothing := []plot.Figure{
		&plot.Dots{}, &plot.Heat{}, &plot.Bars{}, &plot.Curves{},
		&plot.Dots{Title: "Units", Series: []string{"ours"}, Rows: []plot.DotsRow{{Name: "Sender"}, {Name: "Verify", Values: []float64{0}}}},
		&plot.Curves{Title: "Prove", Lines: []plot.Curve{{Name: "none", Points: []plot.Point{{X: 0, Y: 1}}}}, Marks: []plot.Mark{{X: 1}}},
	}
	if raw, _ := document(t, nothing...); len(raw) > 0 {
		t.Errorf("no values: %d bytes", len(raw))
	}
	for i, f := range nothing {
		var b bytes.Buffer
		if err := plot.Write(&b, plot.SVG, f); err != nil || b.Len() > 0 {
			t.Errorf("figure %d without values: %d bytes, %v", i, b.Len(), err)
		}
	}
	must.Fail(t, plot.Document(broken{}, dotsOf("A", 1)), io.ErrClosedPipe, "a broken writer")
}

type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
