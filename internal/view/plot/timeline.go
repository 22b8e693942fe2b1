package plot

import (
	"fmt"
	"io"
	"math"

	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"

	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
)

// shown is a series in a tile of the timeline.
type shown struct {
	quantity record.Quantity
	label    string
	style    draw.LineStyle
	fill     bool
}

// strip is a tile of the timeline: series that share a unit.
type strip struct {
	height float64
	series []shown
}

func strips() []strip {
	return []strip{
		{1.2, []shown{
			{record.Throughput, "throughput", line(blue), true},
			{record.Errors, "errors", line(orange, 8, 2), false},
		}},
		{1.2, []shown{
			{record.LatencyP50, "service P50", line(blue), false},
			{record.LatencyP99, "service P99", line(orange, 8, 2), false},
			{record.ResponseP99, "response P99", line(green, 2, 2), false},
		}},
		{0.7, []shown{{record.Backlog, "operations that wait for a worker", line(purple), false}}},
		{0.7, []shown{{record.GCCPUShare, "garbage collection, share of processor time", line(green), false}}},
		{0.7, []shown{
			{record.RSS, "resident set", line(blue), false},
			{record.HeapLive, "heap live", line(orange, 8, 2), false},
		}},
	}
}

// Timeline draws the record's series over the window on one time axis: throughput and
// errors, latencies, waiting operations, garbage collection and memory. A value applies to
// its whole interval. The line of a latency has a gap at each interval in which no
// operation ended. Timeline writes nothing if the record has no series.
func Timeline(w io.Writer, f Format, rec *record.Record) error {
	end := rec.Value(record.Duration)
	if end <= 0 {
		for _, s := range rec.Series {
			end = math.Max(end, float64(len(s.Values))*s.Interval.Seconds())
		}
	}
	var tiles []*tile
	height := vg.Length(75) // head and time axis
	for _, s := range strips() {
		t, err := s.tile(rec, end)
		if err != nil {
			return err
		}
		if t != nil {
			tiles = append(tiles, t)
			height += keyHeight + 80*vg.Length(t.height)
		}
	}
	if len(tiles) == 0 {
		return nil
	}
	ticks := marks(0, end, step(end, 10))
	for i, t := range tiles {
		t.X.Min, t.X.Max, t.X.Tick.Marker = 0, end, ticks
		if i < len(tiles)-1 { // grid lines without labels
			t.X.Tick.Marker = unlabelled(ticks)
			t.X.Tick.Label.Font.Size, t.X.Tick.Length = 1, 0
		}
	}
	tiles[len(tiles)-1].X.Label.Text = "time since the window opened (s)"

	drawing := newFigure(rec, "timeline of the window", height)
	drawing.tiles = tiles
	return drawing.write(w, f)
}

// tile returns a tile with the strip's series that the record has, in a window that is end
// seconds long. It returns nil if the record has none of them.
func (s strip) tile(rec *record.Record, end float64) (*tile, error) {
	var found []record.Series
	most := 0.0
	for _, shown := range s.series {
		series, ok := rec.SeriesOf(shown.quantity)
		if !ok || len(series.Values) == 0 || series.Interval <= 0 {
			series = record.Series{}
		}
		found = append(found, series)
		for _, v := range series.Values {
			most = math.Max(most, v)
		}
	}
	var t *tile
	var unit format.Unit
	for i, series := range found {
		if len(series.Values) == 0 {
			continue
		}
		if t == nil {
			unit = format.Fitting(series.Unit, most)
			t = newTile(s.height, unit.Name)
			t.Add(grid())
		}
		gaps := series.Unit == "ns"
		for _, run := range runs(series, unit, end, gaps) {
			l, err := plotter.NewLine(run)
			if err != nil {
				return nil, fmt.Errorf("series %s: %w", series.Name, err)
			}
			l.LineStyle = s.series[i].style
			if s.series[i].fill {
				l.FillColor = tint
			}
			t.Add(l)
		}
		t.key = append(t.key, keyed{name: s.series[i].label, style: s.series[i].style})
	}
	if t != nil {
		fromZero(&t.Y, most/unit.Size, max(int(5*s.height), 3))
	}
	return t, nil
}

// runs returns the lines of a series: for each interval two points with its value, one at its
// beginning and one at its end. The window's end cuts the last interval. If gaps is set, a
// zero ends a line, because no operation in the interval had a latency.
func runs(s record.Series, unit format.Unit, end float64, gaps bool) []plotter.XYs {
	var all []plotter.XYs
	var run plotter.XYs
	for i, v := range s.Values {
		if gaps && v == 0 {
			if run != nil {
				all, run = append(all, run), nil
			}
			continue
		}
		from, to := float64(i)*s.Interval.Seconds(), math.Min(float64(i+1)*s.Interval.Seconds(), end)
		if from < end {
			y := max(v, 0) / unit.Size // the axis begins at 0; a negative value in a file must not go below it
			run = append(run, plotter.XY{X: from, Y: y}, plotter.XY{X: to, Y: y})
		}
	}
	if run != nil {
		all = append(all, run)
	}
	return all
}
