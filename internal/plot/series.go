package plot

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// MaxSeries is how many series of one chart can be told apart.
const MaxSeries = 8

// hue is the colour of a series. Yellow, which white swallows, is left out; a grey takes
// its place.
func hue(i int) color.Color {
	return [MaxSeries]color.Color{
		blue, orange, green, purple,
		color.RGBA{0xe6, 0x9f, 0x00, 0xff},
		color.RGBA{0x56, 0xb4, 0xe9, 0xff},
		black,
		color.RGBA{0x88, 0x88, 0x88, 0xff},
	}[i%MaxSeries]
}

// stroke is the line of a series: series differ in their dashes too.
func stroke(i int) draw.LineStyle {
	dashes := [MaxSeries][]vg.Length{nil, {6, 2}, {2, 2}, {8, 2, 2, 2}, {12, 3}, {4, 4}, {1, 1.5}, {8, 2, 2, 2, 2, 2}}
	return line(hue(i), dashes[i%MaxSeries]...)
}

// series is the dot of a series: series differ in shape too, so that they survive a
// print without colour.
func series(i int) draw.GlyphStyle {
	shapes := [MaxSeries]draw.GlyphDrawer{
		draw.CircleGlyph{},
		draw.BoxGlyph{},
		draw.PyramidGlyph{},
		draw.CrossGlyph{},
		draw.RingGlyph{},
		draw.SquareGlyph{},
		draw.TriangleGlyph{},
		draw.PlusGlyph{},
	}
	return draw.GlyphStyle{Color: hue(i), Radius: 3, Shape: shapes[i%MaxSeries]}
}

// hollow is the dot of a series whose points no line joins.
func hollow(i int) draw.GlyphStyle {
	shapes := []draw.GlyphDrawer{draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PlusGlyph{}}
	return draw.GlyphStyle{Color: hue(i), Radius: 3.5, Shape: shapes[i%len(shapes)]}
}
