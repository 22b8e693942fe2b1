package sve

import (
	"cmp"
	_ "embed"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/study"
)

// prose is the template of the page.
//
//go:embed sve.md.tmpl
var prose string

// view is the data of the page's template. A table without measurements is empty.
type view struct {
	Answer  study.Answer
	Head    study.Head
	Varies  string // how many functions deviate much from round to round
	Clock   string // GHz; empty: not measured
	Counted bool   // the records have the processor's counters
	Table   map[string]string
	Chart   map[string]string // by file name
	WhatIf  WhatIf
}

// page writes the page of the records, in Markdown.
func page(w io.Writer, recs []*record.Record) error {
	d := &data{recs}
	all, err := charts(recs)
	if err != nil {
		return err
	}
	v := view{
		Answer: d.answer(), Varies: d.varies(), Head: d.head(), Counted: d.counted(), WhatIf: DefaultWhatIf(), Chart: study.Images(all),
		Table: map[string]string{
			"machines": d.machines().String(), "trees": d.treeTable().String(), "functions": d.functionTable().String(),
			"instructions": d.instructionTable().String(), "static": staticTable().String(), "ratios": ratioTable().String(),
			"executed": executedTable().String(), "units": unitTable().String(),
		},
	}
	v.Table["whatif"] = v.WhatIf.Table().String()
	if clock := d.clock(); clock > 0 {
		v.Clock = study.Number(clock)
	}
	return study.Fill(w, prose, v)
}

// machines returns table 2 of the study, with a row for the machine of the records.
func (d *data) machines() *study.Table {
	t := &study.Table{Left: 3, Head: []string{"machine", "instructions", "microarchitecture", "cores", "GHz", "bits"}}
	for _, m := range Machines() {
		t.Add(m.Name, m.ISA, m.Architecture, fmt.Sprint(m.Cores), study.Number(m.GHz), fmt.Sprint(m.Bits))
	}
	if len(d.recs) > 0 {
		e := d.recs[0].Env
		bits := study.None // the widest
		for _, k := range d.kernels() {
			if b := bitsOf(k); b > 0 {
				bits = fmt.Sprint(b)
			}
		}
		t.Add("**ours**, "+study.OrUnknown(e.CPU), e.Arch+", "+strings.Join(d.kernels(), ", "), study.None, fmt.Sprint(e.Cores), study.Number(d.clock()), bits)
	}
	return t
}

// treeTable returns the values of figure 5, means and deviations.
func (d *data) treeTable() *study.Table {
	kernels := d.kernels()
	t := &study.Table{Head: slices.Concat([]string{"leaves", "processors"}, kernels, []string{"hashes per second and processor"})}
	for i := range kernels {
		t.Together = append(t.Together, 2+i)
	}
	for _, leaves := range d.distinct(leavesOf) {
		for _, cpus := range d.distinct(cpusOf) {
			row, best := []string{fmt.Sprint(leaves), fmt.Sprint(cpus)}, 0.0
			for _, k := range kernels {
				s := d.trees(leaves, cpus, k)
				row = append(row, s.time())
				if len(s) > 0 {
					best = max(best, float64(2*leaves-1)/s.mean()*1e9/float64(cpus))
				}
			}
			t.Add(append(row, study.Number(best))...)
		}
	}
	return t
}

// functionTable returns the values of figures 6 and 7 for the kernels of this machine.
func (d *data) functionTable() *study.Table {
	t := &study.Table{Left: 2, Head: []string{"function", "kernel", "time per unit", "instructions", "cycles", "instructions per cycle", "time, AVX2 = 100 %"}}
	if len(d.part(partFunctions)) == 0 {
		return t
	}
	for _, name := range append(functions(), permutationName) {
		base := d.function(name, "avx2").ns
		for _, k := range d.kernels() {
			w := d.function(name, k)
			if len(w.ns) == 0 {
				continue
			}
			instructions := w.instructions.mean()
			if instructions == 0 && bitsOf(k) > 0 {
				instructions = perUnit(k, name, bitsOf(k))
			}
			ipc, share := study.None, study.None
			if cycles := w.cycles.mean(); cycles > 0 && instructions > 0 {
				ipc = study.Number(instructions / cycles)
			}
			if len(base) > 0 {
				share = study.Percent(w.ns.mean() / base.mean())
			}
			t.Add(name, k, w.ns.time(), study.Number(instructions), study.Number(w.cycles.mean()), ipc, share)
		}
	}
	return t
}

// isolated has the study's instructions per cycle (section 4.3).
var isolated = map[string]string{
	"avx2-add": "4.5 (Xeon) [^ports]", "avx2-sub": "4.5 (Xeon) [^ports]", "avx2-mul": "1.75 (Xeon)",
	"sve-add": "2.4 (Graviton3)", "sve-sub": "2.4 (Graviton3)", "sve-mul": "0.6 (Graviton3)",
}

// instructionTable returns the instructions per cycle in isolation. It has the study's figures also for loops that this
// machine does not have.
func (d *data) instructionTable() *study.Table {
	t := &study.Table{Left: 1, Head: []string{"loop", "instructions per ns", "instructions per cycle", "the study"}}
	recs := d.part(partInstructions)
	if len(recs) == 0 {
		return t
	}
	var names []string
	for _, r := range recs {
		if name := study.Axis(r, loopKey); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for name := range isolated {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	for _, name := range names {
		var perNs, perCycle sample
		for _, r := range recs {
			if study.Axis(r, loopKey) != name {
				continue
			}
			rate := r.Value(record.InLoop) / r.Value(record.LatencyP50)
			perNs = append(perNs, rate)
			switch cycles := r.Value(record.Cycles); {
			case cycles > 0:
				perCycle = append(perCycle, r.Value(record.InLoop)/cycles)
			case d.clock() > 0:
				perCycle = append(perCycle, rate/d.clock())
			}
		}
		t.Add(name, perNs.number(), perCycle.number(), cmp.Or(isolated[name], study.None))
	}
	return t
}
