package compare

import (
	"cmp"
	"math"
	"slices"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
)

// Verdict says what a row of a table shows. If a time or a rate changed, the verdict is Slower or
// Faster. If another figure changed, the verdict is Grew or Shrank, even where growth is an
// improvement.
type Verdict string

const (
	Slower  = Verdict(stat.Slower)
	Faster  = Verdict(stat.Faster)
	Same    = Verdict(stat.Same)    // no difference shown
	Unknown = Verdict(stat.Unknown) // Row.Why says why
	Grew    = Verdict("grew")
	Shrank  = Verdict("shrank")
	Equal   = Verdict("=") // exact figures that all agree
)

// judge compares one metric. Values of one session are compared in pairs: process i of each side
// ran next to process i of the others. Other values are two independent samples.
func judge(old, recent, again *sample) Row {
	r := Row{
		Package: old.pkg, Case: old.name, Metric: old.metric, Unit: old.unit, Whose: cmp.Or(old.whose, recent.whose),
		Few:   old.few || recent.few,
		Exact: old.exact, Better: old.better, // the old side decides
	}
	if r.Exact || old.mostlyZero() && recent.mostlyZero() {
		r.compareExact(old.values(), recent.values())
		if !r.overlaps() {
			return r
		}
		// A figure that should repeat but does not could hide a growth, so it is judged like a time.
		r.Exact, r.gated = false, true
	}
	var err error
	if a, b, c := paired(old, recent, again); len(a) > 0 {
		r.Paired = true
		r.Floor = stat.SplitFloor(a)
		if c != nil {
			r.Floor = stat.Floor(a, c)
		}
		r.Plan = old.plan()
		r.Effect, err = stat.PairedRobust(a, b, stat.LookConfidence(r.Plan, len(a), Confidence))
		if r.Plan != (record.Plan{}) && r.Confidence > 0 {
			r.Confidence = Confidence // of all looks together
		}
	} else {
		a, b := old.values(), recent.values()
		r.Floor = math.Max(stat.SplitFloor(a), stat.SplitFloor(b))
		r.Effect, err = stat.Unpaired(a, b, Confidence)
	}
	if known := !math.IsNaN(r.Change) && !math.IsInf(r.Change, 0); known && err == nil {
		r.New = r.Old * (1 + r.Change) // the change is estimated over all values, so the medians need not agree with it
	}
	switch {
	case err != nil:
		r.Verdict, r.Why = Unknown, few(err)
		if r.N == 0 { // there is no ratio
			a, b := old.values(), recent.values()
			r.Old, r.New, r.N, r.Change = stat.Median(a), stat.Median(b), min(len(a), len(b)), math.NaN()
		}
	case math.IsNaN(r.Floor):
		r.Verdict, r.Why = Unknown, "no noise floor: too few values of one side"
	default:
		r.Verdict = r.word(stat.Judge(r.Effect, r.Floor, r.Better))
	}
	return r
}

// overlaps reports whether a row of exact figures got worse in the median although the ranges of
// the sides overlap.
func (r *Row) overlaps() bool {
	worse := r.New > r.Old
	if r.Better == record.Higher {
		worse = r.New < r.Old
	}
	return r.Verdict == Same && worse && !Executed(r.Metric)
}

// mostlyZero reports whether more than half of the figures are 0, for example bytes per operation. Two
// such sides have no ratio, and agree in the median.
func (in *sample) mostlyZero() bool {
	zeros := 0
	for _, p := range in.points {
		if p.value == 0 {
			zeros++
		}
	}
	return 2*zeros > len(in.points)
}

