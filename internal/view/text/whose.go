package text

import (
	"slices"
	"strings"

	"github.com/zkbench/zkbench/internal/result/record"
)

// whose are the processes that figures of a record are of, in the order of these.
func whose(figures []record.Metric) (all []record.Whose) {
	for _, m := range figures {
		if m.Whose != "" && !slices.Contains(all, m.Whose) {
			all = append(all, m.Whose)
		}
	}
	return all
}

// shown are the figures of a record that stand in the columns.
func shown(rec *record.Record, columns []column) (all []record.Metric) {
	for _, c := range columns {
		if m, ok := rec.Metric(c.metric); ok {
			all = append(all, m)
		}
	}
	return all
}

// owner says whose memory and processor time the figures in the columns are: in a line above the
// table where all are of one process, or else in a column of its own, apart.
func owner(recs []*record.Record, columns []column) (line string, apart bool) {
	var all []record.Metric
	said := true // by every record that has such figures
	for _, rec := range recs {
		figures := slices.DeleteFunc(shown(rec, columns), func(m record.Metric) bool { return !m.OfAProcess() })
		said = said && (len(figures) == 0 || len(whose(figures)) > 0)
		all = append(all, figures...)
	}
	switch of := whose(all); {
	case len(of) == 0:
		return "", false
	case len(of) == 1 && said:
		return "memory and processor time: of " + of[0].Words(), false
	}
	return "", true
}

// ownerHead is the head of that column.
const ownerHead = "memory, CPU of"

// ownerCell is a record's cell in the column apart.
func ownerCell(rec *record.Record, columns []column) string { return words(whose(shown(rec, columns))) }

// words names processes in a cell; a dash is none that is known.
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

// owners are the processes that figures of a record are of, first that of processor time and peak.
func owners(rec *record.Record) []record.Whose {
	var all []record.Metric
	for _, q := range []record.Quantity{record.CPUTime, record.PeakRSS} {
		if m, ok := rec.Metric(q); ok {
			all = append(all, m)
		}
	}
	return whose(append(all, rec.Metrics...))
}

// ownersCell says whose each of a record's figures is: operations where all are of that process, and
// else the names of the figures that are of each.
func ownersCell(rec *record.Record) string {
	of := owners(rec)
	if len(of) == 1 {
		return string(of[0])
	}
	var parts []string
	for _, w := range of {
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
