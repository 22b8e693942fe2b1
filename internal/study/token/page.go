package token

import (
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/study"
	"github.com/zkbench/zkbench/internal/study/peer"
)

// prose is the template of the page.
//
//go:embed token.md.tmpl
var prose string

// writePage writes the page of the records, in Markdown.
func writePage(w io.Writer, recs []*record.Record) error {
	d := newData(recs)
	v := &view{
		Answer: d.answer(), Head: d.head(), Yardstick: d.yardstickTable(), Compared: d.compared(), Verifications: d.verifications(),
		Shapes: d.shapes(), Sources: sources(), Alone: d.alone(), Sizes: d.sizes(), Matrix: d.matrix(),
	}
	d.sample(v)
	for _, c := range d.charts() {
		switch {
		case v.First == "" && strings.HasPrefix(c.File, unitsPrefix):
			v.First = study.Images([]study.Chart{c})[c.File]
		case strings.HasPrefix(c.File, unitsPrefix):
			v.Units = append(v.Units, c)
		default:
			v.Executors = append(v.Executors, c)
		}
	}
	if d.err != nil {
		return d.err
	}
	return study.Fill(w, prose, v)
}

// view is the data of the page's template. Tables without rows format to nothing.
type view struct {
	Answer           study.Answer
	First            string // the image below the answer, in Markdown; empty: none
	Head             study.Head
	Yardstick        *study.Table
	Compared         []study.Titled
	Verifications    *study.Table
	Shapes, Sources  *study.Table
	Alone, Sizes     *study.Table
	Matrix           []study.Titled
	Sample           *study.Table
	SampleMachine    string
	SampleWorkers    string
	Units, Executors []study.Chart
}

// head returns the head of the page, with rounds and window.
func (d *data) head() study.Head {
	h := study.NewHead(d.recs)
	if len(d.recs) > 0 {
		if m, ok := d.recs[0].Metric(record.Duration); ok {
			h.Window = fmt.Sprintf("%.1f s", m.Value)
		}
	}
	for _, r := range d.recs {
		if r.Process.Side == Panurus {
			h.Rounds = max(h.Rounds, r.Process.Index+1)
		}
	}
	return h
}

func (d *data) yardstickTable() *study.Table {
	t := &study.Table{Left: 1, Head: []string{"curve", "here, median", "minimum", "maximum"}}
	for _, curve := range curves() {
		if ns := d.yardsticks(curve); len(ns) > 0 {
			t.Add(curve, study.Time(stat.Median(ns)), study.Time(slices.Min(ns)), study.Time(slices.Max(ns)))
		}
	}
	return t
}

// sources returns a table of the sources of Panurus' figures, with the times of the reference operation there.
func sources() *study.Table {
	t := &study.Table{Left: 2, Head: []string{"Panurus' version, date, machine", "mark"}}
	rows := make(map[string][]string)
	var order []string
	for _, f := range peer.Panurus() {
		if rows[f.Source] == nil {
			rows[f.Source] = append([]string{f.Source, f.Mark()}, make([]string, len(curves()))...)
			order = append(order, f.Source)
		}
		rows[f.Source][2+slices.Index(curves(), f.Curve)] = study.Time(f.GLVNs)
	}
	t.Head = append(t.Head, curves()...)
	for _, s := range order {
		t.Add(rows[s]...)
	}
	return t
}

// compared returns a table for each curve and width.
func (d *data) compared() (tables []study.Titled) {
	byTitle := make(map[string]*study.Table)
	for _, at := range points() {
		title := fmt.Sprintf("%s, %d bits", at.curve, at.bits)
		t := byTitle[title]
		if t == nil {
			t = &study.Table{Left: 2, Together: besideTimes(2), Head: besideHead("workload", "proof")}
			byTitle[title] = t
			tables = append(tables, study.Titled{Title: title, Table: t})
		}
		for _, m := range compared() {
			f := d.figure(&m, at, m.workload)
			if f.rounds == 0 {
				continue
			}
			t.Add(append([]string{m.titled(m.workload), at.proof}, f.beside()...)...)
		}
	}
	return slices.DeleteFunc(tables, func(t study.Titled) bool { return len(t.Table.Rows) == 0 })
}

// besideHead returns the heads of the columns left and of those that beside returns.
func besideHead(left ...string) []string {
	return append(left, "ours", "spread", "units", "Panurus", "units", "times faster")
}

// besideTimes returns the columns of our time and of Panurus', after left others.
func besideTimes(left int) []int { return []int{left, left + 3} }

// beside returns the cells of our figure and of Panurus'.
func (f *figure) beside() []string {
	theirs := study.None
	if f.theirs != nil {
		theirs = study.Time(f.theirs.Ns) + f.theirs.Mark()
	}
	return []string{study.Time(f.ns), f.spreadCell(), study.Number(f.units), theirs, study.Number(f.theirUnits()), study.Times(f.faster)}
}

// shapes returns the table of other numbers of inputs and outputs.
func (d *data) shapes() *study.Table {
	t := &study.Table{Left: 4, Together: besideTimes(4), Head: besideHead("workload", "curve", "proof", "in/out")}
	for _, m := range shapes() {
		for _, at := range points() {
			if f := d.figure(&m, at, m.workload); f.rounds > 0 {
				t.Add(append([]string{m.titled(m.workload), at.curve, at.proof, m.count() + "/" + m.count()}, f.beside()...)...)
			}
		}
	}
	return t
}

