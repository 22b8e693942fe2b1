// Package plot draws a record: latency by percentile, the distribution of
// latencies, the course of the window. Every figure is made from the record
// alone, and the same record gives the same bytes.
//
// Colours are those of Okabe and Ito, "Color Universal Design", 2008, which
// people with any kind of colour vision can tell apart; lines that share a tile
// differ in their dashes too, so that they survive a print without colour.
package plot

import (
	"bytes"
	"fmt"
	"html"
	"image/color"
	"io"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"github.com/HdrHistogram/hdrhistogram-go"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgpdf"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/record"
)

// Format is how a figure is written.
type Format string

const (
	SVG Format = "svg"
	PDF Format = "pdf"
)

// Sizes of a figure in points.
const (
	width     = vg.Length(504) // 7 inches: the text width of a page
	margin    = vg.Length(10)
	titleSize = vg.Length(13)
	textSize  = vg.Length(8.5)
	keyHeight = vg.Length(16)
)

var (
	black  = color.RGBA{0x22, 0x22, 0x22, 0xff}
	grey   = color.RGBA{0x59, 0x59, 0x59, 0xff}
	light  = color.RGBA{0xdd, 0xdd, 0xdd, 0xff}
	blue   = color.RGBA{0x00, 0x72, 0xb2, 0xff}
	orange = color.RGBA{0xd5, 0x5e, 0x00, 0xff}
	green  = color.RGBA{0x00, 0x9e, 0x73, 0xff}
	purple = color.RGBA{0xcc, 0x79, 0xa7, 0xff}
	tint   = color.NRGBA{0x00, 0x72, 0xb2, 0x28} // of blue; the grid shows through
)

// tile is one plot of a figure.
type tile struct {
	*plot.Plot
	key    []keyed
	height float64 // relative to the other tiles
}

// keyRoom is the height of the line above the tile that names its lines.
func (t *tile) keyRoom() vg.Length {
	if len(t.key) == 0 {
		return 0
	}
	return keyHeight
}

// keyed is a line, or a dot where it has a shape, and its name in the tile's key.
type keyed struct {
	name  string
	style draw.LineStyle
	glyph draw.GlyphStyle
}

// figure is what one file shows: head lines, and tiles below each other whose
// data stand in the same columns.
type figure struct {
	title  string
	notes  []string
	height vg.Length
	tiles  []*tile
}

// style is of the regular weight throughout: vgpdf does not find a bold face.
func style(size vg.Length, c color.Color) text.Style {
	f := font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size)
	return text.Style{Color: c, Font: f, Handler: plot.DefaultTextHandler}
}

func line(c color.Color, dashes ...vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: 1.4, Dashes: dashes}
}

// newTile returns an empty plot with thin axes and no padding, so that the data
// of stacked tiles meet the same lines.
func newTile(height float64, unit string) *tile {
	p := plot.New()
	for _, a := range []*plot.Axis{&p.X, &p.Y} {
		a.Padding = 0
		a.LineStyle = draw.LineStyle{Color: grey, Width: 0.6}
		a.Tick.LineStyle = a.LineStyle
		a.Tick.Length = 3
		label, tick := style(textSize, black), style(textSize, black)
		label.XAlign, label.YAlign = a.Label.TextStyle.XAlign, a.Label.TextStyle.YAlign
		tick.XAlign, tick.YAlign = a.Tick.Label.XAlign, a.Tick.Label.YAlign
		a.Label.TextStyle, a.Tick.Label = label, tick
		a.Label.Padding = 4
	}
	p.Y.Label.Text = printable(unit)
	p.BackgroundColor = nil // the figure's
	return &tile{Plot: p, height: height}
}

// write draws the figure and writes it with one call.
func (f *figure) write(w io.Writer, format Format) error {
	var canvas vg.CanvasWriterTo
	switch format {
	case SVG:
		canvas = vgsvg.New(width, f.height)
	case PDF:
		canvas = vgpdf.New(width, f.height)
	default:
		return fmt.Errorf("%w: format: %q is not known; accepted: %s, %s", zkbench.ErrParams, format, SVG, PDF)
	}
	f.draw(draw.NewCanvas(canvas, width, f.height))
	var out bytes.Buffer
	if _, err := canvas.WriteTo(&out); err != nil {
		return fmt.Errorf("draw %s: %w", f.title, err)
	}
	_, err := w.Write(portable(out.Bytes(), format))
	return err
}

// svgText is a text of an SVG: its attributes, the size of its font, the text.
var svgText = regexp.MustCompile(`<text ([^>]*font-size:([0-9.]+)px[^>]*)>([^<]*)</text>`)

