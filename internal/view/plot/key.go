package plot

import (
	"image/color"

	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// Sizes of a key, in points.
const (
	keyHeight = vg.Length(16) // of a row
	keySample = vg.Length(18)
	keyGap    = vg.Length(4)
)

// placedKey is a name of a key, cut to the available width, with its position.
type placedKey struct {
	keyed
	x   vg.Length // from the left of the data
	row int
}

func (k *keyed) hasSample() bool { return k.style.Width > 0 || k.glyph.Shape != nil }

// placeKey places the names of the tile's lines in rows of width room.
func (t *tile) placeKey(room vg.Length) []placedKey {
	s := style(textSize, black)
	var placed []placedKey
	x, row := vg.Length(0), 0
	for _, k := range t.key {
		sample := vg.Length(0)
		if k.hasSample() {
			sample = keySample + keyGap
		}
		k.name = cut(s, k.name, room-sample)
		if x > 0 && x+sample+s.Width(k.name) > room {
			x, row = 0, row+1
		}
		placed = append(placed, placedKey{k, x, row})
		x += sample + s.Width(k.name) + 4*keyGap
	}
	return placed
}

// keyRoom returns the height of the tile's key for rows of width room.
func (t *tile) keyRoom(room vg.Length) vg.Length {
	placed := t.placeKey(room)
	if len(placed) == 0 {
		return 0
	}
	return keyHeight * vg.Length(placed[len(placed)-1].row+1)
}

// drawKey draws the tile's key at the top of c, from x on.
func (t *tile) drawKey(c draw.Canvas, x vg.Length) {
	s := style(textSize, black)
	s.YAlign = draw.YCenter
	for _, k := range t.placeKey(c.Max.X - x) {
		at := vg.Point{X: x + k.x, Y: c.Max.Y - keyHeight*(vg.Length(k.row)+0.5)}
		if k.style.Width > 0 {
			c.StrokeLine2(k.style, at.X, at.Y, at.X+keySample, at.Y)
		}
		if k.glyph.Shape != nil {
			c.DrawGlyph(k.glyph, vg.Point{X: at.X + keySample/2, Y: at.Y})
		}
		if k.hasSample() {
			at.X += keySample + keyGap
		}
		c.FillText(s, at, k.name)
	}
}

// MaxSeries is the maximum number of series of one chart that can be distinguished.
const MaxSeries = 8

// hue returns the colour of a series. Grey replaces the yellow of the palette, which is hard to
// see on white.
func hue(i int) color.Color {
	return [MaxSeries]color.Color{
		blue, orange, green, purple,
		color.RGBA{0xe6, 0x9f, 0x00, 0xff},
		color.RGBA{0x56, 0xb4, 0xe9, 0xff},
		black,
		color.RGBA{0x88, 0x88, 0x88, 0xff},
	}[i%MaxSeries]
}

// stroke returns the line style of a series. Series also differ in their dashes.
func stroke(i int) draw.LineStyle {
	dashes := [MaxSeries][]vg.Length{nil, {6, 2}, {2, 2}, {8, 2, 2, 2}, {12, 3}, {4, 4}, {1, 1.5}, {8, 2, 2, 2, 2, 2}}
	return line(hue(i), dashes[i%MaxSeries]...)
}

// series returns the dot of a series. Series also differ in shape, so that they can be
// distinguished without colour.
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

// hollow returns the dot of a series whose points are not joined by a line.
func hollow(i int) draw.GlyphStyle {
	shapes := []draw.GlyphDrawer{draw.RingGlyph{}, draw.SquareGlyph{}, draw.TriangleGlyph{}, draw.PlusGlyph{}}
	return draw.GlyphStyle{Color: hue(i), Radius: 3.5, Shape: shapes[i%len(shapes)]}
}
