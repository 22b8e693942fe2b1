package token

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/study"
	"github.com/zkbench/zkbench/internal/study/peer"
)

// data are the records of a study.
type data struct {
	recs      []*record.Record
	yardstick []*record.Record // for each record, the last reference operation on its curve before it; nil: none
	err       error            // the first error of a figure
}

func newData(recs []*record.Record) *data {
	d := &data{recs: recs, yardstick: make([]*record.Record, len(recs))}
	last := make(map[string]*record.Record)
	for i, r := range recs {
		curve := study.Axis(r, "curve")
		if r.Workload == YardstickName && r.Status == record.OK {
			last[curve] = r
		}
		d.yardstick[i] = last[curve]
	}
	return d
}

// part returns the records of a part whose cases ran to their end.
func (d *data) part(name string) []*record.Record { return study.Ended(d.recs, name) }

// point is a curve, width and proof at which something was measured.
type point struct {
	curve string
	bits  int
	proof string
}

func points() (all []point) {
	for _, curve := range curves() {
		for _, bits := range widths() {
			for _, proof := range proofs() {
				n, _ := strconv.Atoi(bits) // widths returns numbers
				all = append(all, point{curve, n, proof})
			}
		}
	}
	return all
}

func (p point) String() string { return fmt.Sprintf("%s, %d bits, %s", p.curve, p.bits, p.proof) }

func (p point) matches(r *record.Record) bool {
	return p == point{study.Axis(r, "curve"), int(study.AxisNumber(r, "bits")), study.Axis(r, "proof")}
}

// figure is the result of a quantity at a point: medians over the rounds of each round's mean, and their spread.
type figure struct {
	rounds        int    // 0: not measured
	where         string // curve, width and proof, if the workload has them
	ns            float64
	units         float64 // multiples of the reference operation
	spread        float64 // of units, or of ns if there are no units
	bytes, allocs float64 // per operation
	proofBytes    float64

	theirs *peer.Figure // nil: none
	faster float64      // as in peer.Yardstick
}

// figure returns the result of a quantity at a point, beside Panurus' figure for the workload against. If there is an
// error, it stores the first in d.err.
func (d *data) figure(m *quantity, at point, against string) (f figure) {
	var ns, units []float64
	for i, r := range d.recs {
		if r.Process.Side != Panurus || r.Status != record.OK || !m.matches(r) || !at.matches(r) && !m.once {
			continue
		}
		each := float64(max(m.each, 1))
		f.bytes, f.allocs = r.Value(record.AllocBytes)/each, r.Value(record.Allocs)/each
		f.proofBytes = r.Value(record.ProofSize)
		f.where = where(r)
		f.rounds++
		ns = append(ns, r.Value(record.LatencyMean)/each)
		if d.yardstick[i] == nil {
			continue
		}
		y, err := peer.Measure(peer.Own{
			Work: peer.Work{
				Workload: against, Curve: at.curve, Bits: at.bits, Proof: at.proof,
				In: int(study.AxisNumber(r, "in")), Out: int(study.AxisNumber(r, "out")),
			},
			Batch: m.each, Ns: r.Value(record.LatencyMean) / each, GLVNs: d.yardstick[i].Value(record.LatencyMean),
		})
		d.err = cmp.Or(d.err, err)
		units = append(units, y.Units)
		if !m.apart {
			f.theirs = y.Panurus
		}
	}
	f.ns = stat.Median(ns)
	f.spread = study.Spread(ns)
	if len(units) > 0 {
		f.units, f.spread = stat.Median(units), study.Spread(units)
		f.faster = f.theirUnits() / f.units
	}
	return f
}

// theirUnits returns the units of Panurus' figure, or 0 if there is none.
func (f *figure) theirUnits() float64 {
	if f.theirs == nil {
		return 0
	}
	return f.theirs.Units()
}

// where returns the curve, width and proof of a record, as far as it has them.
func where(r *record.Record) string {
	var parts []string
	for _, key := range []string{"curve", "bits", "proof"} {
		if value, ok := r.Axes.Get(key); ok {
			parts = append(parts, value)
		}
	}
	return strings.Join(parts, " ")
}

// yardsticks returns the times of the reference operation on a curve, in ns.
func (d *data) yardsticks(curve string) (ns []float64) {
	for _, r := range d.recs {
		if r.Workload == YardstickName && study.Axis(r, "curve") == curve && r.Status == record.OK {
			ns = append(ns, r.Value(record.LatencyMean))
		}
	}
	return ns
}

// place is a row of the matrix, with a time for each workload and executor.
type place struct{ curve, bits, proof, in, out string }

// places returns the rows of a curve and width.
func places(curve, bits string) (all []place) {
	for _, proof := range proofs() {
		for _, in := range counts() {
			for _, out := range counts() {
				all = append(all, place{curve, bits, proof, in, out})
			}
		}
	}
	return all
}

// times returns the times of a workload with each executor in ns, and 0 for executors without a time. some reports
// whether there is any time.
func (p place) times(recs []*record.Record, workload string) (ns []float64, some bool) {
	ns = make([]float64, len(executors()))
	for i, exec := range executors() {
		m := &quantity{workload: workload, axes: []record.Axis{
			axis("curve", p.curve), axis("bits", p.bits), axis("proof", p.proof), axis("in", p.in), axis("out", p.out), axis("exec", exec),
		}}
		if at := slices.IndexFunc(recs, m.matches); at >= 0 {
			ns[i], some = recs[at].Value(record.LatencyMean), true
		}
	}
	return ns, some
}

// spreadCell formats the spread of a figure as a cell. With one round it is a dash.
func (f *figure) spreadCell() string {
	if f.rounds < 2 {
		return study.None
	}
	return study.Percent(f.spread)
}
