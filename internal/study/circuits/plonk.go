package circuits

import (
	_ "embed"
	"math"
	"strconv"
	"time"

	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/plot"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/study"
)

//go:embed plonk.md.tmpl
var plonkProse string

// The parts of the study of Plonk systems.
const (
	partGates    = "gates"
	partPedersen = "pedersen"
	partMSM      = "msm"
	implOurs     = "zkbench"
	implGnark    = "gnark"
	partThreads  = "threads"
)

func pedersenForms() []string { return []string{"edwards", "grumpkin", "tables"} }

// plonkStudy is "Benchmarking the Plonk, TurboPlonk, and UltraPlonk Proving Systems",
// Lehigh University, February 2023.
func plonkStudy() *sheet {
	s := &sheet{
		name:  "plonk",
		short: "Plonk on gates and Pedersen hashes beside Lehigh University's figures of 2023",
		long:  "Gates, Pedersen hashes and multi-scalar multiplications on gnark's PLONK, beside the\nfigures of Lehigh University's study of Plonk, TurboPlonk and UltraPlonk.",
		prose: plonkProse, fill: fillPlonk, charts: plonkCharts,
	}
	gates := part{name: partGates, quick: 3, about: "circuits of 2^10 to 2^25 gates, as far as memory allows"}
	for _, k := range []int{10, 12, 14, 16, 18, 20, 22, 24, 25} {
		gates.cases = append(gates.cases, gatesOf(1<<k))
	}
	pedersen := part{name: partPedersen, quick: 1, about: "chains of 8, 32 and 125 Pedersen hashes in three forms"}
	for _, form := range pedersenForms() {
		for _, n := range []int{8, 32, 125} {
			pedersen.cases = append(pedersen.cases, pedersenOf(form, n))
		}
	}
	msm := part{name: partMSM, quick: 6, about: "multi-scalar multiplications of 2^10 to 2^22 points"}
	for k := 10; k <= 22; k += 2 {
		msm.cases = append(msm.cases, msmOf(1<<k, implOurs), msmOf(1<<k, implGnark))
	}
	s.parts = []part{
		gates, pedersen, msm,
		{name: partThreads, quick: 1, about: "32 hashes on one processor and on two", rounds: true, cpus: []int{1, 2}, cases: []measured{pedersenOf("tables", 32)}},
		{
			name: study.Purego, quick: 1, about: "two small cases with this program and one without assembly", rounds: true, both: true,
			cases: []measured{gatesOf(1 << 14), pedersenOf("grumpkin", 8)},
		},
	}
	return s
}

// perGate is about what all stages take for a gate, its share of the domain included.
const perGate = 75 * time.Microsecond

// atOnce is the number of gates up to which a case is expected to fit any machine.
const atOnce = 1 << 20

func gatesOf(n int) measured {
	return measured{
		workload: "Gates", values: map[string]string{"gates": strconv.Itoa(n), "system": "plonk"},
		takes: time.Duration(n) * perGate, optional: n > atOnce,
	}
}

// pedersenOf expects some 4,500 gates a hash, and the domain of a table's circuit.
func pedersenOf(form string, hashes int) measured {
	gates := 4500 * hashes
	if form == "tables" {
		gates = 1<<17 + 1100*hashes
	}
	return measured{
		workload: "Pedersen", values: map[string]string{"form": form, "hashes": strconv.Itoa(hashes), "system": "plonk"},
		takes: time.Duration(gates) * perGate,
	}
}

// msmOf is measured by a count: the largest takes seconds.
func msmOf(points int, impl string) measured {
	s := measure.DefaultSettings(1, 0)
	s.Count, s.Warmup.Time, s.Samples = uint64(max(3, 1<<17/points)), 0, 1
	s.Check, s.Grace = runner.Check{Policy: runner.CheckSample, N: 1}, 10*time.Second
	each := time.Duration(points) * 4 * time.Microsecond
	return measured{
		workload: "MSM", values: map[string]string{"points": strconv.Itoa(points), "impl": impl}, load: &s,
		takes: time.Duration(points)*18*time.Microsecond + time.Duration(s.Count+2)*each,
	}
}

// published is a figure of the study, as printed: what it proves, with which system, in
// how many seconds and bytes. Its machine has 32 cores.
type published struct {
	what, system string
	gates        float64 // printed, or printed gates a hash times hashes
	hashes       float64 // 0: none
	prove        float64 // s
	memory       float64 // GB
	note         string
}

const studyCores = 32

func publishedPlonk() []published {
	return []published{
		{"2^26 gates", "Plonk", 1 << 26, 0, 101, 255, ""},
		{"2^26 gates", "TurboPlonk", 1 << 26, 0, 138, 330, ""},
		{"2^26 gates", "UltraPlonk", 1 << 26, 0, 165, 506, ""},
		{"8K hashes", "Plonk", 8192 * 5113, 8192, 100, 254, "[^8k]"},
		{"8K hashes", "TurboPlonk", 8192 * 345, 8192, 8, 16, "[^8k]"},
		{"8K hashes", "UltraPlonk", 8192 * 103, 8192, 3, 8, "[^8k]"},
		{"128K hashes", "TurboPlonk", 44_184_152, 44_184_152 / 345, 125, 330, "[^swap]"},
		{"128K hashes", "UltraPlonk", 13_191_211, 13_191_211 / 103, 42, 130, "[^swap]"},
		{"2^25 gates", "Plonk", 1 << 25, 0, 50, 129, "[^circuit]"},
		{"2^25 gates", "TurboPlonk", 1 << 25, 0, 64, 171, "[^circuit]"},
		{"2^25 gates", "UltraPlonk", 1 << 25, 0, 84, 256, "[^circuit]"},
	}
}

