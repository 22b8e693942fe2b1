package circuits

import (
	_ "embed"
	"math"
	"sort"
	"strconv"
	"time"

	"github.com/consensys/gnark-crypto/ecc/bn254/fr"

	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/study"
	workloads "github.com/zkbench/zkbench/internal/workload/circuits"
)

//go:embed plonk.md.tmpl
var plonkProse string

// The parts of the study of Plonk systems.
const (
	partGates    = "gates"
	partPedersen = "pedersen"
	partSystems  = "systems"
	partHashes   = "hashes"
	partFull     = "full"
	partMSM      = "msm"
	implOurs     = "zkbench"
	implGnark    = "gnark"
	partThreads  = "threads"
)

// system is one of our systems, with the figures that the study gives for it.
type system struct {
	name, label     string
	multiplications float64 // per row, for a proof
	polynomials     float64 // of 6n elements each, for n rows
	hashGates       float64 // per Pedersen hash
	form            string
}

// ourSystems returns Plonk, TurboPlonk and UltraPlonk.
func ourSystems() []system {
	return []system{
		{"plonk", "Plonk", 9, 9, 5113, "ladder"},
		{"turbo", "TurboPlonk", 11, 15, 345, "ladder"},
		{"ultra", "UltraPlonk", 13, 19, 103, "window"},
	}
}

// room returns the number of hashes that fit the given number of gates in the study's system.
func (s *system) room(gates float64) float64 { return math.Floor(gates / s.hashGates) }

// values returns values of axes: that of key is n, and the others select the system.
func (s *system) values(key string, n int) map[string]string {
	v := map[string]string{key: strconv.Itoa(n), "system": s.name}
	if s.name == "plonk" {
		v["impl"] = implOurs
	}
	return v
}

// systemOf returns which of our systems a record is of, or nil if it is gnark's.
func systemOf(r *record.Record) *system {
	for _, s := range ourSystems() {
		if study.Axis(r, "system") == s.name && (s.name != "plonk" || study.Axis(r, "impl") == implOurs) {
			return &s
		}
	}
	return nil
}

// systemNamed returns our system with the given label.
func systemNamed(label string) *system {
	for _, s := range ourSystems() {
		if s.label == label {
			return &s
		}
	}
	return nil
}

func pedersenForms() []string { return []string{"edwards", "grumpkin", "tables"} }