// verifications returns a table that compares all our figures of verifying with one of Panurus.
func (d *data) verifications() *study.Table {
	t := &study.Table{Left: 3, Head: []string{"curve", "bits", "proof"}}
	for _, f := range verifications() {
		t.Head = append(t.Head, f.title+" (ms)")
	}
	for _, at := range points() {
		cells := []string{at.curve, fmt.Sprint(at.bits), at.proof}
		measured := false
		for _, m := range verifications() {
			cell := study.None
			if f := d.figure(&m.quantity, at, "VerificationSenderProof"); f.rounds > 0 {
				measured = true
				cell = fmt.Sprintf("%s, %s", study.Times(f.faster), format.Significant(f.ns/1e6, 4, 6))
			}
			cells = append(cells, cell)
		}
		if measured {
			t.Add(cells...)
		}
	}
	return t
}

// alone returns the table of quantities for which there is no figure of Panurus.
func (d *data) alone() *study.Table {
	t := &study.Table{Left: 3, Head: []string{"workload", "parameters", "what", "time", "spread", "per second"}}
	for _, m := range alone() {
		if f := d.figure(&m, point{}, ""); f.rounds > 0 {
			t.Add(m.workload, f.where, m.note, study.Time(f.ns), f.spreadCell(), study.Number(1e9/f.ns))
		}
	}
	return t
}

// sizes returns a table of allocations and of proof sizes.
func (d *data) sizes() *study.Table {
	t := &study.Table{Left: 5, Head: []string{"workload", "curve", "bits", "proof", "in/out", "allocations", "Panurus", "KiB", "Panurus", "proof bytes", "Panurus"}}
	for _, m := range slices.Concat(compared(), shapes()) {
		for _, at := range points() {
			f := d.figure(&m, at, m.workload)
			if f.rounds == 0 || f.theirs == nil {
				continue
			}
			theirs := peer.Recorded(f.theirs.Work) // the figure with memory, which need not be the fastest
			if theirs == nil {
				continue
			}
			t.Add(m.workload, at.curve, fmt.Sprint(at.bits), at.proof, fmt.Sprintf("%d/%d", f.theirs.In, f.theirs.Out), study.Number(f.allocs), study.Number(theirs.Allocs),
				study.Number(f.bytes/1024), study.Number(theirs.Bytes/1024), study.Number(f.proofBytes), study.Number(theirs.ProofBytes))
		}
	}
	return t
}

// matrix returns a table for each curve and width.
func (d *data) matrix() (tables []study.Titled) {
	recs := d.part(Matrix)
	for _, curve := range curves() {
		for _, bits := range widths() {
			t := &study.Table{Left: 3, Head: []string{"proof", "in", "out"}}
			for _, name := range matrixWorkloads() {
				for _, exec := range executors() {
					t.Head = append(t.Head, name+", "+exec)
				}
			}
			for _, at := range places(curve, bits) {
				cells, measured := []string{at.proof, at.in, at.out}, false
				for _, name := range matrixWorkloads() {
					times, some := at.times(recs, name)
					for _, ns := range times {
						cells = append(cells, study.Time(ns))
					}
					measured = measured || some
				}
				if measured {
					t.Add(cells...)
				}
			}
			if len(t.Rows) > 0 {
				tables = append(tables, study.Titled{Title: fmt.Sprintf("%s, %s bits", curve, bits), Table: t})
			}
		}
	}
	return tables
}

// sample fills v with a table of the run that Panurus' documentation prints, beside our run.
func (d *data) sample(v *view) {
	recs := d.part(Sample)
	if len(recs) == 0 {
		return
	}
	r, theirs := recs[0], peer.PanurusSample()
	workers := study.Axis(r, "workers")
	v.SampleMachine, v.SampleWorkers = study.OrUnknown(r.Env.CPU), workers
	t := &study.Table{Left: 1, Head: []string{"", "Panurus, " + theirs.Machine, "ours, " + v.SampleMachine}}
	t.Add("workers", fmt.Sprint(theirs.Workers), workers)
	t.Add("operations per second", fmt.Sprintf("%.1f", theirs.Throughput), fmt.Sprintf("%.1f", r.Value(record.Throughput)))
	for _, row := range []struct {
		name   string
		theirs float64
		metric record.Quantity
	}{
		{"P50", theirs.P50, record.LatencyP50},
		{"mean", theirs.Mean, record.LatencyMean},
		{"P95", theirs.P95, record.LatencyP95},
		{"P99", theirs.P99, record.LatencyP99},
		{"maximum", theirs.Max, record.LatencyMax},
	} {
		t.Add(row.name, study.Time(row.theirs), study.Time(r.Value(row.metric)))
	}
	t.Add("allocations per operation", study.Number(theirs.Allocs), study.Number(r.Value(record.Allocs)))
	t.Add("bytes per operation", study.Number(theirs.Bytes), study.Number(r.Value(record.AllocBytes)))
	t.Add("collections per second", study.Number(theirs.GCCycles/theirs.Duration), study.Number(r.Value(record.GCCycles)/r.Value(record.Duration)))
	t.Add("share of time with the world stopped", study.Percent(theirs.GCPauses/1e9/theirs.Duration), study.Percent(r.Value(record.GCPauses)/1e9/r.Value(record.Duration)))
	t.Add("collector's share of processor time", study.None, study.Percent(r.Value(record.GCCPUShare)/100))
	v.Sample = t
}
