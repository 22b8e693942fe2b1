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

// Format is how a figure is written.
type Format string

const (
	SVG Format = "svg"
	PDF Format = "pdf"
)

// Figure is a chart: Curves, Dots, Heat or Bars.
type Figure interface {
	layout() *drawing // nil: no values
}

// Write draws a chart as a file of its own. One without values has no figure: nothing is
// written.
func Write(w io.Writer, format Format, f Figure) error { return f.layout().write(w, format) }

// Empty tells whether a chart has no values.
func Empty(f Figure) bool { return f.layout() == nil }

// write draws the figure and writes it with one call; nil has nothing to draw.
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

// finish writes what was drawn with one call.
func finish(w io.Writer, canvas vg.CanvasWriterTo, format Format) error {
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return fmt.Errorf("draw as %s: %w", format, err)
	}
	_, err := w.Write(portable(out.Bytes(), format))
	return err
}

var (
	// svgText is a text of an SVG: its attributes, the size of its font, the text.
	svgText = regexp.MustCompile(`<text ([^>]*font-size:([0-9.]+)px[^>]*)>([^<]*)</text>`)
	pdfDate = regexp.MustCompile(`\(D:\d{14}`)
)

// portable makes the bytes independent of machine and moment: SVG names fonts of
// the same metrics where the first is missing, and the length that each text was laid
// out with, to which a viewer with none of them fits its own; PDF has no date of
// creation. The date is replaced by one of the same length, since a PDF counts its bytes.
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
