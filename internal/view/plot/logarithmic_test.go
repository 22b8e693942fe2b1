package plot_test

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/view/plot"
)

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
	got := drawn(t, &c)
	wantTexts(t, got, "Prove", "one thread", "gates", "seconds", "square", "loose", "crossover", "1", "10", "100", "10000")
	if slices.Contains(got.Texts, "absent") {
		t.Error("a series without points has a key")
	}
	straight := 0
	for _, p := range got.Lines[blue] {
		if len(p) != 3 {
			continue
		}
		first, second := (p[1][1]-p[0][1])/(p[1][0]-p[0][0]), (p[2][1]-p[1][1])/(p[2][0]-p[1][0])
		if math.Abs(first-second) < 0.01*math.Abs(first) {
			straight++
		}
	}
	golden.Equal(t, "straight lines of three points", 1, straight)
}

// TestDots: every row and series is named, equal ratios are equal distances, and
// what cannot stand on a logarithmic axis is left out.
func TestDots(t *testing.T) {
	d := plot.Dots{
		Title: "Units", Notes: []string{"a <note>"}, Unit: "units", Series: []string{"ours", "theirs"},
		Rows: []plot.DotsRow{
			{Name: "Sender", Values: []float64{10, 100}},
			{Name: "Verify", Values: []float64{100, 1000}},
			{Name: "None", Values: []float64{0, math.Inf(1)}},
		},
	}
	got := drawn(t, &d)
	wantTexts(t, got, "Units", "a <note>", "units", "ours", "theirs", "Sender", "Verify", "None", "10", "100")
	const joins = "#595959"
	var lengths []float64
	for _, p := range got.Lines[joins] {
		if len(p) == 2 && p[0][1] == p[1][1] && p[0][0] != p[1][0] {
			lengths = append(lengths, math.Abs(p[1][0]-p[0][0]))
		}
	}
	slices.Sort(lengths)
	equal := 0
	for i := 1; i < len(lengths); i++ {
		if math.Abs(lengths[i]-lengths[i-1]) < 0.05 && lengths[i] > 20 {
			equal++
		}
	}
	golden.Equal(t, "lengths of lines that are equal: both rows span a factor of ten", 1, equal)
}

// TestTextsKeepTheirLength: every text of an SVG names the length it was laid out with,
// so that a wider font does not reach into the data.
func TestTextsKeepTheirLength(t *testing.T) {
	d := &plot.Dots{Title: "Title <1>", Unit: "ms", Series: []string{"a", "b"}, Rows: []plot.DotsRow{{Name: "a long name & more", Values: []float64{1, 2}}}}
	var out bytes.Buffer
	must.Do(t, plot.Write(&out, plot.SVG, d))
	texts, kept := bytes.Count(out.Bytes(), []byte("<text ")), bytes.Count(out.Bytes(), []byte(`lengthAdjust="spacingAndGlyphs"`))
	if texts == 0 || kept != texts {
		t.Errorf("%d of %d texts have a length", kept, texts)
	}
	if !bytes.Contains(out.Bytes(), []byte("a long name &amp; more")) {
		t.Error("a text is no longer what it was")
	}
}
