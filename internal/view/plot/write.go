package plot

import (
	"bytes"
	"fmt"
	"html"
	"io"
	"regexp"
	"strconv"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/zkbench/zkbench"
)

// Format is the file format of a figure.
type Format string

// Formats of a figure.
const (
	SVG Format = "svg"
	PDF Format = "pdf"
)

// Figure is a chart that Write and Document draw: a *Curves, *Panels, *Dots, *Heat or *Bars.
type Figure interface {
	layout() *drawing // nil: no values
}

// Write draws a chart as a file of its own. It writes nothing if the chart has no values, and
// returns ErrParams if the format is unknown.
func Write(w io.Writer, format Format, f Figure) error { return f.layout().write(w, format) }

// Empty reports whether a chart has no values to draw.
func Empty(f Figure) bool { return f.layout() == nil }

// write draws the figure and writes it with one call. If f is nil, it writes nothing.
func (f *drawing) write(w io.Writer, format Format) error {
	if f == nil {
		return nil
	}
	var canvas vg.CanvasWriterTo
	switch format {
	case SVG:
		canvas = vgsvg.New(width, f.height)
	case PDF:
		canvas = newPDF(width, f.height)
	default:
		return fmt.Errorf("%w: format: %q is not known; accepted: %s, %s", zkbench.ErrParams, format, SVG, PDF)
	}
	f.draw(draw.NewCanvas(canvas, width, f.height))
	return finish(w, canvas, format)
}

// finish writes the canvas with one call.
func finish(w io.Writer, canvas vg.CanvasWriterTo, format Format) error {
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return fmt.Errorf("draw as %s: %w", format, err)
	}
	_, err := w.Write(portable(out.Bytes(), format))
	return err
}

var (
	// svgText matches a text element of an SVG: its attributes, font size and text.
	svgText = regexp.MustCompile(`<text ([^>]*font-size:([0-9.]+)px[^>]*)>([^<]*)</text>`)
	pdfDate = regexp.MustCompile(`\(D:\d{14}`)
)

// portable makes the bytes independent of the machine and the time. An SVG names other fonts
// with the same metrics in case the first is missing. It also gives the length of each text, to
// which a viewer fits any other font. In a PDF the creation date is replaced by a fixed date of
// the same length, because a PDF contains byte offsets.
func portable(out []byte, format Format) []byte {
	if format == PDF {
		return pdfDate.ReplaceAll(out, []byte("(D:20000101000000"))
	}
	out = bytes.ReplaceAll(out, []byte("font-family:Liberation Sans;"), []byte("font-family:'Liberation Sans',Arial,Helvetica,sans-serif;"))
	return svgText.ReplaceAllFunc(out, func(element []byte) []byte {
		parts := svgText.FindSubmatch(element)
		size, err := strconv.ParseFloat(string(parts[2]), 64)
		text := html.UnescapeString(string(parts[3]))
		if err != nil || text == "" {
			return element
		}
		length := style(vg.Length(size), black).Width(text).Points()
		return fmt.Appendf(nil, `<text textLength="%.4g" lengthAdjust="spacingAndGlyphs" %s>%s</text>`, length, parts[1], parts[3])
	})
}
