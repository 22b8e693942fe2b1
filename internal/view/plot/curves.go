package plot

import (
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Curves is a chart of lines and points. Both axes are logarithmic, so that a power of x is a
// straight line, or both are linear from 0.
type Curves struct {
	Title  string
	Notes  []string
	X, Y   string // labels of the axes
	Linear bool
	Counts bool    // with Linear: X is a count, and its ticks are the values that occur
	Lines  []Curve // up to MaxSeries, not counting those with Reference
	Marks  []Mark
}

// Curve is one series with its points in the order of X. Points that are negative or not finite
// are not drawn. Points at 0 are not drawn on logarithmic axes.
type Curve struct {
	Name      string
	Points    []Point
	Loose     bool // draw points that are not joined by a line
	Reference bool // not a measurement: draw a thin dashed line without points
}

// Point is a point of a Curve.
type Point struct {
	X, Y           float64
	AboutX, AboutY Interval // drawn as error bars if Least is below Most
	Name           string   // drawn beside the point; may be empty
}

// Interval is the range of a value over the repetitions of a measurement.
type Interval struct{ Least, Most float64 }

// Mark is a vertical line at X. The chart's key (legend) shows the line with its name.
type Mark struct {
	Name string
	X    float64
}

const curvesHeight = vg.Length(290)

func (c *Curves) layout() *drawing {
	t := c.tile()
	if t == nil {
		return nil
	}
	c.each(func(i int, _ *Curve, _ []Point) { t.key = append(t.key, c.keyed(i)) })
	for _, m := range c.Marks {
		t.key = append(t.key, keyed{name: printable(m.Name), style: markStyle()})
	}
	height := curvesHeight + 12*vg.Length(len(c.Notes))
	return &drawing{title: c.Title, notes: c.Notes, height: height, tiles: []*tile{t}}
}

// tile returns the chart without its key, or nil if there are no values.
func (c *Curves) tile() *tile {
	x, y := c.ranges()
	if !x.some || !y.some {
		return nil
	}
	t := newTile(1, c.Y)
	t.X.Label.Text = printable(c.X)
	if c.Linear {
		fromZero(&t.X, x.most, 8)
		fromZero(&t.Y, y.most, 6)
		if c.Counts {
			c.countAxis(&t.X, x.most)
		}
	} else {
		logarithmicAxis(&t.X, powers(x.least, x.most))
		logarithmicAxis(&t.Y, powers(y.least, y.most))
	}
	t.Add(grid(), c)
	return t
}

// keyed returns the entry of a curve in the key.
func (c *Curves) keyed(i int) keyed {
	l := &c.Lines[i]
	k := keyed{name: printable(l.Name)}
	if !l.Loose {
		k.style = c.stroke(i)
	}
	if l.Loose || c.Linear && !l.Reference {
		k.glyph = c.dot(i)
	}
	return k
}

// each calls do for each curve that has points to draw, with its index and these points.
func (c *Curves) each(do func(i int, l *Curve, points []Point)) {
	for i := range c.Lines {
		l := &c.Lines[i]
		points := slices.DeleteFunc(slices.Clone(l.Points), func(p Point) bool { return !c.drawn(p.X) || !c.drawn(p.Y) })
		if len(points) > 0 {
			do(i, l, points)
		}
	}
}

// drawn reports whether a value can be drawn on the axes.
func (c *Curves) drawn(v float64) bool { return drawn(v) || c.Linear && v == 0 }

// place returns the position of a value on an axis.
func (c *Curves) place(v float64) float64 {
	if c.Linear {
		return v
	}
	return math.Log10(v)
}

// span is the range of some values.
type span struct {
	least, most float64
	some        bool
}

func (s *span) add(v float64) {
	if !s.some || v < s.least {
		s.least = v
	}
	s.most, s.some = max(s.most, v), true
}

// addDrawn adds the values that can be drawn on a logarithmic axis.
func (s *span) addDrawn(values []float64) {
	for _, v := range values {
		if drawn(v) {
			s.add(v)
		}
	}
}

// bars reports whether an interval is drawn.
func (c *Curves) bars(i Interval) bool {
	return i.Most > i.Least && c.drawn(i.Least) && c.drawn(i.Most)
}

// ranges returns the ranges of the points, intervals and marks that are drawn.
func (c *Curves) ranges() (x, y span) {
	add := func(s *span, v float64, about Interval) {
		s.add(v)
		if c.bars(about) {
			s.add(about.Least)
			s.add(about.Most)
		}
	}
	c.each(func(_ int, _ *Curve, points []Point) {
		for _, p := range points {
			add(&x, p.X, p.AboutX)
			add(&y, p.Y, p.AboutY)
		}
	})
	for _, m := range c.Marks {
		if x.some && drawn(m.X) {
			x.add(m.X)
		}
	}
	return x, y
}

// powers returns the ticks of logarithmic. If there are many, only powers of ten have labels.
func powers(least, most float64) plot.ConstantTicks {
	ticks := logarithmic(least, most)
	if len(ticks) <= 9 {
		return ticks
	}
	for i := range ticks {
		if !isPower(ticks[i].Value) {
			ticks[i].Label = " "
		}
	}
	return ticks
}

// logarithmicAxis sets an axis from its first tick to its last.
func logarithmicAxis(a *plot.Axis, ticks plot.ConstantTicks) {
	a.Tick.Marker = ticks
	a.Min, a.Max = ticks[0].Value, ticks[len(ticks)-1].Value
}

// countAxis sets an axis from 0 to a little beyond most, with ticks at the values of X. If two
// labels would touch, only that of the larger value is drawn.
func (c *Curves) countAxis(a *plot.Axis, most float64) {
	var values []float64
	c.each(func(_ int, l *Curve, points []Point) {
		for _, p := range points {
			if !l.Reference {
				values = append(values, p.X)
			}
		}
	})
	slices.Sort(values)
	a.Min, a.Max = 0, max(most, 1)*1.06
	var ticks plot.ConstantTicks
	last := math.Inf(1)
	for _, v := range slices.Backward(slices.Compact(values)) {
		t := plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'g', 6, 64)}
		if room := style(textSize, black).Width(t.Label+" ") / width; last-v < float64(room)*a.Max*1.2 {
			t.Label = " "
		} else {
			last = v
		}
		ticks = append(ticks, t)
	}
	slices.Reverse(ticks)
	a.Tick.Marker = ticks
}

