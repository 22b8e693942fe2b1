package plot

import (
	"math"
	"strings"
	"unicode"

	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// labels draws texts beside points. Each text is placed so that it covers no point and no
// other text, and crosses as few lines as possible. If it is not next to its point, a thin
// line connects them.
type labels struct {
	points []vg.Point
	texts  []string     // one for each point; may be empty
	lines  [][]vg.Point // of the chart, each through its points
}

func (l *labels) add(at vg.Point, text string) {
	l.points, l.texts = append(l.points, at), append(l.texts, text)
}

// Distances in points.
const (
	labelNear = vg.Length(5)   // from a point to its text
	labelDot  = vg.Length(3.5) // half the width of a point
)

func (l *labels) draw(c draw.Canvas) {
	s := style(textSize-1, black)
	s.XAlign, s.YAlign = draw.XCenter, draw.YCenter
	var placed []vg.Rectangle
	for i, text := range l.texts {
		if text == "" {
			continue
		}
		size := vg.Point{X: s.Width(text) + 2, Y: s.Font.Size + 1}
		best, cost, apart := vg.Rectangle{}, math.Inf(1), false
		for ring, distance := range []vg.Length{labelNear, 3 * labelNear, 5 * labelNear} {
			for _, way := range []vg.Point{{X: 1}, {X: 1, Y: 1}, {X: 1, Y: -1}, {Y: 1}, {Y: -1}, {X: -1, Y: 1}, {X: -1, Y: -1}, {X: -1}} {
				middle := l.points[i].Add(vg.Point{X: way.X * (distance + size.X/2), Y: way.Y * (distance + size.Y/2)})
				box := vg.Rectangle{Min: middle.Sub(size.Scale(0.5)), Max: middle.Add(size.Scale(0.5))}
				if now := l.cost(box, c.Rectangle, placed) + 2*float64(ring); now < cost {
					best, cost, apart = box, now, ring > 0
				}
			}
		}
		placed = append(placed, best)
		middle := best.Min.Add(best.Max).Scale(0.5)
		if apart {
			lead := c.ClipLinesXY([]vg.Point{l.points[i], nearest(best, l.points[i])})
			c.StrokeLines(draw.LineStyle{Color: grey, Width: 0.4}, lead...)
		}
		c.FillText(s, middle, text)
	}
}

// cost returns how bad a text in the box would be. Leaving the area is worst, then covering
// another text, then covering a point, then crossing a line.
func (l *labels) cost(box, area vg.Rectangle, placed []vg.Rectangle) (cost float64) {
	if box.Min.X < area.Min.X || box.Min.Y < area.Min.Y || box.Max.X > area.Max.X || box.Max.Y > area.Max.Y {
		cost += 1e6
	}
	for _, other := range placed {
		if box.Min.X < other.Max.X && other.Min.X < box.Max.X && box.Min.Y < other.Max.Y && other.Min.Y < box.Max.Y {
			cost += 1e3
		}
	}
	for _, p := range l.points {
		if q := nearest(box, p); math.Abs(float64(q.X-p.X)) < float64(labelDot) && math.Abs(float64(q.Y-p.Y)) < float64(labelDot) {
			cost += 100
		}
	}
	for _, line := range l.lines {
		for i := range len(line) - 1 {
			if crosses(box, line[i], line[i+1]) {
				cost++
			}
		}
	}
	return cost
}

// nearest returns the point of a box that is nearest to p.
func nearest(box vg.Rectangle, p vg.Point) vg.Point {
	return vg.Point{X: min(max(p.X, box.Min.X), box.Max.X), Y: min(max(p.Y, box.Min.Y), box.Max.Y)}
}

// crosses reports whether the line from a to b has a part within the box (Liang and Barsky,
// "A New Concept and Method for Line Clipping", 1984).
func crosses(box vg.Rectangle, a, b vg.Point) bool {
	from, to := 0.0, 1.0
	for _, side := range [4][2]vg.Length{
		{a.X - b.X, a.X - box.Min.X}, {b.X - a.X, box.Max.X - a.X}, {a.Y - b.Y, a.Y - box.Min.Y}, {b.Y - a.Y, box.Max.Y - a.Y},
	} {
		p, q := float64(side[0]), float64(side[1])
		switch {
		case p < 0:
			from = max(from, q/p)
		case p > 0:
			to = min(to, q/p)
		case q < 0:
			return false
		}
	}
	return from < to
}

// printable replaces characters that are not printable, some of which XML does not allow.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return '?'
	}, s)
}

// wrap breaks text between words into lines that are no wider than room. A longer word gets
// a line of its own and is cut.
func wrap(s text.Style, words string, room vg.Length) []string {
	var lines []string
	current := ""
	for word := range strings.FieldsSeq(words) {
		if longer := strings.TrimSpace(current + " " + word); current == "" || s.Width(longer) <= room {
			current = longer
			continue
		}
		lines = append(lines, cut(s, current, room))
		current = word
	}
	if current != "" {
		lines = append(lines, cut(s, current, room))
	}
	return lines
}

// cut shortens a text to the width room, with an ellipsis at its end.
func cut(s text.Style, line string, room vg.Length) string {
	if s.Width(line) <= room {
		return line
	}
	runes := []rune(line)
	least, most := 0, len(runes)-1 // runes that are kept
	for least < most {
		middle := (least + most + 1) / 2
		if s.Width(string(runes[:middle])+"…") <= room {
			least = middle
		} else {
			most = middle - 1
		}
	}
	return string(runes[:least]) + "…"
}
