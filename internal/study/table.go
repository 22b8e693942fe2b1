package study

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/stat"
)

// Table is a table in Markdown. The first Left columns hold words, the others figures.
type Table struct {
	Left int
	Head []string
	Rows [][]string
}

// Add adds a row. Cells that are whole numbers get separators of thousands.
func (t *Table) Add(cells ...string) {
	for i, c := range cells {
		if n, err := strconv.ParseUint(c, 10, 53); err == nil {
			cells[i] = format.Count(float64(n))
		}
	}
	t.Rows = append(t.Rows, cells)
}

// inLine has texts of records stay where a page puts them: they end no line, and are no HTML.
var inLine = strings.NewReplacer("\n", " ", "\r", " ", "<", "&lt;")

// String writes the table, nothing if it has no rows.
func (t *Table) String() string {
	if len(t.Rows) == 0 {
		return ""
	}
	var b strings.Builder
	line := func(cells []string) {
		for _, c := range cells {
			fmt.Fprintf(&b, "| %s ", strings.ReplaceAll(inLine.Replace(c), "|", `\|`))
		}
		b.WriteString("|\n")
	}
	line(t.Head)
	for i := range t.Head {
		if i < t.Left {
			b.WriteString("|---")
		} else {
			b.WriteString("|---:")
		}
	}
	b.WriteString("|\n")
	for _, r := range t.Rows {
		line(r)
	}
	return b.String()
}

// Titled is a table under a heading of its own.
type Titled struct {
	Title string
	Table *Table
}

// None is the cell of a figure that is not there.
const None = "–"

// Time is the cell of a time in ns.
func Time(ns float64) string {
	if ns <= 0 {
		return None
	}
	return format.PlainTime(ns)
}

// Number is the cell of a positive figure.
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

// Times is the cell of a ratio.
func Times(v float64) string {
	if v <= 0 {
		return None
	}
	return Number(v) + "×"
}

// Percent is the cell of a share.
func Percent(v float64) string { return format.Percent(v, 1) }

// Spread is the greatest deviation from the median, relative.
func Spread(v []float64) (most float64) {
	for _, x := range v {
		most = max(most, math.Abs(x/stat.Median(v)-1))
	}
	return most
}
