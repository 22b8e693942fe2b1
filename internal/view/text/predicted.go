package text

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
)

// Predictions writes records with predicted times: for each case the time of each stage on each number
// of processors, and where one processor was busy alone on the largest number.
func (s Style) Predictions(w io.Writer, recs []*record.Record) error {
	p := &page{style: s}
	var names []string
	cases := make(map[string][]*record.Record)
	for _, rec := range recs {
		name := rec.Workload + " " + rec.Axes.Without(record.CPUsKey).Without(record.ExecutorKey).String()
		if cases[name] == nil {
			names = append(names, name)
		}
		cases[name] = append(cases[name], rec)
	}
	p.linef("%s", machineOf(recs))
	for _, name := range names {
		p.linef("")
		p.heading(name)
		p.predictions(cases[name])
	}
	p.linef("")
	if e, known := record.Explain(record.FindingPredicted); known {
		p.linef("%s", e.String())
	}
	p.failures(recs)
	return p.flush(w)
}

// predictions writes the table of one case and the places of its longest stage.
func (p *page) predictions(recs []*record.Record) {
	most := recs[0]
	var stages []string
	heads := []string{"stage"}
	for _, rec := range recs {
		heads = append(heads, format.Plural(rec.Processors(), "processor"))
		if rec.Processors() > most.Processors() {
			most = rec
		}
		for _, st := range rec.Stages {
			if !slices.Contains(stages, st.Name) {
				stages = append(stages, st.Name)
			}
		}
	}
	rows := []row{cells(append(heads, "work/span", "longest task")...)}
	for _, name := range stages {
		line := []string{name}
		for _, rec := range recs {
			cell := "-"
			if st, ok := stageOf(rec, name); ok {
				cell = format.TightTime(float64(st.Time))
			}
			line = append(line, cell)
		}
		parallelism, longest := "-", "-"
		if st, ok := stageOf(most, name); ok && st.Predicted != nil && st.Predicted.Span > 0 {
			parallelism = format.Significant(float64(st.Predicted.Work)/float64(st.Predicted.Span), 3, 1)
			longest = format.TightTime(float64(st.Predicted.Longest))
		}
		rows = append(rows, cells(append(line, parallelism, longest)...))
	}
	p.table("", rows)
	for _, f := range most.Findings {
		if f.Name == record.FindingUnpredicted {
			p.linef("not predicted: %s", f.Text)
		}
	}
	var longest record.Stage
	for _, st := range most.Stages {
		if st.Predicted != nil && st.Time > longest.Time {
			longest = st
		}
	}
	if longest.Predicted == nil || longest.Predicted.CPUs < 2 {
		return
	}
	share := func(d time.Duration) string {
		return format.Percent(float64(d)/float64(longest.Time), 0)
	}
	p.linef("")
	p.linef("One processor of %d busy alone, in %s: %s, %s of its time. The longest of it:",
		longest.Predicted.CPUs, longest.Name, format.Time(float64(longest.Predicted.Alone)), share(longest.Predicted.Alone))
	var places []row
	for _, one := range longest.Predicted.Places {
		places = append(places, cells(format.TightTime(float64(one.Time)), share(one.Time), fmt.Sprintf("%s %s", one.Function, one.Lines)))
	}
	p.table("  ", places)
}

func stageOf(rec *record.Record, name string) (record.Stage, bool) {
	i := slices.IndexFunc(rec.Stages, func(s record.Stage) bool { return s.Name == name })
	if i < 0 {
		return record.Stage{}, false
	}
	return rec.Stages[i], true
}
