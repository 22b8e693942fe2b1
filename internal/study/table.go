package study

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/zkbench/zkbench/internal/peer"
)

// Table is a table in Markdown. The first Left columns hold words, the others figures.
type Table struct {
	Left int
	Head []string
	Rows [][]string
}

// Add adds a row.
func (t *Table) Add(cells ...string) { t.Rows = append(t.Rows, cells) }

// String writes the table, nothing if it has no rows.
func (t *Table) String() string {
	if len(t.Rows) == 0 {
		return ""
	}
	var b strings.Builder
	line := func(cells []string) {
		for _, c := range cells {
			fmt.Fprintf(&b, "| %s ", strings.ReplaceAll(c, "|", `\|`))
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
	return peer.FormatNs(ns)
}

// Number is the cell of a positive figure.
func Number(v float64) string {
	switch {
	case v <= 0:
		return None
	case v == math.Trunc(v):
		return fmt.Sprintf("%.0f", v)
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
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
func Percent(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }

// Median of none is 0.
func Median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(v))
	return (s[(len(s)-1)/2] + s[len(s)/2]) / 2
}

// Mean of none is 0.
func Mean(v []float64) (mean float64) {
	for _, x := range v {
		mean += x / float64(len(v))
	}
	return mean
}

// Deviation is the sample's standard deviation; of fewer than two values it is 0.
func Deviation(v []float64) float64 {
	if len(v) < 2 {
		return 0
	}
	mean, squares := Mean(v), 0.0
	for _, x := range v {
		squares += (x - mean) * (x - mean)
	}
	return math.Sqrt(squares / float64(len(v)-1))
}

// Spread is the greatest deviation from the median, relative.
func Spread(v []float64) (most float64) {
	for _, x := range v {
		most = max(most, math.Abs(x/Median(v)-1))
	}
	return most
}
