package text

import (
	"slices"
	"strings"

	"github.com/zkbench/zkbench/internal/result/record"
)

// whose returns the processes that the figures are for, in the order of the figures.
func whose(figures []record.Metric) (all []record.Whose) {
	for _, m := range figures {
		if m.Whose != "" && !slices.Contains(all, m.Whose) {
			all = append(all, m.Whose)
		}
	}
	return all
}

// shown returns the figures of a record that the columns show.
func shown(rec *record.Record, columns []column) (all []record.Metric) {
	for _, c := range columns {
		if m, ok := rec.Metric(c.metric); ok {
			all = append(all, m)
		}
	}
	return all
}

// owner says which process the memory and processor time in the columns are for. If all are for
// one process, it returns a line to write above the table. Otherwise apart says that the table
// needs a column for it.
func owner(recs []*record.Record, columns []column) (line string, apart bool) {
	var all []record.Metric
	known := true // every record with such figures names a process
	for _, rec := range recs {
		figures := slices.DeleteFunc(shown(rec, columns), func(m record.Metric) bool { return !m.OfAProcess() })
		known = known && (len(figures) == 0 || len(whose(figures)) > 0)
		all = append(all, figures...)
	}
	switch processes := whose(all); {
	case len(processes) == 0:
		return "", false
	case len(processes) == 1 && known:
		return "memory and processor time are those of " + processes[0].Words(), false
	}
	return "", true
}

// ownerHead is the head of the column that names the process.
const ownerHead = "memory, CPU of"

// ownerCell returns a record's cell in the column that names the process.
func ownerCell(rec *record.Record, columns []column) string { return words(whose(shown(rec, columns))) }

// words returns the names of processes for a cell, or a dash if none is known.
func words(all []record.Whose) string {
	if len(all) == 0 {
		return "-"
	}
	var parts []string
	for _, w := range all {
		parts = append(parts, oneLine(string(w)))
	}
	return strings.Join(parts, ", ")
}

// owners returns the processes that a record's figures are for, first that of processor time and
// peak memory.
func owners(rec *record.Record) []record.Whose {
	var all []record.Metric
	for _, q := range []record.Quantity{record.CPUTime, record.PeakRSS} {
		if m, ok := rec.Metric(q); ok {
			all = append(all, m)
		}
	}
	return whose(append(all, rec.Metrics...))
}

// ownersCell says which process each of a record's figures is for. If all are for one process, it
// returns that process, for example operations. Otherwise it returns each process with the names of
// its figures.
func ownersCell(rec *record.Record) string {
	all := owners(rec)
	if len(all) == 1 {
		return string(all[0])
	}
	var parts []string
	for _, w := range all {
		var names []string
		for _, m := range rec.Metrics {
			if m.Whose == w {
				names = append(names, m.Name())
			}
		}
		parts = append(parts, string(w)+": "+strings.Join(names, " "))
	}
	return strings.Join(parts, "; ")
}
