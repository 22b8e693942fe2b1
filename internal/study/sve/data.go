package sve

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/study"
	"github.com/zkbench/zkbench/internal/study/loops"
)

// data are the records of a study.
type data struct{ recs []*record.Record }

// part returns the records of a part that ran to their end.
func (d *data) part(name string) []*record.Record { return study.Ended(d.recs, name) }

// kernels are those of the records, the narrowest first.
func (d *data) kernels() (names []string) {
	for _, k := range []string{"portable", "avx2", "avx512", "sve", "sve2"} {
		if slices.ContainsFunc(d.recs, func(r *record.Record) bool { return study.Axis(r, "kernel") == k }) {
			names = append(names, k)
		}
	}
	return names
}

// sample is a figure in every round.
type sample []float64

func (s sample) mean() float64 { return stat.Mean(s) }

// summary is the relative standard deviation.
func (s sample) summary() string {
	if len(s) < 2 {
		return ""
	}
	return " ± " + study.Percent(stat.Deviation(s)/s.mean())
}

// time is the cell of a sample of ns.
func (s sample) time() string {
	if len(s) == 0 {
		return study.None
	}
	return study.Time(s.mean()) + s.summary()
}

// number is the cell of a sample without a unit.
func (s sample) number() string {
	if len(s) == 0 {
		return study.None
	}
	return study.Number(s.mean()) + s.summary()
}

// scaled is the sample times a factor.
func (s sample) scaled(by float64) (all sample) {
	for _, v := range s {
		all = append(all, v*by)
	}
	return all
}

// loop is a sample of a loop: how long one of its instructions takes, in ns.
func (d *data) loop(name string) (ns sample) {
	for _, r := range d.part(partInstructions) {
		if study.Axis(r, loopKey) == name {
			ns = append(ns, r.Value(record.LatencyP50)/r.Value(record.InLoop))
		}
	}
	return ns
}

// clockLoop is the loop of which an instruction takes a cycle.
const clockLoop = "scalar-" + loops.Chain

// clock is the processor's in GHz, as the chain of additions tells; 0: not measured.
func (d *data) clock() float64 {
	ns := d.loop(clockLoop).mean()
	if ns == 0 {
		return 0
	}
	return 1 / ns
}

// counted tells whether the processor was asked for its counters.
func (d *data) counted() bool {
	return slices.ContainsFunc(d.recs, func(r *record.Record) bool { return r.Value(record.Cycles) > 0 })
}

// work is what the rounds say of a unit of a function on a kernel, or of a permutation.
type work struct {
	ns, instructions, cycles sample
}

// function is the work of a function; that of permutationName is a permutation.
func (d *data) function(name, kernel string) (w work) {
	for _, r := range d.part(partFunctions) {
		is := cmp.Or(study.Axis(r, "function"), permutationName)
		if is != name || study.Axis(r, "kernel") != kernel {
			continue
		}
		units := r.Value(record.Units) + r.Value(record.Permutations) // one of them is there
		w.ns = append(w.ns, r.Value(record.LatencyP50)/units)
		if cycles := r.Value(record.Cycles); cycles > 0 {
			w.instructions = append(w.instructions, r.Value(record.Instructions)/units)
			w.cycles = append(w.cycles, cycles/units)
		}
	}
	if clock := d.clock(); len(w.cycles) == 0 && clock > 0 {
		w.cycles = w.ns.scaled(clock)
	}
	return w
}

// permutationName is how the page calls a permutation.
const permutationName = "permutation"

// trees is the time of a tree in ns.
func (d *data) trees(leaves, cpus int, kernel string) (ns sample) {
	for _, r := range d.part(partTrees) {
		if leavesOf(r) == leaves && cpusOf(r) == cpus && study.Axis(r, "kernel") == kernel {
			ns = append(ns, r.Value(record.LatencyP50))
		}
	}
	return ns
}

// distinct are the values of trees, in order.
func (d *data) distinct(of func(*record.Record) int) (values []int) {
	for _, r := range d.part(partTrees) {
		if v := of(r); !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	return values
}

func leavesOf(r *record.Record) int { return int(study.AxisNumber(r, "leaves")) }
func cpusOf(r *record.Record) int   { return r.Env.GOMAXPROCS }

// head is what the page says of the records, parts that have none named.
func (d *data) head() study.Head {
	h := study.NewHead(d.recs)
	for _, p := range Study().Parts {
		if len(d.recs) > 0 && len(d.part(p.Name)) == 0 {
			h.Notes = append(h.Notes, "not measured: "+p.Name)
		}
	}
	for _, r := range d.recs {
		h.Rounds = max(h.Rounds, r.Process.Index+1)
	}
	if h.Rounds > 0 && h.Rounds < runs {
		h.Notes = append(h.Notes, fmt.Sprintf("the study has at least %d rounds", runs))
	}
	return h
}
