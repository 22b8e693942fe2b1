package plot

import (
	"io"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgpdf"
)

// Sizes of a document's page, which is A4 (ISO 216), in points.
const (
	pageWidth  = vg.Length(595.28)
	pageHeight = vg.Length(841.89)
	pageMargin = vg.Length(40) // above and below
	pageMost   = 2             // maximum number of figures on a page
)

// Document writes the figures as one PDF, in order, with two on a page if both fit. It scales
// down a figure that is taller than a page. It leaves out figures without values, and writes
// nothing if no figure has values.
func Document(w io.Writer, figures ...Figure) error {
	var canvas *pdf
	var top vg.Length // top of the free part of the page
	drawn := 0        // figures on the page
	for _, f := range figures {
		l := f.layout()
		if l == nil {
			continue
		}
		scale := min(1, (pageHeight-2*pageMargin)/l.height)
		height := scale * l.height
		switch {
		case canvas == nil:
			canvas = newPDF(pageWidth, pageHeight)
			top, drawn = pageHeight-pageMargin, 0
		case drawn == pageMost || top-height < pageMargin-1e-6:
			canvas.NextPage()
			top, drawn = pageHeight-pageMargin, 0
		}
		top -= height
		drawn++
		canvas.Push()
		canvas.Translate(vg.Point{X: (pageWidth - scale*width) / 2, Y: top})
		canvas.Scale(float64(scale), float64(scale))
		l.draw(draw.NewCanvas(canvas, width, l.height))
		canvas.Pop()
	}
	if canvas == nil {
		return nil
	}
	return finish(w, canvas, PDF)
}

// pdf is a PDF canvas that encodes texts in the code page of vgpdf's fonts. vgpdf itself does not
// encode them.
type pdf struct{ *vgpdf.Canvas }

func newPDF(width, height vg.Length) *pdf { return &pdf{vgpdf.New(width, height)} }

// FillString implements vg.Canvas.
func (c *pdf) FillString(f font.Face, at vg.Point, s string) { c.Canvas.FillString(f, at, cp1252(s)) }

// cp1252 encodes a text in Windows code page 1252. Characters that it cannot encode become
// question marks. From 0x80 to 0x9f, where the code page differs from Unicode, it knows only
// the characters that texts of figures may need.
func cp1252(s string) string {
	var b strings.Builder
	for _, r := range s {
		if special, ok := map[rune]byte{'€': 0x80, '…': 0x85, '‘': 0x91, '’': 0x92, '“': 0x93, '”': 0x94, '•': 0x95, '–': 0x96, '—': 0x97}[r]; ok {
			b.WriteByte(special)
		} else if r < 0x80 || r >= 0xa0 && r <= 0xff {
			b.WriteByte(byte(r))
		} else {
			b.WriteByte('?')
		}
	}
	return b.String()
}
