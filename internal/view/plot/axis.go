package plot

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/vg/draw"

	"github.com/zkbench/zkbench/internal/result/format"
)

// label formats v with three significant figures and its unit.
func label(u format.Unit, v float64) string { return format.Significant(v/u.Size, 3, 6) + " " + u.Name }

// step returns 1, 2 or 5 times a power of ten, so that at most n steps fit into span.
func step(span float64, n int) float64 {
	if span <= 0 || math.IsInf(span, 0) || math.IsNaN(span) {
		return 1
	}
	raw := span / float64(n)
	power := math.Pow(10, math.Floor(math.Log10(raw)))
	for _, m := range []float64{1, 2, 5} {
		if raw <= m*power*(1+1e-9) {
			return m * power
		}
	}
	return 10 * power
}

// marks returns labelled ticks at the multiples of by from lo to hi.
func marks(lo, hi, by float64) plot.ConstantTicks {
	format, digits := byte('f'), max(0, -int(math.Floor(math.Log10(by)+1e-9)))
	if by < 1e-4 || by > 1e6 { // longer labels would leave no room for the data
		format, digits = 'g', 4
	}
	var ticks plot.ConstantTicks
	for i := math.Ceil(lo/by - 1e-9); i <= math.Floor(hi/by+1e-9); i++ {
		v := i*by + 0 // never -0
		ticks = append(ticks, plot.Tick{Value: v, Label: strconv.FormatFloat(v, format, digits, 64)})
	}
	return ticks
}

// fromZero sets an axis from 0 to the first tick at or above most, with about n ticks.
func fromZero(a *plot.Axis, most float64, n int) {
	if most <= 0 {
		most = 1
	}
	by := step(most, n)
	a.Min, a.Max = 0, by*math.Ceil(most/by-1e-9)
	a.Tick.Marker = marks(a.Min, a.Max, by)
}

// nameAxis sets an axis of names, at 0, 1, 2, ... if direction is +1, or 0, -1, -2, ... if it is -1.
func nameAxis(a *plot.Axis, all []string, direction float64) {
	const room = width * 0.45
	var ticks plot.ConstantTicks
	for i, name := range all {
		ticks = append(ticks, plot.Tick{Value: direction * float64(i), Label: cut(style(textSize, black), printable(name), room)})
	}
	first, last := -0.5*direction, direction*(float64(len(all))-0.5)
	a.Min, a.Max = min(first, last), max(first, last)
	a.Tick.Marker, a.Tick.Length = ticks, 0
}

// grid returns a grid of thin lines at the labelled ticks.
func grid() *plotter.Grid {
	g := plotter.NewGrid()
	g.Horizontal = draw.LineStyle{Color: light, Width: 0.5}
	g.Vertical = g.Horizontal
	return g
}

// unlabelled returns the ticks without labels, which keeps the lines of the grid.
func unlabelled(ticks plot.ConstantTicks) plot.ConstantTicks {
	bare := make(plot.ConstantTicks, len(ticks))
	for i, t := range ticks {
		bare[i] = plot.Tick{Value: t.Value, Label: " "}
	}
	return bare
}
