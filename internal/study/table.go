package study

import (
	"fmt"
	"math"
	"strings"

	"github.com/zkbench/zkbench/internal/peer"
)

// table is a table in Markdown. The first left columns hold words, the others
// figures.
type table struct {
	left int
	head []string
	rows [][]string
}

func (t *table) add(cells ...string) { t.rows = append(t.rows, cells) }

// String writes the table, nothing if it has no rows.
func (t *table) String() string {
	if len(t.rows) == 0 {
		return ""
	}
	var b strings.Builder
	line := func(cells []string) {
		for _, c := range cells {
			fmt.Fprintf(&b, "| %s ", strings.ReplaceAll(c, "|", `\|`))
		}
		b.WriteString("|\n")
	}
	line(t.head)
	for i := range t.head {
		if i < t.left {
			b.WriteString("|---")
		} else {
			b.WriteString("|---:")
		}
	}
	b.WriteString("|\n")
	for _, r := range t.rows {
		line(r)
	}
	return b.String()
}

// The cells of figures. One that is not there is a dash.

const none = "–"

func timeCell(ns float64) string {
	if ns <= 0 {
		return none
	}
	return peer.FormatNs(ns)
}

func number(v float64) string {
	switch {
	case v <= 0:
		return none
	case v == math.Trunc(v):
		return fmt.Sprintf("%.0f", v)
	case v >= 100:
		return fmt.Sprintf("%.0f", v)
	case v >= 10:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

func times(v float64) string {
	if v <= 0 {
		return none
	}
	return number(v) + "×"
}

func percent(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }

// spreadCell is the spread of a figure; one round has none.
func (f *figure) spreadCell() string {
	if f.rounds < 2 {
		return none
	}
	return percent(f.spread)
}
