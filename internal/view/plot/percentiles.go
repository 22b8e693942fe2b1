package plot

import (
	"fmt"
	"io"
	"math"
	"strconv"

	"github.com/HdrHistogram/hdrhistogram-go"
	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"

	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
)

// ticksPerHalf is the number of points of a line each time that the share of operations
// above it halves.
const ticksPerHalf = 10

// Percentiles draws latency by percentile. The horizontal axis is that of HdrHistogram: 90,
// 99, 99.9 and so on are equally spaced. If the record is of an open loop, there are three
// lines: the service time, the response time and the wait. Percentiles writes nothing if
// the record has no latencies.
func Percentiles(w io.Writer, f Format, rec *record.Record) error {
	type curve struct {
		key keyed
		h   *hdrhistogram.Histogram
	}
	var curves []curve
	most, right, count := 0.0, 1.0, int64(0)
	for _, c := range []struct{ histogram, name string }{
		{record.HistResponse, "response, from the intended start"},
		{record.HistLatency, "service, from the actual start"},
		{record.HistWait, "wait"},
	} {
		h, err := histogram(rec, c.histogram)
		if err != nil {
			return err
		}
		if h == nil {
			continue
		}
		look := map[string]draw.LineStyle{
			record.HistResponse: line(orange), record.HistLatency: line(blue, 6, 2), record.HistWait: line(green, 2, 2),
		}[c.histogram]
		if c.histogram == record.HistLatency && len(curves) == 0 {
			look = line(blue) // alone
		}
		curves = append(curves, curve{keyed{name: c.name, style: look}, h})
		most, count = math.Max(most, float64(h.Max())), max(count, h.TotalCount())
		right = math.Max(right, nines(1-0.5/float64(h.TotalCount())))
	}
	if len(curves) == 0 {
		return nil
	}
	unit := format.Fitting("ns", most)
	t := newTile(1, "latency ("+unit.Name+")")
	t.Add(grid())
	for _, c := range curves {
		l, err := plotter.NewLine(quantiles(c.h, unit))
		if err != nil {
			return fmt.Errorf("%s: %w", c.key.name, err)
		}
		l.LineStyle = c.key.style
		t.Add(l)
		t.key = append(t.key, c.key)
	}
	t.X.Label.Text = "percentile (%)"
	t.X.Min, t.X.Max, t.X.Tick.Marker = 0, right, percentileTicks(right)
	fromZero(&t.Y, most/unit.Size, 6)

	drawing := newFigure(rec, "latency by percentile", 300)
	drawing.notes = append(drawing.notes, fmt.Sprintf("%d operations", count))
	drawing.tiles = []*tile{t}
	return drawing.write(w, f)
}

// nines returns the position of quantile q, from 0 to below 1, on the axis: the number of
// nines that q has.
func nines(q float64) float64 { return -math.Log10(1 - q) }

// quantiles returns the points of a line. The maximum of n values is drawn at quantile
// 1 - 1/2n, because the axis has no quantile 1.
func quantiles(h *hdrhistogram.Histogram, unit format.Unit) plotter.XYs {
	last := 1 - 0.5/float64(h.TotalCount())
	var points plotter.XYs
	for _, b := range h.CumulativeDistributionWithTicks(ticksPerHalf) {
		points = append(points, plotter.XY{X: nines(math.Min(b.Quantile/100, last)), Y: float64(b.ValueAt) / unit.Size})
	}
	return points
}

// percentileTicks returns ticks at 0, 50, 90, 99, 99.9 and so on, and labels the end "max"
// if there is room.
func percentileTicks(right float64) plot.ConstantTicks {
	ticks := plot.ConstantTicks{{Value: 0, Label: "0"}, {Value: nines(0.5), Label: "50"}}
	for n := 1; float64(n) <= right; n++ {
		q := 100 - 100*math.Pow(10, -float64(n))
		ticks = append(ticks, plot.Tick{Value: float64(n), Label: strconv.FormatFloat(q, 'f', max(n-2, 0), 64)})
	}
	if right-math.Floor(right) > 0.25 {
		ticks = append(ticks, plot.Tick{Value: right, Label: "max"})
	}
	return ticks
}
