package circuits

import (
	"slices"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/study"
)

// timed returns the times of a record's operations in ns: prove and verify, or the mean of a load run.
func timed(r *record.Record) (names []string, ns []float64) {
	for _, name := range []string{"prove", "verify"} {
		if s := stage(r, name); s > 0 {
			names, ns = append(names, name), append(ns, 1e9*s)
		}
	}
	if mean := r.Value(record.LatencyMean); mean > 0 {
		names, ns = append(names, "one operation"), append(ns, mean)
	}
	return names, ns
}

// side is one side of a comparison: the head of its column, and which records belong to it.
type side struct {
	head     string
	contains func(r *record.Record) bool
}

// compareSides returns a table that compares the cases of two sides by their medians over the rounds. Two records have
// the same case if all axes except but are equal. The ratio is the second median to the first, or the first to the
// second if faster is true.
func compareSides(recs []*record.Record, but string, first, second side, ratio string, faster bool) *study.Table {
	t := &study.Table{Left: 3, Together: []int{3, 4}, Head: []string{"workload", "case", "what", first.head, second.head, ratio, "rounds"}}
	var seen []*record.Record
	for _, r := range recs {
		same := func(o *record.Record) bool { return o.Workload == r.Workload && equalExcept(o, r, but) }
		if slices.ContainsFunc(seen, same) {
			continue
		}
		seen = append(seen, r)
		names, _ := timed(r)
		for i, name := range names {
			var a, b []float64
			for _, o := range recs {
				if _, ns := timed(o); same(o) && i < len(ns) {
					if first.contains(o) {
						a = append(a, ns[i])
					} else if second.contains(o) {
						b = append(b, ns[i])
					}
				}
			}
			if len(a) == 0 || len(b) == 0 {
				continue
			}
			x := stat.Median(b) / stat.Median(a)
			if faster {
				x = 1 / x
			}
			t.Add(r.Workload, caseOf(r, but), name, study.Time(stat.Median(a)), study.Time(stat.Median(b)), study.Times(x), study.Number(float64(min(len(a), len(b)))))
		}
	}
	return t
}

// caseOf returns the name of a record's case without the axis but.
func caseOf(r *record.Record, but string) string {
	kept := slices.DeleteFunc(slices.Clone(r.Axes), func(a record.Axis) bool { return a.Key == but })
	return kept.String()
}

// portable returns the table that compares this program with the portable one.
func (d *data) portable() *study.Table {
	onSide := func(name string) func(r *record.Record) bool {
		return func(r *record.Record) bool { return r.Process.Side == name }
	}
	recs := slices.Concat(d.side(study.Purego), d.side(study.PortableSide(study.Purego)))
	return compareSides(recs, "", side{"this program", onSide(study.Purego)}, side{"without assembly", onSide(study.PortableSide(study.Purego))}, "slower", false)
}

// threads returns the table that compares one processor with two.
func (d *data) threads(part string) *study.Table {
	onCPUs := func(n string) func(r *record.Record) bool {
		return func(r *record.Record) bool { return study.Axis(r, "cpus") == n }
	}
	return compareSides(d.side(part), "cpus", side{"one processor", onCPUs("1")}, side{"two", onCPUs("2")}, "faster", true)
}
