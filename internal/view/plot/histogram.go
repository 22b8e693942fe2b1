package plot

import (
	"fmt"
	"image/color"
	"io"
	"math"
	"slices"

	"github.com/HdrHistogram/hdrhistogram-go"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
)

const bars = 60 // of a histogram

// Histogram draws the distribution of service times with P50, P95 and P99. Values far from
// the others are not drawn, but a note of the figure gives their number. Histogram writes
// nothing if the record has no latencies.
func Histogram(w io.Writer, f Format, rec *record.Record) error {
	h, err := histogram(rec, record.HistLatency)
	if err != nil || h == nil {
		return err
	}
	lo, hi := body(h)
	unit := format.Fitting("ns", hi)
	shares, below, above := binned(h, lo, hi)

	t := newTile(1, "share of operations (%)")
	b := &barsOf{lo: lo / unit.Size, hi: hi / unit.Size, shares: shares}
	p := &percentileMarks{}
	for _, q := range []float64{50, 95, 99} {
		if !record.Carries(q, h.TotalCount()) {
			continue
		}
		v := record.Percentile(h, q)
		few := ""
		if record.Few(q, h.TotalCount()) {
			few = " few"
		}
		p.marks = append(p.marks, mark{v / unit.Size, fmt.Sprintf("P%.0f %s%s", q, label(unit, v), few)})
	}
	t.Add(grid(), b, p)
	t.X.Label.Text = "service time (" + unit.Name + ")"
	t.X.Min, t.X.Max = b.lo, b.hi
	t.X.Tick.Marker = marks(b.lo, b.hi, step(b.hi-b.lo, 10))
	fromZero(&t.Y, slices.Max(shares)*1.3, 6) // room for the names of the marks

	drawing := newFigure(rec, "latency distribution", 300)
	note := fmt.Sprintf("%d operations", h.TotalCount())
	if below > 0 {
		note += fmt.Sprintf("; not drawn: %d below %s, down to %s", below, label(unit, lo), label(format.Fitting("ns", float64(h.Min())), float64(h.Min())))
	}
	if above > 0 {
		note += fmt.Sprintf("; not drawn: %d above %s, up to %s", above, label(unit, hi), label(format.Fitting("ns", float64(h.Max())), float64(h.Max())))
	}
	drawing.notes = append(drawing.notes, note)
	drawing.tiles = []*tile{t}
	return drawing.write(w, f)
}

// body returns the range that is drawn: P1 to P99 and the same distance again on either side,
// but no further than the minimum and the maximum. If all values are alike, it widens the range.
func body(h *hdrhistogram.Histogram) (lo, hi float64) {
	p1, p99 := record.Percentile(h, 1), record.Percentile(h, 99)
	lo = math.Max(float64(h.Min()), p1-(p99-p1))
	hi = math.Min(float64(h.Max()), p99+(p99-p1))
	if least := math.Max(hi*1e-2, 10); hi-lo < least { // all values alike
		lo, hi = math.Max(lo-least, 0), hi+least
	}
	return lo, hi
}

// binned divides the range into equal bars. It returns the share of operations in each, in per
// cent, and the number of operations below and above the range. A cell of h that crosses an
// edge is divided in proportion. Counting it whole would make the bars uneven, because cells
// are as wide as h's resolution.
func binned(h *hdrhistogram.Histogram, lo, hi float64) (shares []float64, below, above int64) {
	shares = make([]float64, bars)
	wide := (hi - lo) / bars
	per := 100 / float64(h.TotalCount())
	for _, cell := range h.Distribution() {
		if cell.Count == 0 {
			continue
		}
		from, to := float64(cell.From), float64(cell.To)+1
		switch {
		case to <= lo:
			below += cell.Count
			continue
		case from > hi:
			above += cell.Count
			continue
		}
		from, to = math.Max(from, lo), math.Min(to, hi)
		if to <= from { // the last cell begins at the edge
			shares[bars-1] += per * float64(cell.Count)
			continue
		}
		first := min(int((from-lo)/wide), bars-1)
		for i := first; i < bars && lo+float64(i)*wide < to; i++ {
			overlap := math.Min(to, lo+float64(i+1)*wide) - math.Max(from, lo+float64(i)*wide)
			shares[i] += per * float64(cell.Count) * math.Max(overlap, 0) / (to - from)
		}
	}
	return shares, below, above
}

// barsOf draws shares as bars side by side from lo to hi.
type barsOf struct {
	lo, hi float64
	shares []float64
}

func (b *barsOf) Plot(c draw.Canvas, p *plot.Plot) {
	x, y := p.Transforms(&c)
	wide := (b.hi - b.lo) / float64(len(b.shares))
	for i, s := range b.shares {
		if s == 0 {
			continue
		}
		r := vg.Rectangle{
			Min: vg.Point{X: x(b.lo+float64(i)*wide) + 0.4, Y: y(0)},
			Max: vg.Point{X: x(b.lo+float64(i+1)*wide) - 0.4, Y: y(s)},
		}
		c.SetColor(blue)
		c.Fill(r.Path())
	}
}

// mark is a named value.
type mark struct {
	value float64
	name  string
}

// percentileMarks draws a vertical line at each value with its name. Each name has a row of
// its own, so that names do not overlap, and a white background, so that lines do not cross
// it.
type percentileMarks struct{ marks []mark }

func (m *percentileMarks) Plot(c draw.Canvas, p *plot.Plot) {
	x, _ := p.Transforms(&c)
	s := style(textSize, black)
	s.YAlign = draw.YCenter
	for _, k := range m.marks {
		at := x(k.value)
		c.StrokeLine2(draw.LineStyle{Color: orange, Width: 1, Dashes: []vg.Length{3, 2}}, at, c.Min.Y, at, c.Max.Y)
	}
	for i, k := range m.marks {
		high := s.Font.Size * 1.4
		box := vg.Rectangle{Min: vg.Point{X: x(k.value) + 3, Y: c.Max.Y - 2 - high*vg.Length(i+1)}}
		wide := s.Width(k.name) + 4
		if box.Min.X+wide > c.Max.X {
			box.Min.X = x(k.value) - 3 - wide
		}
		box.Max = box.Min.Add(vg.Point{X: wide, Y: high})
		c.SetColor(color.White)
		c.Fill(box.Path())
		c.FillText(s, vg.Point{X: box.Min.X + 2, Y: box.Min.Y + high/2}, k.name)
	}
}