// portable makes the bytes independent of machine and moment: SVG names fonts of
// the same metrics where the first is missing, and the length that each text was laid
// out with, to which a viewer with none of them fits its own; PDF has no date of
// creation. The date is replaced by one of the same length, since a PDF counts its bytes.
func portable(out []byte, format Format) []byte {
	if format == SVG {
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
	return regexp.MustCompile(`\(D:\d{14}`).ReplaceAll(out, []byte("(D:20000101000000"))
}

func (f *figure) draw(c draw.Canvas) {
	c.SetColor(color.White)
	c.Fill(c.Path())
	c = draw.Crop(c, margin, -margin, margin, -margin)
	c = f.head(c)

	// The data of all tiles begin and end in the same columns.
	var left, right, taken vg.Length
	total := 0.0
	for _, t := range f.tiles {
		data := t.DataCanvas(c)
		left, right = max(left, data.Min.X-c.Min.X), max(right, c.Max.X-data.Max.X)
		taken += t.keyRoom() + data.Min.Y - c.Min.Y
		total += t.height
	}
	for _, t := range f.tiles {
		data := t.DataCanvas(c)
		area := c
		area.Min.Y = c.Max.Y - t.keyRoom() - (data.Min.Y - c.Min.Y) - (c.Size().Y-taken)*vg.Length(t.height/total)
		area.Max.X -= right - (c.Max.X - data.Max.X)
		t.Y.Label.Padding += left - (data.Min.X - c.Min.X)
		bottom := area.Min.Y
		t.drawKey(area, c.Min.X+left)
		area.Max.Y -= t.keyRoom()
		t.Draw(area)
		taken -= t.keyRoom() + data.Min.Y - c.Min.Y
		total -= t.height
		c.Max.Y = bottom
	}
}

// head writes title and notes, and returns what is left below them.
func (f *figure) head(c draw.Canvas) draw.Canvas {
	put := func(s text.Style, line string) {
		s.YAlign = draw.YTop
		c.FillText(s, vg.Point{X: c.Min.X, Y: c.Max.Y}, printable(line))
		c.Max.Y -= s.Font.Size * 1.35
	}
	put(style(titleSize, black), f.title)
	note := style(textSize, grey)
	for _, n := range f.notes {
		for _, line := range wrap(note, n, c.Size().X) {
			put(note, line)
		}
	}
	c.Max.Y -= 4
	return c
}

// printable replaces what XML does not allow in a text.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, s)
}

// wrap breaks text between words into lines no wider than room; a longer word is
// a line of its own.
func wrap(s text.Style, words string, room vg.Length) []string {
	var lines []string
	current := ""
	for word := range strings.FieldsSeq(words) {
		if longer := strings.TrimSpace(current + " " + word); current == "" || s.Width(longer) <= room {
			current = longer
			continue
		}
		lines = append(lines, current)
		current = word
	}
	if current != "" {
		lines = append(lines, current)
	}
	return lines
}

// drawKey names the tile's lines in one row at its top, from x on.
func (t *tile) drawKey(c draw.Canvas, x vg.Length) {
	const sample, gap = 18, 4
	s := style(textSize, black)
	s.YAlign = draw.YCenter
	y := c.Max.Y - keyHeight/2
	for _, k := range t.key {
		if k.glyph.Shape != nil {
			c.DrawGlyph(k.glyph, vg.Point{X: x + sample/2, Y: y})
		} else {
			c.StrokeLine2(k.style, x, y, x+sample, y)
		}
		x += sample + gap
		c.FillText(s, vg.Point{X: x, Y: y}, k.name)
		x += s.Width(k.name) + 4*gap
	}
}

// newFigure returns a figure of rec without tiles, whose head says what ran
// where.
func newFigure(rec *record.Record, title string, height vg.Length) *figure {
	f := &figure{title: title, height: height}
	if rec.Workload != "" {
		f.title = rec.Workload + ": " + title
	}
	if rec.Case != "" {
		f.notes = append(f.notes, strings.ReplaceAll(rec.Case, "/", " "))
	}
	if rec.Env.CPU != "" {
		f.notes = append(f.notes, fmt.Sprintf("%s, GOMAXPROCS %d, %s", rec.Env.CPU, rec.Env.GOMAXPROCS, rec.Env.Go))
	}
	return f
}

// histogram returns the values of that name, nil where the record has none.
func histogram(rec *record.Record, name string) (*hdrhistogram.Histogram, error) {
	encoded, ok := rec.Histogram(name)
	if !ok {
		return nil, nil
	}
	h, err := encoded.Decode()
	if err != nil {
		return nil, fmt.Errorf("%s/%s: %w", rec.Workload, rec.Case, err)
	}
	if h.TotalCount() == 0 {
		return nil, nil
	}
	return h, nil
}
