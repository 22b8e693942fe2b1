package circuits

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/consensys/gnark-crypto/ecc"

	circuit "github.com/zkbench/zkbench/circuits/keccak"
	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/study"
	"github.com/zkbench/zkbench/internal/view/plot"
	workloads "github.com/zkbench/zkbench/internal/workload/circuits"
	"github.com/zkbench/zkbench/srs"
)

// data are the records of a study.
type data struct{ recs []*record.Record }

func newData(recs []*record.Record) *data { return &data{recs} }

// side returns the records of a side whose cases ran to their end.
func (d *data) side(name string) []*record.Record { return study.Ended(d.recs, name) }

// head returns the head of the page. Its notes name the parts without records.
func (d *data) head(parts []part) study.Head {
	h := study.NewHead(d.recs)
	var missing, rounds []string
	for _, p := range parts {
		if p.rounds {
			rounds = append(rounds, "`"+p.name+"`")
		}
		if !slices.ContainsFunc(d.recs, func(r *record.Record) bool { return r.Process.Side == p.name }) {
			missing = append(missing, p.name)
		}
	}
	for _, r := range d.recs {
		h.Rounds = max(h.Rounds, r.Process.Index+1)
	}
	h.RoundsOf = strings.Join(rounds, " and ")
	if len(d.recs) > 0 && len(missing) > 0 {
		h.Notes = append(h.Notes, "not measured: "+strings.Join(missing, ", "))
	}
	return h
}

// find returns the first record of a part with these values of axes, or nil if there is none.
func (d *data) find(part string, values map[string]string) *record.Record {
	for _, r := range d.side(part) {
		same := true
		for key, v := range values {
			same = same && study.Axis(r, key) == v
		}
		if same {
			return r
		}
	}
	return nil
}

// stage returns the time of a stage in seconds, or 0 if the record does not have it.
func stage(r *record.Record, name string) float64 {
	if r == nil {
		return 0
	}
	return r.Value(record.StageTime(name))
}

// ratio formats the ratio of a to b as a cell. It returns a dash if a or b is 0.
func ratio(a, b float64) string {
	if a == 0 || b == 0 {
		return study.None
	}
	return study.Times(a / b)
}

// peak returns the peak memory over all stages, or in the window of a load run, in bytes.
func peak(r *record.Record) float64 {
	if r == nil {
		return 0
	}
	most := r.Value(record.PeakRSS)
	for _, s := range r.Stages {
		if s.Whose != record.OfZkbench {
			most = max(most, float64(s.PeakRSS))
		}
	}
	return most
}

// memory formats a number of bytes as a cell.
func memory(b float64) string {
	u := format.Fitting("B", b)
	if u.Size == 1 {
		return study.Number(b)
	}
	return study.Number(b/u.Size) + " " + u.Name
}

// constraints returns the number of constraints in a record, or 0 if r is nil.
func constraints(r *record.Record) float64 {
	if r == nil {
		return 0
	}
	return r.Value(record.Constraints)
}

// constraintsCell formats the number of constraints, with a footnote if the circuit was counted and not proved.
func constraintsCell(r *record.Record) string {
	text := study.Number(constraints(r))
	if r == nil {
		return text
	}
	for _, f := range r.Findings {
		switch f.Name {
		case workloads.FindingCounted:
			text += "[^counted]"
		case workloads.FindingComposed:
			text += "[^composed]"
		}
	}
	return text
}

// column is a column of a table of records.
type column struct {
	head  string
	cell  func(r *record.Record) string
	known bool // also if nothing was proved
}

// numberOf returns a column with a metric that is a number.
func numberOf(head string, metric record.Quantity) column {
	return column{head: head, cell: func(r *record.Record) string { return study.Number(r.Value(metric)) }}
}

// stageTime returns a column with the time of a stage.
func stageTime(head, name string) column {
	return column{head: head, cell: func(r *record.Record) string { return study.Time(1e9 * stage(r, name)) }}
}

// axes returns a column for each axis.
func axes(keys ...string) (all []column) {
	for _, key := range keys {
		all = append(all, column{key, func(r *record.Record) string { return study.Axis(r, key) }, true})
	}
	return all
}

// keysTogether returns the column of the time to make both keys, for gnark, which makes them in one stage.
func keysTogether() []column { return []column{stageTime("keys", "keys")} }

// keysApart returns the columns of the times to make the proving key and the verifying key, for our own systems.
func keysApart() []column {
	return []column{stageTime("proving key", stageProvingKey), stageTime("verifying key", stageVerifyingKey)}
}

// Stages of our own systems within the stage keys.
const stageProvingKey, stageVerifyingKey = "keys/proving", "keys/verifying"

// stageColumns returns the columns of all stages, with the given columns for the keys. The columns prove and memory can
// have estimates.
func stageColumns(keys []column) []column {
	return slices.Concat([]column{
		{"constraints", constraintsCell, true},
		numberOf("domain", record.Domain),
		stageTime("build", "build"), stageTime("reference string", "srs"), stageTime("witness", "witness"),
	}, keys, []column{
		stageTime("prove", "prove"), stageTime("verify", "verify"), memoryColumn(), numberOf("proof bytes", record.ProofSize),
	})
}

// memoryColumn returns the column of the peak memory.
func memoryColumn() column {
	return column{head: "memory", cell: func(r *record.Record) string { return memory(peak(r)) }}
}

