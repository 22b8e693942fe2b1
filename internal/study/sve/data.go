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

// part returns the records of a part whose cases ran to their end.
func (d *data) part(name string) []*record.Record { return study.Ended(d.recs, name) }

// kernels returns the kernels that the records have, the narrowest first.
func (d *data) kernels() (names []string) {
	for _, k := range []string{"portable", "avx2", "avx512", "sve", "sve2"} {
		if slices.ContainsFunc(d.recs, func(r *record.Record) bool { return study.Axis(r, "kernel") == k }) {
			names = append(names, k)
		}
	}
	return names
}

// sample has a figure of every round.
type sample []float64

func (s sample) mean() float64 { return stat.Mean(s) }

// summary formats the relative standard deviation, for the end of a cell. With fewer than two rounds it is empty.
func (s sample) summary() string {
	if len(s) < 2 {
		return ""
	}
	return " ± " + study.Percent(stat.Deviation(s)/s.mean())
}

// time formats a cell for a sample in ns.
func (s sample) time() string {
	if len(s) == 0 {
		return study.None
	}
	return study.Time(s.mean()) + s.summary()
}

// number formats a cell for a sample without a unit.
func (s sample) number() string {
	if len(s) == 0 {
		return study.None
	}
	return study.Number(s.mean()) + s.summary()
}

// scaled returns the sample multiplied by a factor.
func (s sample) scaled(by float64) (all sample) {
	for _, v := range s {
		all = append(all, v*by)
	}
	return all
}

// loop returns the time of one instruction of a loop in every round, in ns.
func (d *data) loop(name string) (ns sample) {
	for _, r := range d.part(partInstructions) {
		if study.Axis(r, loopKey) == name {
			ns = append(ns, r.Value(record.LatencyP50)/r.Value(record.InLoop))
		}
	}
	return ns
}

// clockLoop is the loop in which each instruction takes one cycle.
const clockLoop = "scalar-" + loops.Chain

// clock returns the clock frequency in GHz, computed from the chain of additions, or 0 if that was not measured.
func (d *data) clock() float64 {
	ns := d.loop(clockLoop).mean()
	if ns == 0 {
		return 0
	}
	return 1 / ns
}

// counted reports whether the records have the processor's counters.
func (d *data) counted() bool {
	return slices.ContainsFunc(d.recs, func(r *record.Record) bool { return r.Value(record.Cycles) > 0 })
}

// work has the time, instructions and cycles per unit of a function on a kernel, or per permutation.
type work struct {
	ns, instructions, cycles sample
}

// function returns the work of a function on a kernel. permutationName counts as a function.
func (d *data) function(name, kernel string) (w work) {
	for _, r := range d.part(partFunctions) {
		measured := cmp.Or(study.Axis(r, "function"), permutationName)
		if measured != name || study.Axis(r, "kernel") != kernel {
			continue
		}
		units := r.Value(record.Units) + r.Value(record.Permutations) // a record has one of the two
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

// permutationName is the name of a permutation on the page.
const permutationName = "permutation"

// trees returns the times of a tree in ns.
func (d *data) trees(leaves, cpus int, kernel string) (ns sample) {
	for _, r := range d.part(partTrees) {
		if leavesOf(r) == leaves && cpusOf(r) == cpus && study.Axis(r, "kernel") == kernel {
			ns = append(ns, r.Value(record.LatencyP50))
		}
	}
	return ns
}

// distinct returns the distinct values that key gives for the records of trees, in ascending order.
func (d *data) distinct(key func(*record.Record) int) (values []int) {
	for _, r := range d.part(partTrees) {
		if v := key(r); !slices.Contains(values, v) {
			values = append(values, v)
		}
	}
	slices.Sort(values)
	return values
}

func leavesOf(r *record.Record) int { return int(study.AxisNumber(r, "leaves")) }
func cpusOf(r *record.Record) int   { return r.Env.GOMAXPROCS }

// head returns the head of the page. Its notes name the parts without records.
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
