package study

import (
	"bytes"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"
	"text/template"
	"time"

	"github.com/zkbench/zkbench/internal/env"
	"github.com/zkbench/zkbench/internal/peer"
	"github.com/zkbench/zkbench/internal/record"
)

// prose is the page without its figures.
//
//go:embed token.md.tmpl
var prose string

// Page writes the page of the records, in Markdown. Charts are the images that it
// shows; they stand beside it.
func Page(w io.Writer, recs []*record.Record) error {
	d := newData(recs)
	t, err := template.New("page").Parse(prose)
	if err != nil {
		return err
	}
	v := &view{Targets: target}
	for _, fill := range []func(*view) error{d.head, d.compared, d.verifications, d.alone, d.sizes, d.matrix, d.sample, d.charts} {
		if err := fill(v); err != nil {
			return err
		}
	}
	var page bytes.Buffer
	if err := t.Execute(&page, v); err != nil {
		return err
	}
	_, err = w.Write(page.Bytes())
	return err
}

// view is what the page is filled with. Tables without rows are empty.
type view struct {
	Machine, Build, Date string
	Notes                []string // what a reader must know of these records
	Rounds, Processes    int
	Window               string // of the first process
	Yardstick            *table
	Compared             []titled
	Verifications        *table
	Alone, Sizes         *table
	Matrix               []titled
	Sample               *table
	SampleMachine        string
	SampleWorkers        string
	Units, Executors     []Chart
	Targets              func(title string) string
}

// titled is a table under a heading of its own.
type titled struct {
	Title string
	Table *table
}

// head tells what machine the records are of, and what is wrong with them.
func (d *data) head(v *view) error {
	if len(d.recs) == 0 {
		return nil
	}
	first := d.recs[0]
	e := first.Env
	v.Machine = fmt.Sprintf("%s, %s/%s, %s arithmetic, %d processors", orUnknown(e.CPU), e.OS, e.Arch, e.Path, e.Cores)
	v.Build = e.Go
	if e.Commit != "" {
		v.Build += ", commit " + e.Commit
	}
	v.Date = first.Time.UTC().Format(time.DateOnly)
	v.Processes = len(d.recs)
	if m, ok := first.Metric(record.Duration); ok {
		v.Window = fmt.Sprintf("%.1f s", m.Value)
	}
	unlike := 0
	for _, r := range d.recs {
		if r.Process.Side == Panurus {
			v.Rounds = max(v.Rounds, r.Process.Index+1)
		}
		other := r.Env
		other.GOMAXPROCS = e.GOMAXPROCS // the parts differ in it
		if len(env.Differences(e, other)) > 0 {
			unlike++
		}
		if r.Status != record.OK {
			v.Notes = append(v.Notes, fmt.Sprintf("%s/%s (%s, round %d) %s: %s", r.Workload, r.Case, r.Process.Side, r.Process.Index+1, r.Status, r.Error))
		}
	}
	if unlike > 0 {
		v.Notes = append(v.Notes, fmt.Sprintf("%d of %d records are of another environment than the first one", unlike, len(d.recs)))
	}
	v.Yardstick = &table{left: 1, head: []string{"curve", "here, median", "least", "greatest", "where Panurus was measured"}}
	for _, curve := range curves() {
		if ns := d.yardsticks(curve); len(ns) > 0 {
			theirs, _ := peer.PanurusGLV(curve)
			v.Yardstick.add(curve, timeCell(median(ns)), timeCell(slices.Min(ns)), timeCell(slices.Max(ns)), timeCell(theirs))
		}
	}
	return nil
}

func orUnknown(name string) string {
	if name == "" {
		return "unknown processor"
	}
	return name
}

// compared fills in a table for each curve and width.
func (d *data) compared(v *view) error {
	tables := make(map[string]*table)
	for _, at := range points() {
		title := fmt.Sprintf("%s, %d bits", at.curve, at.bits)
		t := tables[title]
		if t == nil {
			t = &table{left: 2, head: []string{"workload", "proof", "ours", "spread", "units", "Panurus", "units", "times faster"}}
			tables[title] = t
			v.Compared = append(v.Compared, titled{title, t})
		}
		for _, m := range compared() {
			f, err := d.figure(&m, at, m.workload)
			if err != nil {
				return err
			}
			if f.rounds == 0 {
				continue
			}
			name, theirs := m.name, none
			if m.note != "" {
				name += ", " + m.note
			}
			if f.theirs != nil {
				theirs = timeCell(f.theirs.Ms * 1e6)
			}
			t.add(name, at.proof, timeCell(f.ns), f.spreadCell(), number(f.units), theirs, number(f.theirUnits), times(f.faster))
		}
	}
	v.Compared = slices.DeleteFunc(v.Compared, func(t titled) bool { return len(t.Table.rows) == 0 })
	return nil
}

// target is what the page says of a verification's target.
func target(title string) string {
	for _, v := range verifications() {
		if v.title == title && v.target > 0 {
			return fmt.Sprintf("%.0f×", v.target)
		}
	}
	return none
}

// verifications fills in all figures of verifying against one of Panurus.
func (d *data) verifications(v *view) error {
	t := &table{left: 3, head: []string{"curve", "bits", "proof"}}
	for _, f := range verifications() {
		head := f.title
		if f.target > 0 {
			head += fmt.Sprintf(" (target %.0f×)", f.target)
		}
		t.head = append(t.head, head)
	}
	for _, at := range points() {
		cells := []string{at.curve, fmt.Sprint(at.bits), at.proof}
		measured := false
		for _, m := range verifications() {
			f, err := d.figure(&m.measure, at, "VerificationSenderProof")
			if err != nil {
				return err
			}
			cell := none
			if f.rounds > 0 {
				measured = true
				cell = fmt.Sprintf("%s, %s", times(f.faster), timeCell(f.ns))
			}
			if f.faster > 0 && f.faster < m.target {
				cell += ", below"
			}
			cells = append(cells, cell)
		}
		if measured {
			t.add(cells...)
		}
	}
	v.Verifications = t
	return nil
}

