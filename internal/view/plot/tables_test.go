package plot_test

import (
	"math"
	"slices"
	"strconv"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/plottest"
	"github.com/zkbench/zkbench/internal/view/plot"
)

// luminance returns the relative luminance of a colour #rrggbb.
func luminance(t *testing.T, colour string) (sum float64) {
	t.Helper()
	for i, weight := range []float64{0.2126, 0.7152, 0.0722} {
		v := must.Get(strconv.ParseUint(colour[1+2*i:3+2*i], 16, 8))(t)
		sum += weight * math.Pow(float64(v)/255, 2.2)
	}
	return sum
}

// TestHeat: a greater value is darker, in every table by the same scale; each is written in
// its cell, and a cell that was not measured has neither.
func TestHeat(t *testing.T) {
	h := &plot.Heat{Title: "Cost", X: "outputs", Y: "inputs", Tiles: []plot.HeatTile{
		{Name: "32 bits", Rows: []string{"1", "2"}, Columns: []string{"1", "2", "3"}, Values: [][]float64{{1, 2, 4}, {8, 0, math.NaN()}}},
		{Name: "64 bits", Rows: []string{"1"}, Columns: []string{"1"}, Values: [][]float64{{16}}},
	}}
	d := drawn(t, h)
	wantTexts(t, d, "Cost", "outputs", "inputs", "32 bits", "64 bits", "1.00", "2.00", "4.00", "8.00", "16.0")
	const paper = "#FFFFFF"
	var shades []float64
	for colour, cells := range d.Fills {
		if colour != paper {
			golden.Equal(t, "cells of colour "+colour, 1, len(cells))
			shades = append(shades, luminance(t, colour))
		}
	}
	if len(shades) != 5 {
		t.Fatalf("%d shades, want one for each of five values", len(shades))
	}
	slices.Sort(shades)
	if shades[4] > 0.85 || shades[0] > 0.1 {
		t.Errorf("luminances from %v to %v: too close to paper, or not dark", shades[4], shades[0])
	}
	golden.Equal(t, "outlines, one for each of 7 cells", 7, len(d.Lines["#DDDDDD"]))
	// The darkest cell stands alone, the next is in the first table below the lightest.
	byLuminance := func(i int) plottest.Path {
		for colour, cells := range d.Fills {
			if colour != paper && luminance(t, colour) == shades[i] {
				return cells[0]
			}
		}
		return nil
	}
	one, eight, sixteen := byLuminance(4), byLuminance(1), byLuminance(0)
	if !(eight[0][1] < one[0][1] && eight[0][0] == one[0][0] && sixteen[0][0] > eight[0][0]) {
		t.Errorf("1 at %v, 8 at %v, 16 at %v", one[0], eight[0], sixteen[0])
	}
}

// TestBars: bars begin in one column and are as long as their values, which stand after
// them; groups share the axis.
func TestBars(t *testing.T) {
	b := &plot.Bars{Title: "Sizes", Notes: []string{"exact"}, Unit: "B", Groups: []plot.BarGroup{
		{Name: "transfer", Rows: []plot.Bar{{"32 bits", 700}, {"64 bits", 1400}, {"none", math.NaN()}}},
		{Name: "issue", Rows: []plot.Bar{{"a longer name", 350}}},
	}}
	d := drawn(t, b)
	wantTexts(t, d, "Sizes", "exact", "B", "transfer", "issue", "32 bits", "64 bits", "none", "a longer name", "700", "1400", "350")
	bars := d.Fills[blue]
	if len(bars) != 3 {
		t.Fatalf("%d bars, want 3", len(bars))
	}
	long := func(p plottest.Path) float64 { return p[1][0] - p[0][0] }
	for i, want := range []float64{700, 1400, 350} {
		if bars[i][0][0] != bars[0][0][0] || math.Abs(long(bars[i])/long(bars[0])-want/700) > 1e-3 {
			t.Errorf("bar %d goes from %v by %v, the first from %v by %v", i, bars[i][0][0], long(bars[i]), bars[0][0][0], long(bars[0]))
		}
	}
	for _, text := range boxes(t, b) {
		if text.right > 504 {
			t.Errorf("%q ends at %v", text.text, text.right)
		}
	}
}
