package circuits

import (
	"slices"
	"time"

	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/study"
	"github.com/zkbench/zkbench/riscv"
	"github.com/zkbench/zkbench/riscv/cost"
)

// The parts of the study of pairings about guests.
const (
	partGuests = "guests"
	partSpeed  = "speed"
)

// speedBytes is the length of the message of the part speed.
const speedBytes = 13_600

func guestOf(guest, precompile string) measured {
	s := measure.DefaultSettings(1, time.Second)
	s.Samples = 1
	s.Check, s.Grace = runner.Check{Policy: runner.CheckSample, N: 1}, 10*time.Second
	return measured{workload: "Guest", values: map[string]string{"guest": guest, "precompile": precompile}, load: &s, takes: 5 * time.Second}
}

// guestParts returns the parts guests and speed: the exchange as programs, this module's other guests, and a STARK that
// shows how fast cells are proved.
func guestParts() []part {
	guests := part{name: partGuests, quick: 4, about: "the exchange as four programs for RISC-V, and other guests: cycles, nothing proved"}
	for _, c := range cells() {
		guests.cases = append(guests.cases, guestOf(c.guest, c.precompile))
	}
	for _, other := range [][2]string{{"keccak", "none"}, {"keccak", "hash"}, {"pedersen", "none"}, {"merkle", "none"}, {"bulletproof", "none"}, {"plonk", "none"}} {
		guests.cases = append(guests.cases, guestOf(other[0], other[1]))
	}
	speed := part{name: partSpeed, quick: 1, all: true, about: "a STARK of Keccak-256, whose speed turns the cost model's cells into time"}
	stark := starkOf(speedBytes, "koalabear", "keccak", "secure100")
	stark.values = withValue(stark.values, "exec", "pool")
	speed.cases = append(speed.cases, stark)
	return []part{guests, speed}
}

// guest returns the record of a cell's program, or nil if there is none.
func (d *data) guest(c cell) *record.Record {
	return d.find(partGuests, map[string]string{"guest": c.guest, "precompile": c.precompile})
}

// guestCycles returns the cycles of a guest's work, without the start of its runtime, or 0 if r is nil.
func guestCycles(r *record.Record) float64 {
	if r == nil {
		return 0
	}
	return r.Value(record.WorkCycles)
}

// tallyOf returns the counts of a guest's work from a record. It counts one unit for each call of a precompile, which is
// right for the precompiles of numbers and points.
func tallyOf(r *record.Record, model cost.Model) *riscv.Tally {
	t := &riscv.Tally{Cycles: uint64(r.Value(record.WorkCycles))}
	for class := range t.Classes {
		t.Classes[class] = uint64(r.Value(record.WorkClass(riscv.Class(class).String())))
	}
	for _, name := range model.Precompiles() {
		if n := r.Value(record.PrecompileCalls(name)); n > 0 {
			t.Precompiles = append(t.Precompiles, riscv.PrecompileCalls{Name: name, Calls: uint64(n), Units: uint64(n)})
		}
	}
	return t
}

// modelOf returns the cells and the shards that the model computes for a program with the given cycles. The program has
// the mix of instructions and the calls of precompiles of the guest in r.
func modelOf(r *record.Record, cycles float64) (cells, shards float64) {
	model := cost.Default()
	t := tallyOf(r, model)
	times := cycles / float64(t.Cycles)
	t.Cycles = uint64(cycles)
	for class := range t.Classes {
		if riscv.Class(class) != riscv.Precompiled {
			t.Classes[class] = uint64(times * float64(t.Classes[class]))
		}
	}
	return float64(cost.Cells(model.Tables(t, 0))), float64(model.Shards(t.Cycles))
}

// modelCells returns the model's cells for a guest's work, or 0 if r is nil.
func modelCells(r *record.Record) float64 {
	if r == nil {
		return 0
	}
	cells, _ := modelOf(r, guestCycles(r))
	return cells
}

// fillGuests fills the tables of guests. They are empty if no guests were measured.
func (d *data) fillGuests(v *view) {
	for _, name := range []string{partGuests, "others", "model", partSpeed} {
		v.Table[name] = ""
	}
	if len(d.side(partGuests)) == 0 {
		return
	}
	programs := &study.Table{Left: 2, Head: []string{"ours", "SP1", "cycles", "with Go's start", "precompile calls", "SP1: cycles", "SP1 / ours", "executed in", "cycles/s"}}
	for _, c := range cells() {
		r := d.guest(c)
		if r == nil {
			continue
		}
		calls := 0.0
		for _, p := range tallyOf(r, cost.Default()).Precompiles {
			calls += float64(p.Calls)
		}
		programs.Add("`"+c.guest+"`, "+c.precompile, "`"+c.theirs+"`", study.Number(guestCycles(r)), study.Number(r.Value(record.GuestCycles)), study.Number(calls),
			study.Number(c.cycles), ratio(c.cycles, guestCycles(r)), study.Time(r.Value(record.LatencyMean)), study.Number(1e9*r.Value(record.GuestCycles)/r.Value(record.LatencyMean)))
	}
	v.Table[partGuests] = programs.String()

	others := &study.Table{Left: 2, Head: []string{"guest", "precompiles", "size", "cycles", "with Go's start", "pages"}}
	for _, r := range d.side(partGuests) {
		if isExchange(r) {
			continue
		}
		others.Add(study.Axis(r, "guest"), study.Axis(r, "precompile"), study.Number(study.AxisNumber(r, "size")), study.Number(guestCycles(r)), study.Number(r.Value(record.GuestCycles)), study.Number(r.Value(record.GuestPages)))
	}
	v.Table["others"] = others.String()

	stark := d.find(partSpeed, nil)
	if stage(stark, "prove") == 0 {
		return
	}
	speed := stark.Value(record.Cells) / stage(stark, "prove")
	model := &study.Table{Left: 1, Head: []string{"program", "source", "cycles", "cells", "prove", "verify", "total", "SP1: prove", "verify", "total", "model / SP1"}}
	row := func(name, of string, r *record.Record, cycles float64, theirs cell) {
		cells, shards := modelOf(r, cycles)
		prove, verify := cells/speed, shards*stage(stark, "verify")
		model.Add(name, of, study.Number(cycles), study.Number(cells), study.Time(1e9*prove), study.Time(1e9*verify), study.Time(1e9*(prove+verify)),
			theirs.prove, theirs.verify, theirs.total, ratio(prove+verify, theirs.seconds))
	}
	for _, c := range cells() {
		r := d.guest(c)
		if r == nil {
			continue
		}
		row("`"+c.guest+"`, "+c.precompile, "ours", r, guestCycles(r), cell{prove: study.None, verify: study.None, total: study.None})
		row("`"+c.theirs+"`", "SP1's cycles", r, c.cycles, c)
	}
	v.Table["model"] = model.String()
	v.Table[partSpeed] = study.Number(speed) + " cells per second on " + study.Axis(stark, "cpus") + " processors, and " + study.Time(1e9*stage(stark, "verify")) + " to verify each proof"
}

// isExchange reports whether a guest is the program of a cell.
func isExchange(r *record.Record) bool {
	return slices.ContainsFunc(cells(), func(c cell) bool { return c.guest == study.Axis(r, "guest") })
}
