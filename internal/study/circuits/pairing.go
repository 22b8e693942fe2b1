package circuits

import (
	_ "embed"
	"fmt"
	"strings"
	"time"

	circuit "github.com/zkbench/zkbench/circuits/pairing"
	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/study"
	"github.com/zkbench/zkbench/internal/view/plot"
	workloads "github.com/zkbench/zkbench/internal/workload/circuits"
)

//go:embed pairing.md.tmpl
var pairingProse string

// The parts of the study of pairings.
const (
	partTripartite = "tripartite"
	partSingle     = "single"
	partCheck      = "check"
)

// cell is one of the four ways to compute the exchange: our circuit, our program and the report's program.
type cell struct {
	form, ours        string // of our circuit: its form, and a description
	guest, precompile string // of our program
	theirs            string // the report's program
	cycles            float64
	// As the report prints them.
	prove, verify, total string
	seconds              float64 // total in seconds
}

// cells returns the four ways, with the report's figures of August 2025 on an Apple M3 Max.
func cells() []cell {
	const hour, minute = 3600, 60
	return []cell{
		{"emulated", "gnark's emulated field", "pairing", "none", "bn-pairing", 1_105_498_339, "~4 hr 57 min", "~1 min 52 sec", "~4 hr 59 min", 4*hour + 59*minute},
		{"limbs", "own limbs, carries bit by bit", "pairing-bigint", "none", "bigint-pairing", 1_523_558_068, "~4 hr 50 min", "~2 min 29 sec", "~4 hr 52 min", 4*hour + 52*minute},
		{"limbs-mul", "own limbs with a gadget for products", "pairing-bigint", "mulmod", "bigint-pairing-patched", 518_877_400, "~3 hr 10 min", "~1 min 18 sec", "~3 hr 11 min", 3*hour + 11*minute},
		{"std", "emulated field with a gadget for pairings", "pairing", "bn254", "bn-pairing-patched", 40_014_404, "~41 min 18 sec", "~21 sec", "~41 min 39 sec", 41*minute + 39},
	}
}

// cellOf returns the cell with a form.
func cellOf(form string) (c cell) {
	for _, c = range cells() {
		if c.form == form {
			break
		}
	}
	return c
}

// pairingStudy returns the study "Proof Generation & Verification Benchmark of bn256 Implementations in the SP1 zkVM",
// August 2025.
func pairingStudy() *sheet {
	s := &sheet{
		name:  "pairing",
		short: "A tripartite key exchange over BN254 pairings beside a report on SP1 of 2025",
		long:  "A tripartite Diffie-Hellman exchange over BN254 in four kinds of circuit, and as four\nprograms for RISC-V, beside a report of such programs in the SP1 zkVM.",
		prose: pairingProse, fill: fillPairing, charts: pairingCharts, answer: pairingAnswer,
	}
	tripartite := part{name: partTripartite, all: true, about: "the exchange in four forms, Groth16"}
	single := part{name: partSingle, all: true, about: "one pairing in four forms, Groth16"}
	check := part{name: partCheck, all: true, quick: 1, about: "a product of pairings that must be one, with gnark's gadget, Groth16 and PLONK"}
	forms := []string{"std", "limbs-mul", "limbs", "emulated"}
	for _, form := range forms {
		tripartite.cases = append(tripartite.cases, pairingOf("tripartite", form, "groth16"))
		single.cases = append(single.cases, pairingOf("pairing", form, "groth16"))
	}
	for _, system := range []string{"groth16", "plonk"} { // PLONK for what fits a domain of 2^21
		check.cases = append(check.cases, pairingOf("check", "std", system))
	}
	s.parts = append(guestParts(), check, single, tripartite,
		part{
			name: study.Purego, about: "one party's multiplications by its secret, Groth16, by this program and by one without assembly", rounds: true, both: true,
			cases: []measured{pairingOf("scalars", "std", "groth16")},
		},
	)
	return s
}

// perR1C is about the time of all stages of Groth16 per constraint; the keys take most of it.
const perR1C = 250 * time.Microsecond