// alone fills in what nothing of Panurus stands beside.
func (d *data) alone(v *view) error {
	v.Alone = &table{left: 3, head: []string{"workload", "at", "what", "time", "spread", "a second"}}
	for _, m := range alone() {
		f, err := d.figure(&m, point{}, "")
		if err != nil {
			return err
		}
		if f.rounds > 0 {
			v.Alone.add(m.name, f.where, m.note, timeCell(f.ns), f.spreadCell(), number(1e9/f.ns))
		}
	}
	return nil
}

// sizes fills in what a proof and a verification allocate.
func (d *data) sizes(v *view) error {
	v.Sizes = &table{left: 4, head: []string{"workload", "curve", "bits", "proof", "allocations", "Panurus", "KiB", "Panurus", "proof bytes", "Panurus"}}
	for _, m := range compared() {
		for _, at := range points() {
			f, err := d.figure(&m, at, m.workload)
			if err != nil {
				return err
			}
			if f.rounds == 0 || f.theirs == nil || f.theirs.Allocs == 0 {
				continue
			}
			v.Sizes.add(m.name, at.curve, fmt.Sprint(at.bits), at.proof, number(f.allocs), number(float64(f.theirs.Allocs)),
				number(f.bytes/1024), number(f.theirs.KiB), number(f.proofBytes), number(float64(peer.PanurusProofBytes(at.curve, at.bits, at.proof))))
		}
	}
	return nil
}

// matrix fills in a table for each curve and width.
func (d *data) matrix(v *view) error {
	recs := d.part(Matrix)
	for _, curve := range curves() {
		for _, bits := range widths() {
			t := &table{left: 3, head: []string{"proof", "in", "out"}}
			for _, name := range matrixWorkloads() {
				for _, exec := range executors() {
					t.head = append(t.head, name+", "+exec)
				}
			}
			for _, proof := range proofs() {
				for _, in := range counts() {
					for _, out := range counts() {
						if cells := matrixCells(recs, curve, bits, proof, in, out); cells != nil {
							t.add(append([]string{proof, in, out}, cells...)...)
						}
					}
				}
			}
			if len(t.rows) > 0 {
				v.Matrix = append(v.Matrix, titled{fmt.Sprintf("%s, %s bits", curve, bits), t})
			}
		}
	}
	return nil
}

// matrixCells are the times of one row of the matrix; nil: none was measured.
func matrixCells(recs []*record.Record, curve, bits, proof, in, out string) []string {
	var cells []string
	measured := false
	for _, name := range matrixWorkloads() {
		for _, exec := range executors() {
			cell := none
			if r := at(recs, name, axis("curve", curve), axis("bits", bits), axis("proof", proof), axis("in", in), axis("out", out), axis("exec", exec)); r != nil {
				cell, measured = timeCell(r.Value(record.LatencyMean)), true
			}
			cells = append(cells, cell)
		}
	}
	if !measured {
		return nil
	}
	return cells
}

// sample puts our run of Panurus' documented one beside it.
func (d *data) sample(v *view) error {
	recs := d.part(Sample)
	if len(recs) == 0 {
		return nil
	}
	r, theirs := recs[0], peer.PanurusSample()
	workers, _ := r.Axes.Get("workers")
	v.SampleMachine, v.SampleWorkers = orUnknown(r.Env.CPU), workers
	t := &table{left: 1, head: []string{"", "Panurus, " + theirs.Machine, "ours, " + v.SampleMachine}}
	t.add("workers", fmt.Sprint(theirs.Workers), workers)
	t.add("operations a second", fmt.Sprintf("%.1f", theirs.Throughput), fmt.Sprintf("%.1f", r.Value(record.Throughput)))
	for _, row := range []struct {
		name   string
		theirs float64
		metric string
	}{
		{"P50", theirs.P50, record.LatencyP50},
		{"mean", theirs.Mean, record.LatencyMean},
		{"P95", theirs.P95, record.LatencyP95},
		{"P99", theirs.P99, record.LatencyP99},
		{"greatest", theirs.Max, record.LatencyMax},
	} {
		t.add(row.name, timeCell(row.theirs), timeCell(r.Value(row.metric)))
	}
	t.add("allocations an operation", number(theirs.Allocs), number(r.Value(record.Allocs)))
	t.add("bytes an operation", number(theirs.Bytes), number(r.Value(record.AllocBytes)))
	t.add("collections a second", number(theirs.GCCycles/theirs.Duration), number(r.Value(record.GCCycles)/r.Value(record.Duration)))
	t.add("world stopped, of the time", percent(theirs.GCPauses/1e9/theirs.Duration), percent(r.Value(record.GCPauses)/1e9/r.Value(record.Duration)))
	t.add("collector, of the processors", none, percent(r.Value(record.GCCPUShare)/100))
	v.Sample = t
	return nil
}

// charts names the images.
func (d *data) charts(v *view) error {
	all, err := d.all()
	for _, c := range all {
		if strings.HasPrefix(c.File, unitsPrefix) {
			v.Units = append(v.Units, c)
		} else {
			v.Executors = append(v.Executors, c)
		}
	}
	return err
}
