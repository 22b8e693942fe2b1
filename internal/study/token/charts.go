package token

import (
	"fmt"
	"slices"
	"strings"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/study"
	"github.com/zkbench/zkbench/internal/view/plot"
)

// charts returns the images that the page shows.
func charts(recs []*record.Record) ([]study.Chart, error) {
	d := newData(recs)
	return d.charts(), d.err
}

const (
	unitsPrefix     = "units-"
	executorsPrefix = "executors-"
)

// charts returns the images. Charts without values are left out.
func (d *data) charts() (charts []study.Chart) {
	for _, curve := range curves() {
		charts = append(charts, d.units(curve))
	}
	for _, curve := range curves() {
		for _, bits := range widths() {
			charts = append(charts, d.executors(curve, bits))
		}
	}
	return slices.DeleteFunc(charts, func(c study.Chart) bool { return len(c.Figure.(*plot.Dots).Rows) == 0 })
}

// fileName joins parts to a file name in lower case, without characters that a link would have to escape.
func fileName(parts ...string) string {
	return strings.ToLower(strings.ReplaceAll(strings.Join(parts, "-"), "_", "-")) + ".svg"
}

// units draws our workloads beside Panurus' on a curve.
func (d *data) units(curve string) study.Chart {
	dots := &plot.Dots{
		Title: "Ours beside Panurus, " + curve,
		Notes: []string{"2 inputs, 2 outputs, one thread; a unit is one scalar multiplication on the same machine; left is faster"},
		Unit:  "units", Series: []string{"ours", "Panurus"},
	}
	for _, m := range compared() {
		for _, at := range points() {
			if at.curve != curve {
				continue
			}
			f := d.figure(&m, at, m.workload)
			if f.theirs == nil || f.units == 0 {
				continue
			}
			name := m.titled(fmt.Sprintf("%s %s %d", m.workload, at.proof, at.bits))
			dots.Rows = append(dots.Rows, plot.DotsRow{Name: name, Values: []float64{f.units, f.theirUnits()}})
		}
	}
	return study.Chart{File: unitsPrefix + fileName(curve), Title: dots.Title, Figure: dots}
}

// executors returns a chart of the time of an operation with each executor, by inputs and outputs.
func (d *data) executors(curve, bits string) study.Chart {
	recs := d.part(Matrix)
	dots := &plot.Dots{
		Title: fmt.Sprintf("Executors, %s, %s bits", curve, bits),
		Notes: []string{"rows: inputs/outputs; one operation at a time, all processors available"},
		Unit:  "time per operation (ms)", Series: executors(),
	}
	for _, name := range matrixWorkloads() {
		for _, at := range places(curve, bits) {
			times, measured := at.times(recs, name)
			if !measured {
				continue
			}
			for i := range times {
				times[i] /= 1e6
			}
			dots.Rows = append(dots.Rows, plot.DotsRow{Name: fmt.Sprintf("%s %s %s/%s", name, at.proof, at.in, at.out), Values: times})
		}
	}
	return study.Chart{File: executorsPrefix + fileName(curve, bits), Title: dots.Title, Figure: dots}
}