// stages returns a table of the cases of a part. If size, an axis, is not empty, cases that need too much memory have a
// row of estimates.
func (d *data) stages(part string, words int, columns []column, size string) *study.Table {
	t := &study.Table{Left: words}
	for _, c := range columns {
		t.Head = append(t.Head, c.head)
	}
	for _, r := range d.recs {
		if r.Process.Side != part || r.Status != record.OK && (size == "" || !r.TooLarge()) {
			continue
		}
		var cells []string
		for _, c := range columns {
			switch {
			case c.known || stage(r, "prove") > 0:
				cells = append(cells, c.cell(r))
			case r.Status != record.OK:
				cells = append(cells, d.estimated(r, c, size))
			default: // the constraints were counted, and nothing was proved
				cells = append(cells, study.None)
			}
		}
		t.Add(cells...)
	}
	return t
}

// domain returns the size of the domain of a case of gates, Pedersen hashes or Keccak. It computes the size from the
// axes, so it also works for a case that did not run.
func domain(r *record.Record) float64 {
	gates := uint64(study.AxisNumber(r, "gates"))
	if of := systemOf(r); of != nil && r.Workload == "Pedersen" {
		gates = uint64(workloads.PedersenConstraints(of.name, int(study.AxisNumber(r, "hashes"))))
	}
	if r.Workload == "Keccak" {
		each := circuit.BlockConstraints
		if study.Axis(r, "form") == "std" {
			each = circuit.StdBlockConstraints
		}
		gates = uint64(each * keccak.Blocks(int(study.AxisNumber(r, "bytes"))))
	}
	return float64(ecc.NextPowerOfTwo(gates))
}

// estimated returns the cell of a case that could not run. It estimates prove and memory, which grow with the size of
// the domain, by a straight line through the cases of the part that ran.
func (d *data) estimated(r *record.Record, c column, size string) string {
	var value func(r *record.Record) float64
	show := memory
	switch c.head {
	case "prove":
		value, show = func(r *record.Record) float64 { return 1e9 * stage(r, "prove") }, study.Time
	case "memory":
		value = peak
	default:
		return study.None
	}
	if domain(r) > srs.MaxSize {
		return study.None
	}
	var x, y []float64
	for _, other := range d.side(r.Process.Side) {
		if equalExcept(other, r, size) {
			x, y = append(x, domain(other)), append(y, value(other))
		}
	}
	f, err := stat.Line(x, y, stat.Constant) // with constant scatter the largest cases weigh most
	if err != nil {
		return study.None
	}
	if v := f.Evaluate(domain(r)); v > 0 {
		return fmt.Sprintf("*≈ %s*", show(v))
	}
	return study.None
}

// equalExcept reports whether two cases have equal axes except but.
func equalExcept(a, b *record.Record, but string) bool {
	return !slices.ContainsFunc(a.Axes, func(x record.Axis) bool { return x.Key != but && study.Axis(b, x.Key) != x.Value })
}

// figure computes a figure of a record. It returns 0 if the record does not have the figure.
type figure func(r *record.Record) float64

// timeOf returns the figure that is the time of a stage in seconds.
func timeOf(name string) figure {
	return func(r *record.Record) float64 { return stage(r, name) }
}

// metricOf returns the figure that is a metric.
func metricOf(q record.Quantity) figure {
	return func(r *record.Record) float64 { return r.Value(q) }
}

// axisOf returns the figure that is a numeric axis.
func axisOf(key string) figure {
	return func(r *record.Record) float64 { return study.AxisNumber(r, key) }
}

// series is a line of a chart: the cases of a part that keep accepts.
type series struct {
	name, part string
	keep       func(r *record.Record) bool // nil: all
}

// curve returns the line of a series with the figures x and y. Cases without y are left out.
func (d *data) curve(s series, x, y figure) plot.Curve {
	c := plot.Curve{Name: s.name}
	for _, r := range d.side(s.part) {
		if v := y(r); v > 0 && (s.keep == nil || s.keep(r)) {
			c.Points = append(c.Points, plot.Point{X: x(r), Y: v})
		}
	}
	slices.SortStableFunc(c.Points, func(a, b plot.Point) int { return cmp.Compare(a.X, b.X) })
	return c
}

// curves returns the line of each series.
func (d *data) curves(all []series, x, y figure) (lines []plot.Curve) {
	for _, s := range all {
		lines = append(lines, d.curve(s, x, y))
	}
	return lines
}

// panel is one panel of a chart: its title, the label of its axis, and what it shows.
type panel struct {
	title, unit string
	y           figure
}

// stagePanel returns the panel of the time of a stage.
func stagePanel(title, name string) panel { return panel{title, "s", timeOf(name)} }

// panels returns a chart with a panel for each figure, against x.
func (d *data) panels(title, xName string, x figure, all []series, figures []panel, notes ...string) *plot.Panels {
	p := &plot.Panels{Title: title, Notes: notes}
	for _, f := range figures {
		p.Panels = append(p.Panels, plot.Curves{Title: f.title, X: xName, Y: f.unit, Lines: d.curves(all, x, f.y)})
	}
	return p
}

// largest returns the record with the largest figure by, of the records of a part that selects accepts. It returns nil if
// there is none.
func (d *data) largest(part string, by figure, selects func(r *record.Record) bool) (largest *record.Record) {
	for _, r := range d.side(part) {
		if selects(r) && (largest == nil || by(r) > by(largest)) {
			largest = r
		}
	}
	return largest
}
