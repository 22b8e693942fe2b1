package plot_test

import (
	"bytes"
	"regexp"
	"slices"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/view/plot"
)

// TestPanels: each panel has its title, unit and line; the key has every line that any panel shows once, in the order of
// the lines, and labels of axes have prefixes. A panel without values is left out.
func TestPanels(t *testing.T) {
	lines := func(first, second []plot.Point) []plot.Curve {
		return []plot.Curve{{Name: "ours", Points: first}, {Name: "theirs", Points: second}, {Name: "nobody's"}}
	}
	p := &plot.Panels{
		Title: "Stages", Notes: []string{"one processor"},
		Panels: []plot.Curves{
			{Title: "build", X: "gates", Y: "s", Lines: lines(nil, []plot.Point{{X: 1000, Y: 0.01}, {X: 100_000, Y: 1}})},
			{Title: "memory", X: "gates", Y: "B", Lines: lines([]plot.Point{{X: 1000, Y: 1e6}, {X: 10_000, Y: 1e7}, {X: 100_000, Y: 1e8}}, nil)},
			{Title: "empty", X: "gates", Y: "nothing", Lines: lines(nil, nil)},
		},
	}
	d := drawn(t, p)
	wantTexts(t, d, "Stages", "one processor", "build", "memory", "s", "B", "gates", "ours", "theirs", "1000", "10k", "100k", "1M", "100M", "0.01", "1")
	for _, absent := range []string{"empty", "nothing", "nobody's", "100000", "1000000"} {
		if slices.Contains(d.Texts, absent) {
			t.Errorf("%q is shown", absent)
		}
	}
	count := func(text string) (n int) {
		for _, s := range d.Texts {
			if s == text {
				n++
			}
		}
		return n
	}
	golden.Equal(t, "axes named gates, entries of the key", []int{2, 1, 1}, []int{count("gates"), count("ours"), count("theirs")})
	if slices.Index(d.Texts, "ours") > slices.Index(d.Texts, "theirs") {
		t.Error("the key has another order than the lines")
	}
	golden.Equal(t, "lines of ours in the second panel", 1, len(long(d.Lines[blue])))
	for i := range p.Panels {
		p.Panels[i].Y = "" // boxes does not know texts that are turned
	}
	all := boxes(t, p)
	for i, a := range all {
		if a.left < 0 || a.right > 504 || a.low < 0 {
			t.Errorf("%q stands from %.1f to %.1f", a.text, a.left, a.right)
		}
		for _, b := range all[:i] {
			if a.left < b.right && b.left < a.right && a.low < b.high && b.low < a.high {
				t.Errorf("%q and %q overlap", a.text, b.text)
			}
		}
	}
	if !plot.Empty(&plot.Panels{Title: "none", Panels: p.Panels[2:]}) {
		t.Error("panels without values are drawn")
	}
}

// TestPanelsOfHugeValues: the labels of values near the ends of the numbers leave room for the panel.
func TestPanelsOfHugeValues(t *testing.T) {
	var b bytes.Buffer
	points := []plot.Point{{X: 1, Y: 1}, {X: 1e60, Y: 1e60}}
	must.Do(t, plot.Write(&b, plot.SVG, &plot.Panels{Panels: []plot.Curves{{Lines: []plot.Curve{{Points: points}}}}}))
	if long := regexp.MustCompile(`>[0-9.]{15,}[GMk]?<`).FindString(b.String()); long != "" || b.Len() == 0 {
		t.Errorf("a label of %d characters in %d bytes", len(long), b.Len())
	}
}
