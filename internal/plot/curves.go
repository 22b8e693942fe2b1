package plot

import (
	"image/color"
	"io"
	"math"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Curves is a chart of lines and points on two logarithmic axes, on which a power of x is
// a straight line.
type Curves struct {
	Title string
	Notes []string
	X, Y  string // what the axes are of
	Lines []Curve
	Marks []Mark
}

// Curve is one series, its points in the order of X. A point that is not positive and
// finite is not drawn.
type Curve struct {
	Name   string
	Points []Point
	Loose  bool // points that no line joins
}

// Point is a point of a series.
type Point struct{ X, Y float64 }

// Mark is a vertical line at X, named in the key.
type Mark struct {
	Name string
	X    float64
}

// drawn are the points that are drawn.
func (c *Curve) drawn() (points []Point) {
	for _, p := range c.Points {
		if drawn(p.X) && drawn(p.Y) {
			points = append(points, p)
		}
	}
	return points
}

const curvesHeight = vg.Length(290)

// Write draws the chart. A chart without points has no figure: nothing is written.
func (c *Curves) Write(w io.Writer, f Format) error {
	x, y := c.ranges()
	if x.most == 0 {
		return nil
	}
	t := newTile(1, c.Y)
	t.X.Label.Text = printable(c.X)
	for _, a := range []struct {
		axis   *plot.Axis
		values span
	}{{&t.X, x}, {&t.Y, y}} {
		ticks := powers(a.values.least, a.values.most)
		a.axis.Tick.Marker = ticks
		a.axis.Min, a.axis.Max = ticks[0].Value, ticks[len(ticks)-1].Value
	}
	t.Add(grid(), c)
	for i, l := range c.Lines {
		k := keyed{name: printable(l.Name), style: c.stroke(i)}
		if l.Loose {
			k.glyph = c.dot(i)
		}
		if len(l.drawn()) > 0 {
			t.key = append(t.key, k)
		}
	}
	for _, m := range c.Marks {
		t.key = append(t.key, keyed{name: printable(m.Name), style: markStyle()})
	}
	figure := &figure{title: c.Title, notes: c.Notes, tiles: []*tile{t}}
	figure.height = curvesHeight + 12*vg.Length(len(c.Notes))
	return figure.write(w, f)
}

// span are the least and the greatest of some values, 0 where there are none.
type span struct{ least, most float64 }

func (s *span) add(v float64) {
	if s.most == 0 || v < s.least {
		s.least = v
	}
	s.most = math.Max(s.most, v)
}

// ranges of the points and marks that are drawn.
func (c *Curves) ranges() (x, y span) {
	for _, l := range c.Lines {
		for _, p := range l.drawn() {
			x.add(p.X)
			y.add(p.Y)
		}
	}
	for _, m := range c.Marks {
		if x.most > 0 && drawn(m.X) {
			x.add(m.X)
		}
	}
	return x, y
}

// powers are the ticks of logarithmic, and the powers of ten alone where those are many.
func powers(least, most float64) plot.ConstantTicks {
	ticks := logarithmic(least, most)
	if len(ticks) <= 9 {
		return ticks
	}
	for i := range ticks {
		if k := ticks[i].Value; math.Abs(k-math.Round(k)) > 1e-9 {
			ticks[i].Label = " "
		}
	}
	return ticks
}

// stroke is the line of a series: series differ in their dashes too.
func (c *Curves) stroke(i int) draw.LineStyle {
	colours := []color.Color{blue, orange, green, purple}
	dashes := [][]vg.Length{nil, {6, 2}, {2, 2}, {8, 2, 2, 2}}
	return line(colours[i%len(colours)], dashes[i%len(dashes)]...)
}

// dot is the point of a series: those that no line joins are hollow, and each of another
// shape.
func (c *Curves) dot(i int) draw.GlyphStyle {
	dot := series(i)
	if c.Lines[i].Loose {
		shapes := []draw.GlyphDrawer{draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PlusGlyph{}}
		dot.Shape, dot.Radius = shapes[i%len(shapes)], 3.5
	} else {
		dot.Shape, dot.Radius = draw.CircleGlyph{}, 1.8
	}
	return dot
}

func markStyle() draw.LineStyle {
	return draw.LineStyle{Color: grey, Width: 1, Dashes: []vg.Length{1, 2}}
}

// Plot draws the marks, the lines and their points.
func (c *Curves) Plot(canvas draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&canvas)
	for _, m := range c.Marks {
		if drawn(m.X) {
			at := x(math.Log10(m.X))
			canvas.StrokeLine2(markStyle(), at, canvas.Min.Y, at, canvas.Max.Y)
		}
	}
	for i, l := range c.Lines {
		var points []vg.Point
		for _, pt := range l.drawn() {
			points = append(points, vg.Point{X: x(math.Log10(pt.X)), Y: y(math.Log10(pt.Y))})
		}
		if !l.Loose {
			canvas.StrokeLines(c.stroke(i), points)
		}
		for _, pt := range points {
			canvas.DrawGlyph(c.dot(i), pt)
		}
	}
}
