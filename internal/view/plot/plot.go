// Package plot draws charts as SVG and PDF. For one record it draws latency by percentile,
// the distribution of latencies, and a timeline of the window. These charts depend only on
// the record, so equal records give equal bytes. For many records, Write and Document draw
// charts that are given as a Figure.
//
// Colours are those of Okabe and Ito, "Color Universal Design", 2008, which people with any
// kind of colour vision can distinguish. Lines in the same diagram have different dashes, so
// that they can be distinguished without colour too.
package plot

import (
	"fmt"
	"image/color"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/zkbench/zkbench/internal/result/record"
)

// Sizes of a figure in points.
const (
	width     = vg.Length(504) // 7 inches: the text width of a page
	margin    = vg.Length(10)
	titleSize = vg.Length(13)
	textSize  = vg.Length(8.5)
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

// tile is one plot within a figure.
type tile struct {
	*plot.Plot
	key    []keyed
	height float64 // relative to the other tiles
}

// keyed is a name in the tile's key. A sample of its line precedes it if the line has a width,
// and a sample of its dot if the dot has a shape. With neither, it is the tile's own name.
type keyed struct {
	name  string
	style draw.LineStyle
	glyph draw.GlyphStyle
}

// drawing is the content of one figure: title, notes, and tiles below each other whose data
// are aligned. If columns is above 1, each row has that many tiles, all of the same size. A key
// of all tiles is below the notes.
type drawing struct {
	title   string
	notes   []string
	height  vg.Length
	tiles   []*tile
	columns int
	key     []keyed // of all tiles; empty: each tile has its own
}

// style returns a text style of regular weight: vgpdf does not find a bold face.
func style(size vg.Length, c color.Color) text.Style {
	f := font.From(font.Font{Typeface: "Liberation", Variant: "Sans"}, size)
	return text.Style{Color: c, Font: f, Handler: plot.DefaultTextHandler}
}

func line(c color.Color, dashes ...vg.Length) draw.LineStyle {
	return draw.LineStyle{Color: c, Width: 1.4, Dashes: dashes}
}

// newTile returns an empty plot with thin axes and no padding, so that the data of stacked
// tiles are aligned.
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
	p.BackgroundColor = nil // the figure has one
	return &tile{Plot: p, height: height}
}

func (f *drawing) draw(c draw.Canvas) {
	c.SetColor(color.White)
	c.Fill(c.Path())
	c = draw.Crop(c, margin, -margin, margin, -margin)
	c = f.head(c)
	(&tile{key: f.key}).drawKey(c, c.Min.X)
	c.Max.Y -= f.keyRoom()
	if f.columns <= 1 {
		stack(c, f.tiles)
		return
	}
	const gap = vg.Length(12)
	rows := (len(f.tiles) + f.columns - 1) / f.columns
	wide, high := (c.Size().X-gap*vg.Length(f.columns-1))/vg.Length(f.columns), c.Size().Y/vg.Length(rows)
	for i, t := range f.tiles {
		cell := c
		cell.Min.X += (wide + gap) * vg.Length(i%f.columns)
		cell.Max.X = cell.Min.X + wide
		cell.Max.Y -= high * vg.Length(i/f.columns)
		cell.Min.Y = cell.Max.Y - high + gap/2
		stack(cell, []*tile{t})
	}
}

// keyRoom returns the height of the key of all tiles.
func (f *drawing) keyRoom() vg.Length { return (&tile{key: f.key}).keyRoom(width - 2*margin) }

// stack draws tiles below each other, with the data of all at the same horizontal position.
func stack(c draw.Canvas, tiles []*tile) {
	var left, right, taken vg.Length
	total := 0.0
	for _, t := range tiles {
		data := t.DataCanvas(c)
		left, right = max(left, data.Min.X-c.Min.X), max(right, c.Max.X-data.Max.X)
		total += t.height
	}
	for _, t := range tiles {
		taken += t.keyRoom(c.Size().X-left) + t.DataCanvas(c).Min.Y - c.Min.Y
	}
	for _, t := range tiles {
		data := t.DataCanvas(c)
		key := t.keyRoom(c.Size().X - left)
		area := c
		area.Min.Y = c.Max.Y - key - (data.Min.Y - c.Min.Y) - (c.Size().Y-taken)*vg.Length(t.height/total)
		area.Max.X -= right - (c.Max.X - data.Max.X)
		if t.Y.Label.Text != "" { // the label stays at the left
			t.Y.Label.Padding += left - (data.Min.X - c.Min.X)
		} else {
			area.Min.X += left - (data.Min.X - c.Min.X)
		}
		bottom := area.Min.Y
		t.drawKey(c, c.Min.X+left)
		area.Max.Y -= key
		t.Draw(area)
		taken -= key + data.Min.Y - c.Min.Y
		total -= t.height
		c.Max.Y = bottom
	}
}

// head draws the title and the notes, and returns the rest of the canvas below them.
func (f *drawing) head(c draw.Canvas) draw.Canvas {
	put := func(s text.Style, words string) {
		s.YAlign = draw.YTop
		for _, line := range wrap(s, printable(words), c.Size().X) {
			c.FillText(s, vg.Point{X: c.Min.X, Y: c.Max.Y}, line)
			c.Max.Y -= s.Font.Size * 1.35
		}
	}
	put(style(titleSize, black), f.title)
	for _, n := range f.notes {
		put(style(textSize, grey), n)
	}
	c.Max.Y -= 4
	return c
}

// newFigure returns a figure of rec without tiles. Its notes say what ran where.
func newFigure(rec *record.Record, title string, height vg.Length) *drawing {
	f := &drawing{title: title, height: height}
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

// histogram returns the record's histogram with the given name, or nil if it has no values.
func histogram(rec *record.Record, name string) (*hdrhistogram.Histogram, error) {
	encoded, ok := rec.Histogram(name)
	if !ok {
		return nil, nil
	}
	h, err := encoded.Decode()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", rec.Name(), err)
	}
	if h.TotalCount() == 0 {
		return nil, nil
	}
	return h, nil
}