func pairingOf(relation, form, system string) measured {
	onPlonk, each := system == "plonk", perR1C
	if onPlonk {
		each = perGate
	}
	takes := time.Duration(circuit.Constraints(circuit.Relation(relation), circuit.Form(form), onPlonk)) * each
	return measured{
		workload: "Pairing", values: map[string]string{"relation": relation, "form": form, "system": system},
		takes: takes, optional: true,
	}
}

// total returns the time to prove and verify in seconds, or 0 if one of them was not measured.
func total(r *record.Record) float64 {
	if r == nil || stage(r, "prove") == 0 || stage(r, "verify") == 0 {
		return 0
	}
	return stage(r, "prove") + stage(r, "verify")
}

// groth16 returns the record of a form on Groth16 in a part, or nil if there is none.
func (d *data) groth16(part, form string) *record.Record {
	return d.find(part, map[string]string{"form": form, "system": "groth16"})
}

func fillPairing(d *data, v *view) {
	t := &study.Table{Left: 2, Head: []string{"ours", "SP1", "constraints", "prove", "verify", "total", "SP1: cycles", "prove", "verify", "total"}}
	for _, c := range cells() {
		r := d.groth16(partTripartite, c.form)
		prove, verify := study.None, study.None
		if r != nil {
			prove, verify = study.Time(1e9*stage(r, "prove")), study.Time(1e9*stage(r, "verify"))
		}
		t.Add("`"+c.form+"`: "+c.ours, "`"+c.theirs+"`", constraintsCell(r), prove, verify, study.Time(1e9*total(r)), study.Number(c.cycles), c.prove, c.verify, c.total)
	}
	v.Table["cells"] = t.String()
	d.fillGuests(v)
	v.Table["ratios"] = d.ratios().String()
	v.Table["counts"] = counts().String()
	columns := append(axes("form", "system", "cpus"), stageColumns(keysTogether())...)
	for _, part := range []string{partTripartite, partSingle, partCheck} {
		v.Table[part] = d.stages(part, 2, columns, "").String()
	}
	counted := 0
	for _, r := range d.recs {
		for _, f := range r.Findings {
			switch f.Name {
			case workloads.FindingCounted:
				v.Counted = true
			case workloads.FindingComposed:
				v.Composed = true
			default:
				continue
			}
			counted++
			v.Head.TooLarge = append(v.Head.TooLarge, fmt.Sprintf("%s/%s %s: %s", r.Workload, r.Case, f.Name, f.Text))
		}
	}
	if counted > 0 {
		v.Head.Notes = append(v.Head.Notes, fmt.Sprintf("too large to be proved on this machine, so that only constraints were counted: %s (footnotes in the tables)", format.Plural(counted, "circuit")))
	}
	v.Table["purego"] = d.portable().String()
}

// counts returns a table of the constraints of all circuits.
func counts() *study.Table {
	t := &study.Table{Left: 2, Head: []string{"relation", "form", "R1CS", "PLONK"}}
	for _, r := range []circuit.Relation{circuit.Tripartite, circuit.Pairing, circuit.Scalars, circuit.Check} {
		for _, f := range circuit.Forms() {
			if n := circuit.Constraints(r, f, false); n > 0 {
				form := string(f)
				if circuit.Composed(r, f) {
					form += ", composed"
				}
				t.Add(string(r), form, study.Number(float64(n)), study.Number(float64(circuit.Constraints(r, f, true))))
			}
		}
	}
	return t
}

// gain is a ratio of total times that the report prints, from one of our forms to a faster one.
type gain struct{ slow, fast, printed string }

func gains() []gain {
	return []gain{{"limbs", "limbs-mul", "1.5×"}, {"emulated", "std", "~7×"}, {"limbs-mul", "std", "~4.6×"}}
}

