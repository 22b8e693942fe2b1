package circuits

import (
	"slices"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/study"
)

// timed is what a record's operation took, in ns: prove and verify, or the mean of a load
// run.
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

// side is one side of a comparison.
type side struct {
	head string
	is   func(r *record.Record) bool
}

// against is a table of the medians of the cases of a part on two sides, and the ratio of
// the second to the first, or of the first to the second where faster is asked for. Cases
// are told apart by all axes but one.
func against(recs []*record.Record, but string, first, second side, ratio string, faster bool) *study.Table {
	t := &study.Table{Left: 3, Head: []string{"workload", "case", "what", first.head, second.head, ratio, "rounds"}}
	var seen []*record.Record
	for _, r := range recs {
		same := func(o *record.Record) bool { return o.Workload == r.Workload && like(o, r, but) }
		if slices.ContainsFunc(seen, same) {
			continue
		}
		seen = append(seen, r)
		names, _ := timed(r)
		for i, name := range names {
			var a, b []float64
			for _, o := range recs {
				if _, ns := timed(o); same(o) && i < len(ns) {
					if first.is(o) {
						a = append(a, ns[i])
					} else if second.is(o) {
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

// caseOf names a case without an axis.
func caseOf(r *record.Record, but string) string {
	kept := slices.DeleteFunc(slices.Clone(r.Axes), func(a record.Axis) bool { return a.Key == but })
	return kept.String()
}

// portable is the table of the part that compares this program with one without assembly.
func (d *data) portable() *study.Table {
	of := func(name string) func(r *record.Record) bool {
		return func(r *record.Record) bool { return r.Process.Side == name }
	}
	recs := slices.Concat(d.side(study.Purego), d.side(study.PortableSide(study.Purego)))
	return against(recs, "", side{"this program", of(study.Purego)}, side{"without assembly", of(study.PortableSide(study.Purego))}, "slower", false)
}

// threads is the table of the part that compares numbers of processors.
func (d *data) threads(part string) *study.Table {
	of := func(n string) func(r *record.Record) bool {
		return func(r *record.Record) bool { return study.Axis(r, "cpus") == n }
	}
	return against(d.side(part), "cpus", side{"one processor", of("1")}, side{"two", of("2")}, "faster", true)
}
