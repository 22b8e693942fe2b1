package plot

import (
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Bars is a chart of horizontal bars from 0, with the value at the end of each bar.
type Bars struct {
	Title  string
	Notes  []string
	Unit   string // of the axis
	Groups []BarGroup
}

// BarGroup is a group of bars under a common name. All groups have the same axis.
type BarGroup struct {
	Name string
	Rows []Bar // from the top
}

// Bar is one bar. If Value is negative or not finite, only Name is drawn.
type Bar struct {
	Name  string
	Value float64
}

// barHeight is the height of a row, in points.
const barHeight = vg.Length(14)

func (b *Bars) layout() *drawing {
	var values span
	label := style(textSize, black)
	room := vg.Length(0) // for the longest value
	for _, g := range b.Groups {
		for _, r := range g.Rows {
			if r.drawn() {
				values.add(r.Value)
				room = max(room, label.Width(r.text()))
			}
		}
	}
	if !values.some {
		return nil
	}
	f := &drawing{title: b.Title, notes: b.Notes, height: 60 + 12*vg.Length(len(b.Notes))}
	for _, g := range b.Groups {
		if len(g.Rows) == 0 {
			continue
		}
		t := newTile(float64(len(g.Rows)), "")
		fromZero(&t.X, values.most, 6)
		if values.most > 0 {
			t.X.Max = values.most * (1 + float64((room+10)/(width/2)))
		}
		var all []string
		for _, r := range g.Rows {
			all = append(all, r.Name)
		}
		nameAxis(&t.Y, all, -1)
		if g.Name != "" {
			t.key = []keyed{{name: printable(g.Name)}}
		}
		t.Add(onlyVertical(), barRows(g.Rows))
		f.tiles = append(f.tiles, t)
		f.height += barHeight*vg.Length(len(g.Rows)) + 2*keyHeight
	}
	f.tiles[len(f.tiles)-1].X.Label.Text = printable(b.Unit)
	return f
}

func (b *Bar) drawn() bool { return drawn(b.Value) || b.Value == 0 }

func (b *Bar) text() string { return strconv.FormatFloat(b.Value, 'f', -1, 64) }

// onlyVertical returns a grid without horizontal lines, which bars would hide.
func onlyVertical() *plotter.Grid {
	g := grid()
	g.Horizontal.Width = 0
	return g
}

// barRows draws the bars of a group.
type barRows []Bar

// Plot implements plot.Plotter.
func (b barRows) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	s := style(textSize, black)
	s.YAlign = draw.YCenter
	for i, r := range b {
		if !r.drawn() {
			continue
		}
		at := y(-float64(i))
		half := (y(0) - y(-1)) * 0.32
		box := vg.Rectangle{Min: vg.Point{X: x(0), Y: at - half}, Max: vg.Point{X: x(r.Value), Y: at + half}}
		c.SetColor(blue)
		c.Fill(box.Path())
		c.FillText(s, vg.Point{X: box.Max.X + 3, Y: at}, r.text())
	}
}