// stroke returns the line style of a series.
func (c *Curves) stroke(i int) draw.LineStyle {
	if c.Lines[i].Reference {
		return draw.LineStyle{Color: grey, Width: 0.8, Dashes: []vg.Length{4, 3}}
	}
	return stroke(i)
}

// dot returns the dot of a series. On linear axes, which have few points, series differ in shape.
func (c *Curves) dot(i int) draw.GlyphStyle {
	switch {
	case c.Lines[i].Loose:
		return hollow(i)
	case c.Linear:
		return series(i)
	}
	return draw.GlyphStyle{Color: hue(i), Radius: 1.8, Shape: draw.CircleGlyph{}}
}

func markStyle() draw.LineStyle {
	return draw.LineStyle{Color: grey, Width: 1, Dashes: []vg.Length{1, 2}}
}

// Plot draws the marks, the lines with error bars and points, and the names beside points. It
// implements plot.Plotter.
func (c *Curves) Plot(canvas draw.Canvas, p *plot.Plot) {
	toX, toY := p.Transforms(&canvas)
	x := func(v float64) vg.Length { return toX(c.place(v)) }
	y := func(v float64) vg.Length { return toY(c.place(v)) }
	for _, m := range c.Marks {
		if drawn(m.X) {
			canvas.StrokeLine2(markStyle(), x(m.X), canvas.Min.Y, x(m.X), canvas.Max.Y)
		}
	}
	var beside labels
	c.each(func(i int, l *Curve, points []Point) {
		var places []vg.Point
		for _, pt := range points {
			places = append(places, vg.Point{X: x(pt.X), Y: y(pt.Y)})
		}
		if !l.Loose {
			canvas.StrokeLines(c.stroke(i), places)
			beside.lines = append(beside.lines, places)
		}
		if l.Reference {
			return
		}
		for k, at := range places {
			var bars [][]vg.Point
			if about := points[k].AboutX; c.bars(about) {
				bars = append(bars, []vg.Point{{X: x(about.Least), Y: at.Y}, {X: x(about.Most), Y: at.Y}})
			}
			if about := points[k].AboutY; c.bars(about) {
				bars = append(bars, []vg.Point{{X: at.X, Y: y(about.Least)}, {X: at.X, Y: y(about.Most)}})
			}
			drawBars(canvas, draw.LineStyle{Color: hue(i), Width: 0.8}, bars)
			canvas.DrawGlyph(c.dot(i), at)
			beside.lines = append(beside.lines, bars...)
			beside.add(at, printable(points[k].Name))
		}
	})
	beside.draw(canvas)
}

// drawBars draws error bars, with a cap at either end.
func drawBars(c draw.Canvas, s draw.LineStyle, bars [][]vg.Point) {
	const half = vg.Length(2.5)
	for _, b := range bars {
		c.StrokeLines(s, b)
		for _, end := range b {
			if b[0].Y == b[1].Y {
				c.StrokeLine2(s, end.X, end.Y-half, end.X, end.Y+half)
			} else {
				c.StrokeLine2(s, end.X-half, end.Y, end.X+half, end.Y)
			}
		}
	}
}
