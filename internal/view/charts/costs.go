package charts

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/view/plot"
)

// maxTiles bounds the tables of a chart.
const maxTiles = 12

// Grid names two numeric axes of a workload. Each Grid has its own chart, which shows
// how the cost of an operation depends on both axes.
type Grid struct {
	RowKey, ColumnKey string // of the axes
	Rows, Columns     string // what the axes are, for example inputs
}

// costs draws the mean time of an operation by the two axes of a grid: under the serial
// executor if that was measured, with the fewest CPUs and workers.
func (a *album) costs(g *group, grid Grid) {
	cells := slices.DeleteFunc(slices.Clone(g.loads), func(c *cell) bool {
		return len(only(c.axes, grid.RowKey, grid.ColumnKey)) < 2 || len(c.values(record.LatencyMean, 1)) == 0
	})
	if len(cells) == 0 {
		return
	}
	measured := len(record.Lines(cells, (*cell).coordinates, record.ExecutorKey, record.WorkersKey))
	exec := value(cells[0], record.ExecutorKey)
	if slices.ContainsFunc(cells, func(c *cell) bool { return value(c, record.ExecutorKey) == record.Serial }) {
		exec = record.Serial
	}
	cells = slices.DeleteFunc(cells, func(c *cell) bool { return value(c, record.ExecutorKey) != exec })
	cells = fewest(cells, func(c *cell) int { return c.cpus })
	cells = fewest(cells, func(c *cell) int { return number(value(c, record.WorkersKey)) })

	differ, same := keys(cells, (*cell).coordinates)
	rows, columns := values(cells, grid.RowKey), values(cells, grid.ColumnKey)
	if len(rows) < 2 && len(columns) < 2 {
		return
	}
	ofGrid := func(key string) bool { return key == grid.RowKey || key == grid.ColumnKey }
	differ, same = slices.DeleteFunc(differ, ofGrid), slices.DeleteFunc(same, ofGrid)
	common := append(only(cells[0].axes, same...), record.Axis{Key: record.CPUsKey, Value: strconv.Itoa(cells[0].cpus)})
	var tiles []plot.HeatTile
	for _, t := range record.Lines(cells, (*cell).coordinates, grid.RowKey, grid.ColumnKey) {
		tile := plot.HeatTile{Name: words(only(t.Axes, differ...)), Rows: rows, Columns: columns}
		for range rows {
			tile.Values = append(tile.Values, make([]float64, len(columns)))
		}
		for _, c := range t.Cases {
			row, column := slices.Index(rows, value(c, grid.RowKey)), slices.Index(columns, value(c, grid.ColumnKey))
			tile.Values[row][column] = stat.Median(c.values(record.LatencyMean, nsPerMs))
		}
		tiles = append(tiles, tile)
	}
	title := g.title(fmt.Sprintf("mean time by %s and %s (ms)", grid.Rows, grid.Columns), nil)
	notes := append(g.notes(common, cells, ""), "darker is slower; equal ratios are equal steps")
	if left := measured - len(record.Lines(cells, (*cell).coordinates, record.ExecutorKey, record.WorkersKey)); left > 0 {
		notes = append(notes, format.Plural(left, "case")+" left out: measured with another executor or more CPUs or workers only")
	}
	charts := slices.Collect(slices.Chunk(tiles, maxTiles))
	for i, some := range charts {
		name := part(title, i, len(charts))
		a.add(name, &plot.Heat{Title: name, Notes: notes, X: grid.Columns, Y: grid.Rows, Tiles: some})
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