// compareExact compares figures that repeat. They differ if the ranges of the sides do not overlap.
func (r *Row) compareExact(old, recent []float64) {
	slices.Sort(old)
	slices.Sort(recent)
	last := func(v []float64) float64 { return v[len(v)-1] }
	r.most = last(recent)
	r.Old, r.New, r.N, r.Confidence = stat.Median(old), stat.Median(recent), min(len(old), len(recent)), 1
	if r.Old != r.New { // 0 to 0 is no change, and has no ratio
		r.Change = r.New/r.Old - 1
	}
	r.Low, r.High = r.Change, r.Change
	switch {
	case r.Metric == record.Instructions.Name() && math.Abs(r.Change) < instructionsTrace:
		r.Verdict = Same
	case last(old) < recent[0]:
		r.Verdict = Grew
	case last(recent) < old[0]:
		r.Verdict = Shrank
	case old[0] == last(old) && old[0] == recent[0] && old[0] == last(recent):
		r.Verdict = Equal
	default:
		r.Verdict = Same
	}
}

// instructionsTrace is by how much, relatively, the processor's count of one program's instructions
// may differ between processes, because of interrupts and pages that are touched for the first
// time.
const instructionsTrace = 0.005

// Executed reports whether a metric counts what an operation executes: field multiplications, group
// operations, statements or instructions. A comparison has such counts if Workloads.Count is set.
func Executed(metric string) bool {
	switch metric {
	case record.FieldMuls.Name(), record.GroupOps.Name(), record.Statements.Name(), record.Instructions.Name():
		return true
	}
	return false
}

// worse reports whether the verdict is a change for the worse.
func (r *Row) worse() bool {
	switch r.Verdict {
	case Slower:
		return true
	case Grew:
		return r.Better == record.Lower
	case Shrank:
		return r.Better == record.Higher
	}
	return false
}

// word translates a verdict of package stat for the row's unit.
func (r *Row) word(v stat.Verdict) Verdict {
	if _, _, isTime := record.TimeUnit(r.Unit); isTime || record.IsRate(r.Unit) || v != stat.Slower && v != stat.Faster {
		return Verdict(v)
	}
	if (v == stat.Slower) == (r.Better == record.Lower) {
		return Grew
	}
	return Shrank
}

// inTime returns the points in order of time.
func (in *sample) inTime() []point {
	points := slices.Clone(in.points)
	slices.SortStableFunc(points, func(a, b point) int { return a.time.Compare(b.time) })
	return points
}

// values returns the values in order of time.
func (in *sample) values() []float64 {
	var values []float64
	for _, p := range in.inTime() {
		values = append(values, p.value)
	}
	return values
}

// plan returns the plan of the sample's session, or no plan. If the sample has several sessions, plan returns the longest of
// their plans.
func (in *sample) plan() (plan record.Plan) {
	for _, p := range in.points {
		if p.process.Plan.Most > plan.Most && stat.Looks(p.process.Plan) != nil {
			plan = p.process.Plan
		}
	}
	return plan
}

// pairOf returns what the processes of a pair have in common.
func pairOf(p record.Process) record.Process {
	p.Side = ""
	return unplanned(p)
}

// unplanned returns the process without its plan: it is the same one, whatever was planned.
func unplanned(p record.Process) record.Process {
	p.Plan = record.Plan{}
	return p
}

// paired returns the values of processes that have a partner with the same session and index on
// each other side, in order of time. c is nil if again is nil.
func paired(old, recent, again *sample) (a, b, c []float64) {
	second, third := recent.bySession(), again.bySession()
	for _, p := range old.inTime() {
		at := pairOf(p.process)
		v, ok := second[at]
		w, complete := third[at]
		if !ok || again != nil && !complete {
			continue
		}
		a, b = append(a, p.value), append(b, v)
		if again != nil {
			c = append(c, w)
		}
	}
	return a, b, c
}

// bySession returns the values of processes that belong to a session, indexed by pairOf.
func (in *sample) bySession() map[record.Process]float64 {
	values := make(map[record.Process]float64)
	if in == nil {
		return values
	}
	for _, p := range in.points {
		if p.process.Session != "" {
			values[pairOf(p.process)] = p.value
		}
	}
	return values
}
