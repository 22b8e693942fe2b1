package study

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/stat"
)

// Table is a Markdown table. The leftmost columns contain words, and the other columns contain figures. The field Left
// is the number of columns that contain words. Together lists columns whose figures are compared, so that they have the
// same unit.
type Table struct {
	Left     int
	Together []int
	Head     []string
	Rows     [][]string
}

// Add appends a row with the given cells. It inserts thousands separators into cells that are whole numbers. Add
// changes the slice cells, and the table keeps a reference to it.
func (t *Table) Add(cells ...string) {
	for i, c := range cells {
		if n, err := strconv.ParseUint(c, 10, 53); err == nil {
			cells[i] = format.Count(float64(n))
		}
	}
	t.Rows = append(t.Rows, cells)
}

// String returns the table as Markdown. If all figures of a column are times, or all are sizes of memory, the column's
// head has their unit and the cells have none. String returns an empty string if the table has no rows.
func (t *Table) String() string {
	if len(t.Rows) == 0 {
		return ""
	}
	rows := make([][]string, len(t.Rows))
	for i, r := range t.Rows {
		rows[i] = slices.Clone(r)
	}
	table := format.Table{Markup: true}
	together := shareUnit(rows, t.Together...)
	for i, head := range t.Head {
		unit := together
		if unit == "" || !slices.Contains(t.Together, i) {
			unit = shareUnit(rows, i)
		}
		if unit != "" {
			head += " (" + unit + ")"
		}
		table.Columns = append(table.Columns, format.Column{Head: head, Number: i >= t.Left})
	}
	for _, r := range rows {
		table.Add(r...)
	}
	var b strings.Builder
	_ = table.Markdown(&b, "") // a Builder returns no errors
	return b.String()
}

// Titled is a table with a heading.
type Titled struct {
	Title string
	Table *Table
}

// None is the text of a cell for a figure that is missing.
const None = "–"

// Time returns the text of a cell for a time in ns. It returns None if ns is not positive.
func Time(ns float64) string {
	if ns <= 0 {
		return None
	}
	return format.PlainTime(ns)
}

// Number returns the text of a cell for a figure. Whole numbers and figures of at least 100 have no decimals; other
// figures have one or two. It returns None if v is not positive.
func Number(v float64) string {
	switch {
	case v <= 0:
		return None
	case v == math.Trunc(v) || v >= 100:
		return format.Count(v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// Times returns the text of a cell for a ratio, such as 1.50×. It returns None if v is not positive.
func Times(v float64) string {
	if v <= 0 {
		return None
	}
	return Number(v) + "×"
}

// Percent returns the text of a cell for a fraction, as a percentage with one decimal.
func Percent(v float64) string { return format.Percent(v, 1) }

// Spread returns the largest deviation of a value in v from the median of v, divided by the median.
func Spread(v []float64) (most float64) {
	for _, x := range v {
		most = max(most, math.Abs(x/stat.Median(v)-1))
	}
	return most
}
