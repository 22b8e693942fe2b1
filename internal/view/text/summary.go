package text

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
)

// Summary writes a table with one line for each case: the rate, P50, P99, allocations, the times
// of stages, and the names of findings. If a case has several processes, the line has their
// medians and the standard deviation of P50 between them. Errors follow below in full.
func (s Style) Summary(w io.Writer, recs []*record.Record) error {
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
	var names []string
	cases := make(map[string][]*record.Record)
	for _, rec := range recs {
		if cases[rec.Name()] == nil {
			names = append(names, rec.Name())
		}
		cases[rec.Name()] = append(cases[rec.Name()], rec)
	}
	several := len(names) < len(recs)
	tables := record.ShortTable
	if slices.ContainsFunc(recs, isForeign) { // their allocations are not known
		tables |= record.ForeignTable
	}
	columns := append(measured(recs, tables), stagesOf(recs)...)
	owned, apart := owner(recs, columns)
	if owned != "" {
		p.linef("%s", owned)
	}
	header := slices.Concat([]string{"workload"}, varying)
	if several {
		header = append(header, "processes")
	}
	for _, c := range columns {
		header = append(header, c.head)
	}
	if apart {
		header = append(header, ownerHead)
	}
	rows := []row{cells(append(header, "findings")...)}
	for _, name := range names {
		rows = append(rows, summary(cases[name], varying, columns, several, apart))
	}
	p.table("", rows)
	p.failures(recs)
	return p.flush(w)
}

// isForeign reports whether another program ran the operations of a record.
func isForeign(rec *record.Record) bool {
	return slices.ContainsFunc(rec.Metrics, func(m record.Metric) bool { return m.Whose.Foreign() })
}

// stagesOf returns the columns for records of stages: the time of each stage, and the sizes by
// which circuits and proofs are compared.
func stagesOf(recs []*record.Record) (columns []column) {
	add := func(head string, q record.Quantity, format func(v float64) string) {
		if !slices.ContainsFunc(columns, func(c column) bool { return c.metric == q }) {
			columns = append(columns, column{head, q, format})
		}
	}
	for _, rec := range recs {
		for _, m := range rec.Metrics {
			if stage, ok := m.Stage(); ok {
				add(stage, m.Quantity, func(v float64) string { return format.TightTime(v * 1e9) })
			}
		}
	}
	if len(columns) > 0 {
		for _, q := range []record.Quantity{record.Constraints, record.ProofSize, record.ProvedBits} {
			if slices.ContainsFunc(recs, func(rec *record.Record) bool { _, ok := rec.Metric(q); return ok }) {
				add(q.Label(), q, func(v float64) string { return format.Exact(v) })
			}
		}
	}
	return columns
}

// summary returns the line of a case.
func summary(recs []*record.Record, varying []string, columns []column, several, apart bool) row {
	line := []string{recs[0].Workload}
	for _, key := range varying {
		value, ok := recs[0].Axes.Get(key)
		if !ok {
			value = "-"
		}
		line = append(line, value)
	}
	if several {
		line = append(line, fmt.Sprint(len(recs)))
	}
	for _, c := range columns {
		var values []float64
		few := false
		for _, rec := range recs {
			if m, ok := rec.Metric(c.metric); ok {
				values = append(values, m.Value)
				few = few || rec.Few(c.metric)
			}
		}
		cell := "-"
		if median := stat.Median(values); len(values) > 0 {
			cell = c.format(median)
			if len(values) > 1 && median > 0 && c.metric == record.LatencyP50 {
				spread := stat.Deviation(values) / median
				cell += " ± " + format.Percent(spread, format.ChangeDecimals(spread))
			}
			if few {
				cell += fewMark
			}
		}
		line = append(line, cell)
	}
	if apart {
		line = append(line, ownerCell(recs[0], columns))
	}
	var found []string
	bad := false
	for _, rec := range recs {
		outcome := string(rec.Outcome())
		if rec.Status != record.OK && !slices.Contains(found, outcome) {
			found = append(found, outcome)
		}
		bad = bad || outcome == string(record.Failed)
		for _, f := range rec.Findings {
			if !slices.Contains(found, f.Name) {
				found = append(found, f.Name)
			}
		}
	}
	if len(found) == 0 {
		found = []string{"-"}
	}
	return row{cells: append(line, strings.Join(found, ", ")), bad: bad}
}