func fillPlonk(d *data, v *view) {
	v.Table["gates"] = d.stages(partGates, 0, append(axes("gates"), stageColumns()...), "gates").String()
	perHash := column{head: "gates a hash", cell: func(r *record.Record) string {
		return study.Number(math.Round(r.Value(record.Constraints) / study.AxisNumber(r, "hashes")))
	}}
	faster := column{head: "proves faster than edwards", cell: func(r *record.Record) string {
		edwards := d.find(partPedersen, map[string]string{"form": "edwards", "hashes": study.Axis(r, "hashes")})
		return ratio(stage(edwards, "prove"), stage(r, "prove"))
	}}
	columns := append(append(axes("form", "hashes"), perHash, faster), stageColumns()...)
	v.Table["pedersen"] = d.stages(partPedersen, 1, columns, "").String()
	v.Table["rates"] = d.rates().String()
	v.Table["msm"] = d.msm().String()
	v.Table["threads"] = d.threads(partThreads).String()
	v.Table["purego"] = d.portable().String()
}

// rates is a table of the figures that machines can be compared by: ours of the largest
// cases, and the study's.
func (d *data) rates() *study.Table {
	t := &study.Table{Left: 3, Head: []string{"whose", "what", "system", "gates", "prove", "memory", "cores", "gates a second and core", "bytes a gate"}}
	row := func(whose, what, system, time, size string, gates, prove, bytes, cores float64) {
		t.Add(whose, what, system, study.Number(gates), time, size, study.Number(cores), study.Number(gates/prove/cores), study.Number(bytes/gates))
	}
	largest := make(map[string]*record.Record)
	var order []string
	for _, part := range []string{partGates, partPedersen} {
		for _, r := range d.side(part) {
			key := part + study.Axis(r, "form")
			if largest[key] == nil {
				order = append(order, key)
			}
			if old := largest[key]; old == nil || r.Value(record.Constraints) > old.Value(record.Constraints) {
				largest[key] = r
			}
		}
	}
	for _, key := range order {
		r := largest[key]
		what := study.Axis(r, "gates") + " gates"
		if form := study.Axis(r, "form"); form != "" {
			what = study.Axis(r, "hashes") + " hashes, " + form
		}
		prove := stage(r, "prove")
		row("ours", what, "PLONK, gnark", study.Time(1e9*prove), memory(peak(r)), r.Value(record.Constraints), prove, peak(r), study.AxisNumber(r, "cpus"))
	}
	for _, p := range publishedPlonk() {
		row("the study", p.what+p.note, p.system, study.Number(p.prove)+" s", study.Number(p.memory)+" GB", p.gates, p.prove, 1e9*p.memory, studyCores)
	}
	return t
}

// msm is a table of multi-scalar multiplications, the study's below ours.
func (d *data) msm() *study.Table {
	t := &study.Table{Left: 1, Head: []string{"whose", "points", "time", "points a second and core", "memory", "bytes a point"}}
	row := func(whose, points, time string, n, ns, bytes, cores float64) {
		t.Add(whose, points, time, study.Number(n/ns*1e9/cores), memory(bytes), study.Number(bytes/n))
	}
	for _, r := range d.side(partMSM) {
		whose := "gnark-crypto" // records of before have no such axis
		if study.Axis(r, "impl") == implOurs {
			whose = "ours"
		}
		row(whose, study.Axis(r, "points"), study.Time(r.Value(record.LatencyMean)), study.AxisNumber(r, "points"), r.Value(record.LatencyMean), peak(r), 1)
	}
	if len(t.Rows) > 0 {
		row("the study", "2^26", "6.7 s", 1<<26, 6.7e9, 45.5e9, studyCores)
	}
	return t
}

func plonkCharts(d *data) (charts []study.Chart) {
	add := func(file, size, title string, lines []plot.Curve, ours int) {
		measured := 0
		for _, l := range lines[:ours] {
			measured += len(l.Points)
		}
		if measured > 0 {
			c := &plot.Curves{
				Title: title, X: size, Y: "prove (s)", Lines: lines,
				Notes: []string{"ours: gnark's PLONK, one processor; Plonk, Turbo, Ultra: the study's, 32 cores"},
			}
			charts = append(charts, study.Chart{File: file, Title: title, Figure: c})
		}
	}
	var theirGates, theirHashes []plot.Curve
	for _, system := range []string{"Plonk", "TurboPlonk", "UltraPlonk"} {
		name := system[:5]
		byGates, byHashes := plot.Curve{Name: name, Loose: true}, plot.Curve{Name: name, Loose: true}
		for _, p := range publishedPlonk() {
			if p.system == system && p.hashes == 0 {
				byGates.Points = append(byGates.Points, plot.Point{X: p.gates, Y: p.prove})
			} else if p.system == system {
				byHashes.Points = append(byHashes.Points, plot.Point{X: p.hashes, Y: p.prove})
			}
		}
		theirGates, theirHashes = append(theirGates, byGates), append(theirHashes, byHashes)
	}
	all := func(*record.Record) bool { return true }
	add("plonk-gates.svg", "gates", "Time to prove by gates", append([]plot.Curve{{Name: "ours", Points: d.points(partGates, "gates", "prove", all)}}, theirGates...), 1)
	var forms []plot.Curve
	for _, form := range pedersenForms() {
		forms = append(forms, plot.Curve{Name: form, Points: d.points(partPedersen, "hashes", "prove", func(r *record.Record) bool { return study.Axis(r, "form") == form })})
	}
	add("plonk-hashes.svg", "hashes", "Time to prove by Pedersen hashes", append(forms, theirHashes...), len(forms))
	return charts
}
