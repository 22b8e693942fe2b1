// Package text writes records as reports and tables for people, and in formats for tools:
// the Go benchmark format, CSV and the HDR interval log. Each view is made from the record
// only, so that a record read from a file gives the same text.
package text

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
)

// Case writes the full report of one record as plain text: what ran, latencies,
// stability, memory and garbage collection, heat map, stages, findings,
// timeline. It leaves out figures that the record does not have.
func Case(w io.Writer, rec *record.Record) error { return Style{}.Case(w, rec) }

// Case writes the same report as the function Case, but in style s.
func (s Style) Case(w io.Writer, rec *record.Record) error {
	p := &page{style: s}
	p.head(rec)
	p.section("Load:", loadRows(rec))
	latencies, err := decodeAll(rec)
	if err != nil {
		return err
	}
	title, rows := latencyRows(rec, latencies)
	p.section(title, rows)
	p.section("Other Latencies:", apartRows(rec, latencies))
	p.section("Stability Metrics:", stabilityRows(rec))
	p.section("System Health & Reliability:", healthRows(rec))
	p.section("Sizes and Other Figures:", ownRows(rec))
	for _, name := range []string{record.HistLatency, record.HistResponse} {
		if h, ok := latencies[name]; ok && h.TotalCount() > 0 {
			p.linef("")
			p.heatmap(name, h)
		}
	}
	p.section("Stages:", stageRows(rec))
	p.section("Unfinished Operations:", unfinishedRows(rec))
	p.analysis(rec)
	p.section("Throughput Timeline:", timelineRows(rec))
	p.linef("")
	return p.flush(w)
}

// Stages writes the report of a case with stages as plain text: what ran, each stage,
// exact figures, findings.
func Stages(w io.Writer, rec *record.Record) error {
	p := &page{}
	p.head(rec)
	p.section("Stages:", stageRows(rec))
	exact := *rec
	exact.Metrics = slices.DeleteFunc(slices.Clone(rec.Metrics), func(m record.Metric) bool { return m.Kind != record.Exact })
	p.section("Sizes and Other Figures:", ownRows(&exact))
	p.analysis(rec)
	p.linef("")
	return p.flush(w)
}

// head writes what ran, where, and what went wrong.
func (p *page) head(rec *record.Record) {
	p.heading(rec.Name())
	p.linef("%s", machine(rec.Env))
	if build := build(rec.Env); build != "" {
		p.linef("%s", build)
	}
	run := fmt.Sprintf("seed %d", rec.Seed)
	if !rec.Time.IsZero() {
		run += ", " + rec.Time.UTC().Format(time.RFC3339)
	}
	if rec.Process.Side != "" {
		run += fmt.Sprintf(", side %s, process %d", rec.Process.Side, rec.Process.Index)
	}
	p.linef("%s", run)
	if text := rec.Properties.String(); text != "" {
		p.linef("%s", text)
	}
	var settings bytes.Buffer
	if len(rec.Settings) > 0 && json.Compact(&settings, rec.Settings) == nil {
		p.linef("settings %s", &settings)
	}
	p.busy(rec)
	if rec.Status != record.OK {
		p.failed(rec, strings.ToUpper(string(rec.Outcome()))+": "+rec.Error)
	}
}

// busy writes a warning if other load on the machine disturbed the records.
func (p *page) busy(recs ...*record.Record) {
	if text := record.Disturbance(recs); text != "" {
		p.failure("BUSY MACHINE: " + text)
	}
}

// analysis writes the findings, each with its evidence, what it means and what to do.
func (p *page) analysis(rec *record.Record) {
	p.linef("")
	p.heading("Analysis:")
	if len(rec.Findings) == 0 {
		p.linef(" no findings")
	}
	for _, f := range rec.Findings {
		p.WriteByte(' ')
		text := strings.TrimRight(f.Text, "\n")
		if e, known := record.Explain(f.Name); known {
			text += "\n" + e.String()
		}
		p.finding(f.Name, text)
	}
}

// stageRows returns the stages of the case in order. A dash marks what the platform does
// not report.
func stageRows(rec *record.Record) []row {
	if len(rec.Stages) == 0 {
		return nil
	}
	size := func(b uint64) string {
		if b == 0 {
			return "-"
		}
		return format.Bytes(float64(b))
	}
	rows := []row{cells("Stage", "Time", record.PeakRSS.Label(), "Allocated", "Memory Of", "Figures")}
	for _, s := range rec.Stages {
		var figures []string
		for _, m := range s.Sizes {
			name, value := format.Named(m)
			figures = append(figures, name+" "+value)
		}
		whose := "-"
		if s.PeakRSS+s.Allocated > 0 && s.Whose != "" {
			whose = oneLine(string(s.Whose))
		}
		rows = append(rows, cells(s.Name, format.TightTime(float64(s.Time)), size(s.PeakRSS), size(s.Allocated), whose, strings.Join(figures, ", ")))
	}
	return rows
}

// listed is the maximum number of unfinished operations that a report lists.
const listed = 10

// unfinishedRows returns the oldest operations that still ran at the end.
func unfinishedRows(rec *record.Record) []row {
	if len(rec.Unfinished) == 0 {
		return nil
	}
	rows := []row{cells("Sequence", "Age", "Description")}
	for i, u := range rec.Unfinished {
		meaning := ""
		switch i {
		case 0:
			meaning = "Oldest; the age is a lower bound of the latency"
		case listed:
			return append(rows, cells("...", "", fmt.Sprintf("%d more, all younger", len(rec.Unfinished)-listed)))
		}
		rows = append(rows, cells(fmt.Sprint(u.Seq), format.TightTime(float64(u.Age)), meaning))
	}
	return rows
}

func cells(c ...string) row { return row{cells: c} }