// plonkStudy returns the study "Benchmarking the Plonk, TurboPlonk, and UltraPlonk Proving Systems", Lehigh University,
// February 2023.
func plonkStudy() *sheet {
	s := &sheet{
		name:  "plonk",
		short: "Plonk on gates and Pedersen hashes beside Lehigh University's figures of 2023",
		long:  "Gates, Pedersen hashes and multi-scalar multiplications on gnark's PLONK and on our own\nPlonk, TurboPlonk and UltraPlonk, beside the figures of Lehigh University's study of these.",
		prose: plonkProse, fill: fillPlonk, charts: plonkCharts, answer: plonkAnswer,
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
	systems := part{name: partSystems, quick: 6, about: "circuits of 2^10 to 2^25 gates in our three systems, as far as memory allows"}
	for _, k := range []int{10, 12, 14, 16, 18, 20, 22, 24, 25} {
		for _, of := range ourSystems() {
			systems.cases = append(systems.cases, ourGatesOf(of, 1<<k-ownRows))
		}
	}
	hashes := part{name: partHashes, quick: 3, about: "chains of 125 to 128K Pedersen hashes in our three systems, as far as memory allows"}
	for _, n := range []int{125, 250, 500, 1 << 10, 1 << 11, 1 << 12, 1 << 13, 1 << 14, 1 << 15, 1 << 16, 1 << 17} {
		for _, of := range ourSystems() {
			if of.name != "plonk" || n <= 1<<13 { // as the study
				hashes.cases = append(hashes.cases, ourHashesOf(of, n))
			}
		}
	}
	full := part{name: partFull, quick: 3, about: "circuits of 2^16, 2^18 and 2^20 rows that are full of hashes"}
	for _, k := range []int{16, 18, 20} {
		for _, of := range ourSystems() {
			full.cases = append(full.cases, ourHashesOf(of, hashesIn(of, k)))
		}
	}
	s.parts = []part{
		gates, pedersen, systems, hashes, full, msm,
		{name: partThreads, quick: 1, about: "hashes on one processor and on two", rounds: true, cpus: []int{1, 2}, cases: []measured{
			pedersenOf("tables", 32), ourHashesOf(ourSystems()[1], 125), ourHashesOf(ourSystems()[2], 125),
		}},
		{
			name: study.Purego, quick: 1, about: "small cases, by this program and by one without assembly", rounds: true, both: true,
			cases: []measured{gatesOf(1 << 14), pedersenOf("grumpkin", 8), ourHashesOf(ourSystems()[1], 32), ourHashesOf(ourSystems()[2], 32)},
		},
	}
	return s
}

// ownRows is the number of gates that a circuit has less than a power of two. They leave room for the rows that every
// circuit of ours has: the random rows, and the row of the public value.
const ownRows = 8

// perRow is about the time of all stages of our systems per row of the domain.
const perRow = 50 * time.Microsecond

func ourGatesOf(of system, n int) measured {
	return measured{workload: "Gates", values: of.values("gates", n), takes: time.Duration(n) * perRow, optional: n > atOnce}
}

func ourHashesOf(of system, n int) measured {
	rows := workloads.PedersenConstraints(of.name, n)
	return measured{workload: "Pedersen", values: withValue(of.values("hashes", n), "form", of.form), takes: time.Duration(rows) * perRow, optional: rows > atOnce}
}

// hashesIn returns the largest number of hashes that fit 2^k rows.
func hashesIn(of system, k int) int {
	return sort.Search(1<<k, func(n int) bool { return workloads.PedersenConstraints(of.name, n+1) > 1<<k })
}

// perGate is about the time of all stages of gnark's PLONK per gate, including the gate's share of unused rows.
const perGate = 75 * time.Microsecond

// atOnce is the number of gates up to which a case is expected to fit the memory of any machine.
const atOnce = 1 << 20

func gatesOf(n int) measured {
	return measured{
		workload: "Gates", values: map[string]string{"gates": strconv.Itoa(n), "system": "plonk"},
		takes: time.Duration(n) * perGate, optional: n > atOnce,
	}
}

// pedersenOf returns the case of a form on gnark's PLONK. It expects some 4,500 gates per hash, and fewer for the form
// tables, which has its tables in addition.
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

// msmOf returns a case that runs a number of operations, not a time: the largest takes seconds.
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

// published is a figure of the study as printed: what it proves with which system, the time and the memory. Its machine
// has 32 cores.
type published struct {
	what, system string
	gates        float64 // printed, or printed gates per hash times hashes
	hashes       float64 // 0: none
	prove        float64 // s
	memory       float64 // GB
	note         string
}

const studyCores = 32

// filled is the note of the study's circuits of section 5.2.3, which are filled with hashes.
const filled = "[^circuit]"

// hashes8K names the work of the study's section 5.2.1.
const hashes8K = "8K hashes"

// The study's multi-scalar multiplication (section 5.1), and the least time in which it verifies a proof (section 5.2.3).
const (
	msmPoints, msmSeconds, msmGB = 1 << 26, 6.7, 45.5
	verifySeconds                = 0.002
)

func publishedPlonk() []published {
	return []published{
		{"2^26 gates", "Plonk", 1 << 26, 0, 101, 255, ""},
		{"2^26 gates", "TurboPlonk", 1 << 26, 0, 138, 330, ""},
		{"2^26 gates", "UltraPlonk", 1 << 26, 0, 165, 506, ""},
		{hashes8K, "Plonk", 8192 * 5113, 8192, 100, 254, "[^8k]"},
		{hashes8K, "TurboPlonk", 8192 * 345, 8192, 8, 16, "[^8k]"},
		{hashes8K, "UltraPlonk", 8192 * 103, 8192, 3, 8, "[^8k]"},
		{"128K hashes", "TurboPlonk", 44_184_152, 44_184_152 / 345, 125, 330, "[^swap]"},
		{"128K hashes", "UltraPlonk", 13_191_211, 13_191_211 / 103, 42, 130, "[^swap]"},
		{"2^25 gates", "Plonk", 1 << 25, 0, 50, 129, filled},
		{"2^25 gates", "TurboPlonk", 1 << 25, 0, 64, 171, filled},
		{"2^25 gates", "UltraPlonk", 1 << 25, 0, 84, 256, filled},
	}
}

func fillPlonk(d *data, v *view) {
	v.Table["gates"] = d.stages(partGates, 0, append(axes("gates"), stageColumns(keysTogether())...), "gates").String()
	perHash := column{head: "gates per hash", cell: func(r *record.Record) string {
		return study.Number(math.Round(r.Value(record.Constraints) / study.AxisNumber(r, "hashes")))
	}}
	faster := column{head: "proves faster than edwards", cell: func(r *record.Record) string {
		edwards := d.find(partPedersen, map[string]string{"form": "edwards", "hashes": study.Axis(r, "hashes")})
		return ratio(stage(edwards, "prove"), stage(r, "prove"))
	}}
	columns := append(append(axes("form", "hashes"), perHash, faster), stageColumns(keysTogether())...)
	v.Table["pedersen"] = d.stages(partPedersen, 1, columns, "").String()
	system := column{"system", func(r *record.Record) string { return systemOf(r).label }, true}
	v.Table["systems"] = d.stages(partSystems, 1, append(append([]column{system}, axes("gates")...), stageColumns(keysApart())...), "gates").String()
	columns = append(append([]column{system}, axes("hashes")...), stageColumns(keysApart())...)
	v.Table["hashes"] = d.stages(partHashes, 1, columns, "hashes").String()
	v.Table["full"] = d.stages(partFull, 1, columns, "").String()
	v.Table["room"] = room().String()
	v.Table["phases"] = d.phases().String()
	v.Table["polynomials"] = d.polynomials().String()
	v.Table["rates"] = d.rates().String()
	v.Table["msm"] = d.msm().String()
	v.Table["threads"] = d.threads(partThreads).String()
	v.Table["purego"] = d.portable().String()
}

// rates returns a table of gates per second and bytes per gate: ours for the largest cases, and the study's.
func (d *data) rates() *study.Table {
	t := &study.Table{Left: 3, Head: []string{"source", "circuit", "system", "gates", "prove", "memory", "cores", "gates per second and core", "bytes per gate"}}
	row := func(whose, what, system, time, size string, gates, prove, bytes, cores float64) {
		t.Add(whose, what, system, study.Number(gates), time, size, study.Number(cores), study.Number(gates/prove/cores), study.Number(bytes/gates))
	}
	largest := make(map[string]*record.Record)
	var order []string
	for _, part := range []string{partGates, partPedersen, partSystems, partHashes} {
		for _, r := range d.side(part) {
			key := part + study.Axis(r, "system") + study.Axis(r, "form")
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
		what, whose := study.Axis(r, "gates")+" gates", "PLONK, gnark"
		if form := study.Axis(r, "form"); form != "" {
			what = study.Axis(r, "hashes") + " hashes, " + form
		}
		if of := systemOf(r); of != nil {
			whose = of.label + ", ours"
		}
		prove := stage(r, "prove")
		row("measured", what, whose, study.Time(1e9*prove), memory(peak(r)), r.Value(record.Constraints), prove, peak(r), study.AxisNumber(r, "cpus"))
	}
	for _, p := range publishedPlonk() {
		row("the study", p.what+p.note, p.system, study.Number(p.prove)+" s", study.Number(p.memory)+" GB", p.gates, p.prove, 1e9*p.memory, studyCores)
	}
	return t
}

// msm returns a table of multi-scalar multiplications: ours and gnark-crypto's, then the study's.
func (d *data) msm() *study.Table {
	t := &study.Table{Left: 1, Head: []string{"implementation", "points", "time", "points per second and core", "memory", "bytes per point"}}
	row := func(whose, points, time string, n, ns, bytes, cores float64) {
		t.Add(whose, points, time, study.Number(n/ns*1e9/cores), memory(bytes), study.Number(bytes/n))
	}
	for _, r := range d.side(partMSM) {
		whose := "gnark-crypto" // earlier records do not have this axis
		if isOurs(r) {
			whose = "ours"
		}
		row(whose, study.Axis(r, "points"), study.Time(r.Value(record.LatencyMean)), study.AxisNumber(r, "points"), r.Value(record.LatencyMean), peak(r), 1)
	}
	if len(t.Rows) > 0 {
		row("the study", "2^26", study.Number(msmSeconds)+" s", msmPoints, 1e9*msmSeconds, 1e9*msmGB, studyCores)
	}
	return t
}

// room returns a table of the number of hashes that fit 2^k rows.
func room() *study.Table {
	t := &study.Table{Left: 1, Head: []string{"system", "rows per hash", "2^16", "2^18", "2^20", "2^22", "2^25", "the study: gates per hash", "the study: 2^25"}}
	for _, of := range ourSystems() {
		cells := []string{of.label, study.Number(math.Round(float64(1<<25) / float64(hashesIn(of, 25))))}
		for _, k := range []int{16, 18, 20, 22, 25} {
			cells = append(cells, study.Number(float64(hashesIn(of, k))))
		}
		t.Add(append(cells, study.Number(of.hashGates), study.Number(of.room(1<<25)))...)
	}
	return t
}

// phases returns a table of the phases of proving and of the size of a proof. It has two numbers of hashes: the smallest
// and the largest that all systems have proved.
func (d *data) phases() *study.Table {
	t := &study.Table{Left: 1, Head: []string{
		"system", "hashes", "prove", "commit", "permutation", "lookup", "quotient", "open", "sums", "transforms", "rest",
		"points per proof", "multiplications per row", "the study's",
	}}
	for _, r := range d.common() {
		of := systemOf(r)
		cells := []string{of.label, study.Axis(r, "hashes"), study.Time(1e9 * stage(r, "prove"))}
		for _, name := range []string{"prove/commit", "prove/permutation", "prove/lookup", "prove/quotient", "prove/open", "prove: sums", "prove: transforms", "prove: rest"} {
			cells = append(cells, study.Time(1e9*stage(r, name)))
		}
		t.Add(append(cells, study.Number(r.Value(record.ProofPoints)), study.Number(r.Value(record.Multiplications)/r.Value(record.Domain)), study.Number(of.multiplications))...)
	}
	return t
}

// polynomials returns a table of memory beside the study's estimate.
func (d *data) polynomials() *study.Table {
	t := &study.Table{Left: 1, Head: []string{"system", "hashes", "domain", "memory", "bytes per row", "the study's polynomials", "the study's bytes per row"}}
	for _, r := range d.common() {
		of := systemOf(r)
		t.Add(of.label, study.Axis(r, "hashes"), study.Number(r.Value(record.Domain)), memory(peak(r)), study.Number(peak(r)/r.Value(record.Domain)),
			study.Number(of.polynomials), study.Number(of.polynomials*6*fr.Bytes))
	}
	return t
}

// common returns the records of the smallest and of the largest number of hashes that all our systems have proved.
func (d *data) common() (all []*record.Record) {
	by := make(map[string][]*record.Record)
	var order []string
	for _, r := range d.side(partHashes) {
		n := study.Axis(r, "hashes")
		if by[n] = append(by[n], r); len(by[n]) == len(ourSystems()) {
			order = append(order, n)
		}
	}
	for i, n := range order {
		if i == 0 || i == len(order)-1 {
			all = append(all, by[n]...)
		}
	}
	return all
}
