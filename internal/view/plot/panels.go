package plot

import (
	"maps"
	"math"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
)

// Panels is a chart of several small Curves side by side, for figures that have the same series. Panels share one key
// above them. A panel shows its own title, and labels of its axes have prefixes, such as 10k for 10000. Notes and Marks
// of a panel are not drawn.
type Panels struct {
	Title  string
	Notes  []string
	Panels []Curves // with the same Lines in the same order; a line may have no points in some panels
}

const (
	panelColumns = 2
	panelHeight  = vg.Length(165)
	// panelTicks is the number of labels for which an axis of a panel has room.
	panelTicks = 6
)

func (p *Panels) layout() *drawing {
	f := &drawing{title: p.Title, notes: p.Notes, columns: panelColumns}
	key := make(map[int]keyed) // by line
	for i := range p.Panels {
		c := &p.Panels[i]
		t := c.tile()
		if t == nil {
			continue
		}
		for _, a := range []*plot.Axis{&t.X, &t.Y} {
			if !c.Linear {
				a.Tick.Marker = prefixed(a.Tick.Marker.(plot.ConstantTicks))
			}
		}
		c.each(func(line int, _ *Curve, _ []Point) { key[line] = c.keyed(line) })
		t.key = []keyed{{name: printable(c.Title)}}
		f.tiles = append(f.tiles, t)
	}
	if len(f.tiles) == 0 {
		return nil
	}
	for _, line := range slices.Sorted(maps.Keys(key)) {
		f.key = append(f.key, key[line])
	}
	rows := (len(f.tiles) + panelColumns - 1) / panelColumns
	f.height = panelHeight*vg.Length(rows) + 45 + 12*vg.Length(len(p.Notes)) + f.keyRoom()
	return f
}

// prefixed labels the powers of ten among logarithmic ticks with decimal prefixes, and leaves out labels for which a
// panel has no room.
func prefixed(ticks plot.ConstantTicks) plot.ConstantTicks {
	powers := 0
	for _, t := range ticks {
		if isPower(t.Value) {
			powers++
		}
	}
	all := len(ticks) <= panelTicks // label what is between powers of ten too
	every := (powers + panelTicks - 1) / panelTicks
	labelled := make(plot.ConstantTicks, len(ticks))
	power := 0
	for i, t := range ticks {
		labelled[i] = plot.Tick{Value: t.Value, Label: " "}
		if isPower(t.Value) {
			power++
		}
		if all || isPower(t.Value) && (power-1)%every == 0 {
			labelled[i].Label = withPrefix(math.Pow(10, t.Value))
		}
	}
	return labelled
}

// isPower reports whether the logarithm of a tick is that of a power of ten.
func isPower(log float64) bool { return math.Abs(log-math.Round(log)) < 1e-9 }

// withPrefix formats a tick with a decimal prefix from 10000 on: 10k, 3M. Ticks that would be too wide for a panel have an
// exponent.
func withPrefix(v float64) string {
	if v >= 1e13 || v < 1e-6 {
		return strconv.FormatFloat(v, 'e', 0, 64)
	}
	prefix := ""
	for _, p := range []struct {
		name string
		size float64
	}{{"G", 1e9}, {"M", 1e6}, {"k", 1e3}} {
		if v >= 0.999*p.size && v >= 9999 {
			v, prefix = v/p.size, p.name
			break
		}
	}
	return strconv.FormatFloat(math.Round(v*1e9)/1e9, 'f', -1, 64) + prefix
}
