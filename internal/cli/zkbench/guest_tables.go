package zkbench

import (
	"fmt"
	"io"
	"strings"

	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/zkvm"
)

const (
	shownTables   = 33 // a table with less than this fraction of the cells, 1 in 33, is among the others
	shownUnproved = 3  // kinds of instructions without a proof that are named, the most frequent first
)

// showTables prints what a run takes in the tables of guest prove.
func showTables(w io.Writer, c *zkvm.Cost) {
	perCycle := func(cells int) string { return fmt.Sprintf("%.1f", float64(cells)/float64(max(c.Cycles, 1))) }
	table := &format.Table{Columns: format.Heads("table", "rows", "padded", "cells a row", "cells", "a cycle")}
	others, all := 0, c.Cells()
	for _, t := range c.Tables {
		padded := c.Proofs * t.Height
		cells := padded * t.Cells
		if cells*shownTables < all {
			others += cells
			continue
		}
		table.Add(t.Name, grouped(uint64(t.Rows)), grouped(uint64(padded)), grouped(uint64(t.Cells)), grouped(uint64(cells)), perCycle(cells))
	}
	table.Add("(others)", "", "", "", grouped(uint64(others)), perCycle(others))
	table.Add("(all)", "", "", "", grouped(uint64(all)), perCycle(all))
	const each = "guest prove, counted:  "
	_ = table.Text(w, each, 0) // an error of w is left to the lines after it
	line := func(text string, args ...any) { fmt.Fprintf(w, "guest prove, counted: "+text+"\n", args...) }
	if c.Proofs == 1 {
		line("%s cycles fit the form %q", grouped(c.Cycles), c.Form)
	} else {
		line("%s cycles fit no form; the tables are those of %s proofs of the form %q", grouped(c.Cycles), grouped(uint64(c.Proofs)), c.Form)
		line("in one proof of the least heights, which no form has, they would take %s cells a cycle", perCycle(c.Least()))
	}
	if len(c.Unproved) == 0 {
		return
	}
	total, names := uint64(0), []string(nil)
	for i, u := range c.Unproved {
		if total += u.Times; i < shownUnproved {
			names = append(names, fmt.Sprintf("%s %s", grouped(u.Times), u.Name))
		}
	}
	if n := len(c.Unproved) - len(names); n > 0 {
		names = append(names, fmt.Sprintf("%d other kinds", n))
	}
	line("%s other instructions have no proof: %s", grouped(total), strings.Join(names, ", "))
}
