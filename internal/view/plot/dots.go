package plot

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Dots is a dot chart (Cleveland and McGill, "Graphical Perception", 1984). Each row has one
// dot for each series. The axis is logarithmic, so that equal ratios are equal distances.
type Dots struct {
	Title  string
	Notes  []string
	Unit   string    // of the axis
	Series []string  // up to MaxSeries
	Rows   []DotsRow // from the top
}

// DotsRow is one row of Dots. Values that are not positive and finite are not drawn.
type DotsRow struct {
	Name   string
	Values []float64 // one for each series
}

// dotHeight is the height of a row, in points.
const dotHeight = vg.Length(12)

func (d *Dots) layout() *drawing {
	var values span
	for _, r := range d.Rows {
		values.addDrawn(r.Values)
	}
	if !values.some {
		return nil
	}
	t := newTile(1, "")
	t.X.Label.Text = printable(d.Unit)
	logarithmicAxis(&t.X, logarithmic(values.least, values.most))
	var all []string
	for _, r := range d.Rows {
		all = append(all, r.Name)
	}
	nameAxis(&t.Y, all, -1)
	t.Add(grid(), d)
	for i, name := range d.Series {
		t.key = append(t.key, keyed{name: printable(name), glyph: series(i)})
	}
	drawing := &drawing{title: d.Title, notes: d.Notes, tiles: []*tile{t}}
	drawing.height = dotHeight*vg.Length(len(d.Rows)) + 100 + 12*vg.Length(len(d.Notes))
	return drawing
}

// drawn reports whether a value can be drawn on a logarithmic axis. It excludes values that are
// farther from 1 than any measurement, because their ticks would not be numbers.
func drawn(v float64) bool { return v >= 1e-100 && v <= 1e100 }

// logarithmic returns ticks at round values around least and most: 1, 2 and 5 times the powers of
// ten, or 1 and 3 times if the range is wide.
func logarithmic(least, most float64) plot.ConstantTicks {
	steps := []float64{1, 2, 5}
	if most > 30*least {
		steps = []float64{1, 3}
	}
	var all []float64
	for k := math.Floor(math.Log10(least)) - 1; k <= math.Log10(most)+1; k++ {
		for _, m := range steps {
			all = append(all, m*math.Pow(10, k))
		}
	}
	first, last := 0, len(all)-1
	for all[first+1] <= least {
		first++
	}
	for all[last-1] >= most {
		last--
	}
	var ticks plot.ConstantTicks
	for _, v := range all[first : last+1] {
		ticks = append(ticks, plot.Tick{Value: math.Log10(v), Label: strconv.FormatFloat(math.Round(v*1e9)/1e9, 'f', -1, 64)})
	}
	return ticks
}

// Plot draws the rows, each with a line from its minimum to its maximum. It implements
// plot.Plotter.
func (d *Dots) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	for i, r := range d.Rows {
		var values span
		if values.addDrawn(r.Values); !values.some {
			continue
		}
		at := y(-float64(i))
		c.StrokeLine2(draw.LineStyle{Color: grey, Width: 0.6}, x(math.Log10(values.least)), at, x(math.Log10(values.most)), at)
		for s, v := range r.Values {
			if drawn(v) {
				c.DrawGlyph(series(s), vg.Point{X: x(math.Log10(v)), Y: at})
			}
		}
	}
}
