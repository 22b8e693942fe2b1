package charts

import (
	"cmp"
	"slices"
	"strconv"

	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/view/plot"
)

// maxTiles bounds the tables of a chart.
const maxTiles = 12

// costs draws the mean time of an operation by inputs and outputs: under the serial
// executor where that was measured, with the fewest CPUs and workers.
func (a *album) costs(g *group) {
	cells := slices.DeleteFunc(slices.Clone(g.loads), func(c *cell) bool {
		return len(only(c.axes, bitsKey, inKey, outKey)) < 3 || len(c.values(record.LatencyMean, 1)) == 0
	})
	if len(cells) == 0 {
		return
	}
	measured := len(record.Lines(cells, (*cell).coordinates, execKey, workersKey))
	exec := value(cells[0], execKey)
	if slices.ContainsFunc(cells, func(c *cell) bool { return value(c, execKey) == "serial" }) {
		exec = "serial"
	}
	cells = slices.DeleteFunc(cells, func(c *cell) bool { return value(c, execKey) != exec })
	cells = fewest(cells, func(c *cell) int { return c.cpus })
	cells = fewest(cells, func(c *cell) int { return number(value(c, workersKey)) })

	differ, same := keys(cells, (*cell).coordinates)
	inputs, outputs := values(cells, inKey), values(cells, outKey)
	if len(inputs) < 2 && len(outputs) < 2 {
		return
	}
	apart := []string{bitsKey, proofKey}
	for _, key := range differ {
		if !slices.Contains([]string{bitsKey, proofKey, inKey, outKey}, key) {
			apart = append(apart, key)
		}
	}
	same = slices.DeleteFunc(same, func(key string) bool { return slices.Contains([]string{bitsKey, proofKey, inKey, outKey}, key) })
	common := append(only(cells[0].axes, same...), record.Axis{Key: cpusKey, Value: strconv.Itoa(cells[0].cpus)})
	var tiles []plot.HeatTile
	for _, t := range record.Lines(cells, (*cell).coordinates, inKey, outKey) {
		tile := plot.HeatTile{Name: words(only(t.Axes, apart...)), Rows: inputs, Columns: outputs}
		for range inputs {
			tile.Values = append(tile.Values, make([]float64, len(outputs)))
		}
		for _, c := range t.Cases {
			in, out := slices.Index(inputs, value(c, inKey)), slices.Index(outputs, value(c, outKey))
			tile.Values[in][out] = stat.Median(c.values(record.LatencyMean, nsPerMs))
		}
		tiles = append(tiles, tile)
	}
	title := g.title("mean time by inputs and outputs (ms)", nil)
	notes := append(g.notes(common, cells, ""), "darker is slower; equal ratios are equal steps")
	if left := measured - len(record.Lines(cells, (*cell).coordinates, execKey, workersKey)); left > 0 {
		notes = append(notes, format.Plural(left, "case")+" left out: measured with another executor or more CPUs or workers only")
	}
	charts := slices.Collect(slices.Chunk(tiles, maxTiles))
	for i, some := range charts {
		name := part(title, i, len(charts))
		a.add(name, &plot.Heat{Title: name, Notes: notes, X: "outputs", Y: "inputs", Tiles: some})
	}
}

func value(c *cell, key string) string { v, _ := c.axes.Get(key); return v }

// number of a text that is none is 0.
func number(s string) int { n, _ := strconv.Atoi(s); return n }

// fewest returns the cells of which there are the fewest of something.
func fewest(cells []*cell, count func(*cell) int) []*cell {
	least := count(slices.MinFunc(cells, func(a, b *cell) int { return cmp.Compare(count(a), count(b)) }))
	return slices.DeleteFunc(cells, func(c *cell) bool { return count(c) != least })
}

// values are those of an axis, in the order of their numbers.
func values(cells []*cell, key string) (all []string) {
	for _, c := range cells {
		if v := value(c, key); !slices.Contains(all, v) {
			all = append(all, v)
		}
	}
	slices.SortStableFunc(all, func(a, b string) int { return cmp.Compare(number(a), number(b)) })
	return all
}
