package plot

import (
	"io"
	"strings"

	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgpdf"
)

// A page of a document is A4 (ISO 216), in points.
const (
	pageWidth  = vg.Length(595.28)
	pageHeight = vg.Length(841.89)
	pageMargin = vg.Length(40) // above and below
	pageMost   = 2             // figures on a page
)

// Document writes the figures as one PDF, in their order, two on a page where both fit.
// One that is taller than a page is drawn smaller. Without a figure that has values
// nothing is written.
func Document(w io.Writer, figures ...Figure) error {
	var canvas *pdf
	var top vg.Length // of what is left of the page
	drawn := 0        // on the page
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

// pdf writes texts in the code page that vgpdf tells its fonts of, which it takes for
// the encoding of what it is given.
type pdf struct{ *vgpdf.Canvas }

func newPDF(width, height vg.Length) *pdf { return &pdf{vgpdf.New(width, height)} }

// FillString implements vg.Canvas.
func (c *pdf) FillString(f font.Face, at vg.Point, s string) { c.Canvas.FillString(f, at, cp1252(s)) }

// cp1252 encodes a text in Windows' code page 1252; a character that it does not have
// becomes a question mark. From 0x80 to 0x9f, where it differs from Unicode, it has those
// that texts of figures may need.
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
