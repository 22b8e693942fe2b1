package plot

import (
	"image/color"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/palette/brewer"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/zkbench/zkbench/internal/result/format"
)

// Heat is a heat map of one or more tables: larger values have darker cells. All tables share
// one logarithmic scale, so that equal ratios are equal steps. The colours are ColorBrewer's
// Blues (Harrower and Brewer, "ColorBrewer.org", The Cartographic Journal 40, 2003), a single
// hue whose shades keep their order in a print without colour.
type Heat struct {
	Title string
	Notes []string
	X, Y  string // labels of the columns and the rows
	Tiles []HeatTile
}

// HeatTile is one table of Heat. Cells whose values are not positive and finite stay empty.
type HeatTile struct {
	Name    string
	Columns []string
	Rows    []string    // from the top
	Values  [][]float64 // by row, then by column
}

// Sizes of a cell in points. Cells are wider if there is room.
const (
	cellWidth  = vg.Length(30)
	cellHeight = vg.Length(20)
)

func (h *Heat) layout() *drawing {
	var values span
	columns, rows := 0, 0
	for i := range h.Tiles {
		t := &h.Tiles[i]
		t.each(func(_, _ int, v float64) { values.add(v) })
		columns, rows = max(columns, len(t.Columns)), max(rows, len(t.Rows))
	}
	if !values.some {
		return nil
	}
	f := &drawing{title: h.Title, notes: h.Notes}
	for i := range h.Tiles {
		t := newTile(1, h.Y)
		t.X.Label.Text = printable(h.X)
		nameAxis(&t.X, h.Tiles[i].Columns, +1)
		nameAxis(&t.Y, h.Tiles[i].Rows, -1)
		t.X.LineStyle.Width, t.Y.LineStyle.Width = 0, 0
		t.key = []keyed{{name: printable(h.Tiles[i].Name)}}
		t.Add(&cells{&h.Tiles[i], values})
		f.tiles = append(f.tiles, t)
	}
	const axes = vg.Length(40) // for the labels beside the cells of a tile, and above and below them
	f.columns = min(max(int((width-2*margin)/(cellWidth*vg.Length(columns)+axes)), 1), len(f.tiles), 3)
	down := (len(f.tiles) + f.columns - 1) / f.columns
	f.height = vg.Length(down)*(cellHeight*vg.Length(rows)+axes+keyHeight) + 45 + 12*vg.Length(len(h.Notes))
	return f
}

// each calls do for the values that are drawn.
func (t *HeatTile) each(do func(row, column int, v float64)) {
	for r := range min(len(t.Rows), len(t.Values)) {
		for c, v := range t.Values[r][:min(len(t.Columns), len(t.Values[r]))] {
			if drawn(v) {
				do(r, c, v)
			}
		}
	}
}

// cells draws the cells of a tile with their values.
type cells struct {
	*HeatTile
	values span // of all tiles
}

// Plot implements plot.Plotter.
func (t *cells) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	box := func(row, column int) vg.Path {
		const gap = vg.Length(0.6)
		r := vg.Rectangle{
			Min: vg.Point{X: x(float64(column)-0.5) + gap, Y: y(-float64(row)-0.5) + gap},
			Max: vg.Point{X: x(float64(column)+0.5) - gap, Y: y(-float64(row)+0.5) - gap},
		}
		return r.Path()
	}
	for r := range t.Rows {
		for column := range t.Columns {
			c.SetLineStyle(draw.LineStyle{Color: light, Width: 0.5})
			c.Stroke(box(r, column))
		}
	}
	t.each(func(r, column int, v float64) {
		fill := shade(t.values, v)
		c.SetColor(fill)
		c.Fill(box(r, column))
		s := style(textSize, ink(fill))
		s.XAlign, s.YAlign = draw.XCenter, draw.YCenter
		label := format.Significant(v, 3, 6)
		if room := x(1) - x(0) - 3; s.Width(label) > room {
			s.Font.Size *= room / s.Width(label)
		}
		c.FillText(s, vg.Point{X: x(float64(column)), Y: y(-float64(r))}, label)
	})
}

// shade returns the colour for a value within a range. It leaves out the lightest of the nine
// colours, which on white looks like an empty cell.
func shade(all span, v float64) color.RGBA {
	table := brewer.Blues[9].Colors()[1:]
	part := 0.0
	if all.most > all.least {
		part = (math.Log(v) - math.Log(all.least)) / (math.Log(all.most) - math.Log(all.least))
	}
	place := part * float64(len(table)-1)
	i := min(int(place), len(table)-2)
	between := func(a, b uint32) uint8 { return uint8((float64(a) + (place-float64(i))*(float64(b)-float64(a))) / 257) }
	r0, g0, b0, _ := table[i].RGBA()
	r1, g1, b1, _ := table[i+1].RGBA()
	return color.RGBA{between(r0, r1), between(g0, g1), between(b0, b1), 0xff}
}

// ink returns black or white, whichever has the higher contrast to a colour by its relative
// luminance (Web Content Accessibility Guidelines 2.2, contrast ratio).
func ink(fill color.RGBA) color.Color {
	luminance := 0.0
	for i, part := range []uint8{fill.R, fill.G, fill.B} {
		v := float64(part) / 255
		if v <= 0.04045 {
			v /= 12.92
		} else {
			v = math.Pow((v+0.055)/1.055, 2.4)
		}
		luminance += v * []float64{0.2126, 0.7152, 0.0722}[i]
	}
	if luminance > math.Sqrt(1.05*0.05)-0.05 {
		return color.Black
	}
	return color.White
}