func pairingAnswer(d *data) study.Answer {
	var first, second string
	all := cells()
	best := all[len(all)-1] // the report's fastest
	if r := d.groth16(partTripartite, best.form); total(r) > 0 {
		first = fmt.Sprintf("Our circuit `%s` is proved and verified in %s by Groth16 on %s, after its keys were made once in %s; the report proves the execution of its fastest program for the same exchange in %s on an Apple M3 Max.",
			best.form, study.Seconds(total(r)), format.Plural(int(study.AxisNumber(r, record.CPUsKey)), "processor"), study.Seconds(stage(r, "keys")), best.total)
	}
	var printed, cycles, times []string
	for _, g := range gains() {
		slow, fast := cellOf(g.slow), cellOf(g.fast)
		printed = append(printed, g.printed)
		cycles = append(cycles, ratio(guestCycles(d.guest(slow)), guestCycles(d.guest(fast))))
		times = append(times, ratio(total(d.groth16(partTripartite, g.slow)), total(d.groth16(partTripartite, g.fast))))
	}
	if len(d.side(partGuests)) > 0 {
		list := func(ratios []string) string {
			return strings.ReplaceAll(strings.Join(ratios, ", "), study.None, "not measured")
		}
		second = fmt.Sprintf("The three [ratios](#ratios) between slower and faster programs are %s in the report, by time; ours are %s by cycles, and those of our circuits %s by time.",
			list(printed), list(cycles), list(times))
	}
	var besides []study.Beside
	for _, c := range all {
		besides = append(besides, study.Beside{What: "`" + c.form + "`", Ours: total(d.groth16(partTripartite, c.form)), Theirs: c.seconds},
			study.Beside{What: "cycles of `" + c.guest + "`, " + c.precompile, Ours: guestCycles(d.guest(c)), Theirs: c.cycles, Text: study.Number})
	}
	return study.Answer{
		Sentences: []string{first, second},
		Worse:     []string{study.Worse("We are slower than the report, or our programs take more cycles,", "the report", besides)},
	}
}

// ratios returns a table of the report's three ratios beside ours.
func (d *data) ratios() *study.Table {
	t := &study.Table{Left: 1, Head: []string{"slower to faster", "SP1, printed", "SP1, by cycles", "our guests, by cycles", "by the model", "ours, by constraints", "by time", "one pairing, by constraints", "by time"}}
	for _, r := range gains() {
		slow, fast := cellOf(r.slow), cellOf(r.fast)
		cells := []string{"`" + slow.theirs + "` to `" + fast.theirs + "`: `" + r.slow + "` to `" + r.fast + "`", r.printed, study.Times(slow.cycles / fast.cycles)}
		a, b := d.guest(slow), d.guest(fast)
		cells = append(cells, ratio(guestCycles(a), guestCycles(b)), ratio(modelCells(a), modelCells(b)))
		for _, part := range []string{partTripartite, partSingle} {
			a, b := d.groth16(part, r.slow), d.groth16(part, r.fast)
			cells = append(cells, ratio(constraints(a), constraints(b)), ratio(total(a), total(b)))
		}
		t.Add(cells...)
	}
	return t
}

// pairingCharts draws the cells in multiples of std, so that two machines and two kinds of work fit one axis.
func pairingCharts(d *data) []study.Chart {
	c := &plot.Dots{
		Title: "Four ways to a pairing",
		Notes: []string{"the exchange, in multiples of std, which is SP1's bn-pairing-patched; left is cheaper"},
		Unit:  "times std", Series: []string{"constraints", "prove + verify", "our guests' cycles", "SP1 cycles", "SP1 total"},
	}
	base, baseCell := d.groth16(partTripartite, "std"), cellOf("std")
	if constraints(base) == 0 {
		return nil
	}
	for _, cell := range cells() {
		r := d.groth16(partTripartite, cell.form)
		times, guests := 0.0, 0.0
		if total(base) > 0 {
			times = total(r) / total(base)
		}
		if of := guestCycles(d.guest(baseCell)); of > 0 {
			guests = guestCycles(d.guest(cell)) / of
		}
		c.Rows = append(c.Rows, plot.DotsRow{Name: cell.form, Values: []float64{
			constraints(r) / constraints(base), times, guests, cell.cycles / baseCell.cycles, cell.seconds / baseCell.seconds,
		}})
	}
	return []study.Chart{{File: "pairing-cells.svg", Title: c.Title, Figure: c}}
}
