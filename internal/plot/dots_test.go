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

func dots(d plot.Dots) figure {
	return func(w io.Writer, f plot.Format, _ *record.Record) error { return d.Write(w, f) }
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
	got := draw(t, dots(d), nil)
	wantTexts(t, got, "Units", "a <note>", "units", "ours", "theirs", "Sender", "Verify", "None", "10", "100")
	const joins = "#595959"
	var lengths []float64
	for _, p := range got.lines[joins] {
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
	var first, second bytes.Buffer
	for _, b := range []*bytes.Buffer{&first, &second} {
		must.Do(t, d.Write(b, plot.SVG))
	}
	if !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Error("two figures of the same values differ")
	}
}

func TestDotsWithoutValues(t *testing.T) {
	var b bytes.Buffer
	d := plot.Dots{Title: "Units", Series: []string{"ours"}, Rows: []plot.DotsRow{{Name: "Sender"}, {Name: "Verify", Values: []float64{0}}}}
	if err := d.Write(&b, plot.SVG); err != nil || b.Len() > 0 {
		t.Errorf("%d bytes, %v; want nothing", b.Len(), err)
	}
}

// TestTextsKeepTheirLength: every text of an SVG names the length it was laid out with,
// so that a wider font does not reach into the data.
func TestTextsKeepTheirLength(t *testing.T) {
	d := &plot.Dots{Title: "Title <1>", Unit: "ms", Series: []string{"a", "b"}, Rows: []plot.DotsRow{{Name: "a long name & more", Values: []float64{1, 2}}}}
	var out bytes.Buffer
	must.Do(t, d.Write(&out, plot.SVG))
	texts, kept := bytes.Count(out.Bytes(), []byte("<text ")), bytes.Count(out.Bytes(), []byte(`lengthAdjust="spacingAndGlyphs"`))
	if texts == 0 || kept != texts {
		t.Errorf("%d of %d texts have a length", kept, texts)
	}
	if !bytes.Contains(out.Bytes(), []byte("a long name &amp; more")) {
		t.Error("a text is no longer what it was")
	}
}
