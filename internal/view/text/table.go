package text

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
)

// Table writes a table with one line for each record as plain text. Above it are the
// machine of the first record and the coordinates that all records share. Below it are
// errors and findings with the names of their cases. There is no column for a figure that
// no record has.
func Table(w io.Writer, recs []*record.Record) error { return Style{}.Table(w, recs) }

// Table writes the same table as the function Table, but in style s.
func (s Style) Table(w io.Writer, recs []*record.Record) error {
	if len(recs) == 0 {
		return nil
	}
	p := &page{style: s}
	p.linef("%s", machineOf(recs))
	p.busy(recs...)
	common, varying := split(recs)
	if len(common) > 0 {
		p.linef("%s", strings.ReplaceAll(common.String(), "/", " "))
	}
	columns := measured(recs, record.LongTable)
	line, apart := owner(recs, columns)
	if line != "" {
		p.linef("%s", line)
	}
	header := slices.Concat([]string{"workload"}, varying, []string{"ops"})
	for _, c := range columns {
		header = append(header, c.head)
	}
	if apart {
		header = append(header, ownerHead)
	}
	rows := []row{cells(append(header, "checked", "exact", "status")...)}
	for _, rec := range recs {
		line := []string{rec.Workload}
		for _, key := range varying {
			value, ok := rec.Axes.Get(key)
			if !ok {
				value = "-"
			}
			line = append(line, value)
		}
		rows = append(rows, row{cells: append(line, figuresOf(rec, columns, apart)...), bad: rec.Outcome() == record.Outcome(record.Failed)})
	}
	p.table("", rows)
	p.failures(recs)
	for _, rec := range recs {
		for _, f := range rec.Findings {
			p.WriteString(rec.Name() + " ")
			p.finding(f.Name, f.Text)
		}
	}
	return p.flush(w)
}

// column is a metric in the table.
type column struct {
	head   string
	metric record.Quantity
	format func(float64) string
}

// measured returns the columns of the tables for which at least one record has a figure.
func measured(recs []*record.Record, in record.Tables) (columns []column) {
	for _, q := range record.TableColumns(in) {
		has := func(rec *record.Record) bool { _, ok := rec.Metric(q); return ok }
		if slices.ContainsFunc(recs, has) {
			columns = append(columns, column{q.Heading(), q, cellFormat(q)})
		}
	}
	return columns
}

// cellFormat returns how a figure of the quantity is written in a table.
func cellFormat(q record.Quantity) func(float64) string {
	if ns, _, isTime := record.TimeUnit(q.Unit()); isTime {
		return func(v float64) string { return format.TightTime(ns * v) }
	}
	switch q.Unit() {
	case "B":
		return format.Bytes
	case "%":
		return func(v float64) string { return fmt.Sprintf("%.1f%%", v) }
	}
	return func(v float64) string { return format.Significant(v, 4, 9) }
}

func figuresOf(rec *record.Record, columns []column, apart bool) []string {
	line := []string{fmt.Sprint(rec.Count(record.CountDone))}
	for _, c := range columns {
		cell := "-"
		if m, ok := rec.Metric(c.metric); ok {
			cell = c.format(m.Value)
			if rec.Few(c.metric) {
				cell += fewMark
			}
		}
		line = append(line, cell)
	}
	if apart {
		line = append(line, ownerCell(rec, columns))
	}
	var exact []string
	for _, m := range ownMetrics(rec) {
		if m.Kind == record.Exact {
			exact = append(exact, number(m.Value)+" "+m.Unit())
		}
	}
	if len(exact) == 0 {
		exact = []string{"-"}
	}
	return append(line, checked(rec), strings.Join(exact, ", "), string(rec.Outcome()))
}

// split returns the coordinates that all records share, and the keys of the others, both
// in the order of first appearance.
func split(recs []*record.Record) (common record.Axes, varying []string) {
	for _, rec := range recs {
		for _, x := range rec.Axes {
			_, seen := common.Get(x.Key)
			if seen || slices.Contains(varying, x.Key) {
				continue
			}
			shared := true
			for _, other := range recs {
				value, ok := other.Axes.Get(x.Key)
				shared = shared && ok && value == x.Value
			}
			if shared {
				common = append(common, x)
			} else {
				varying = append(varying, x.Key)
			}
		}
	}
	return common, varying
}
