package circuits

import (
	_ "embed"
	"slices"
	"strconv"
	"time"

	circuit "github.com/zkbench/zkbench/circuits/keccak"
	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/study"
)

//go:embed keccak.md.tmpl
var keccakProse string

// The parts of the study of Keccak-256.
const (
	partPlain    = "plain"
	partStd      = "std"
	partVariable = "variable"
	partNative   = "native"
	partLookup   = "lookup"
	partWide     = "wide"
	partShapes   = "shapes"
	partStark    = "stark"
	partJoined   = "aggregate"
)

// keccakStudy returns the study "The benchmarking results for computational integrity with Keccak256 circuits", July
// 2023.
func keccakStudy() *sheet {
	s := &sheet{
		name:  "keccak",
		short: "Keccak-256 in circuits and natively beside a study of 2023",
		long:  "Keccak-256 on gnark's PLONK beside the figures of a study of three implementations, and\nthe length from which verifying a proof is cheaper than hashing.",
		prose: keccakProse, fill: fillKeccak, charts: keccakCharts, answer: keccakAnswer,
	}
	plain := part{name: partPlain, quick: 1, about: "our circuit, messages of 135 to 136,000 bytes, as far as memory allows"}
	for _, n := range []int{135, 136, 271, 272, 544, 952, 1496, 2448, 13_600, 136_000} {
		plain.cases = append(plain.cases, keccakOf("bits", n, circuit.BlockConstraints))
	}
	variable := part{name: partVariable, quick: 1, about: "our circuit of 1, 2 and 4 blocks, for messages of any length up to that"}
	for _, blocks := range []int{1, 2, 4} {
		c := keccakOf("variable", blocks*keccak.Rate-1, circuit.BlockConstraints)
		c.values = withValue(c.values, "blocks", strconv.Itoa(blocks))
		variable.cases = append(variable.cases, c)
	}
	native := part{name: partNative, quick: 12, about: "the hash itself, 136 bytes to 21 MB", rounds: true}
	for _, n := range []int{136, 408, 1360, 4080, 13_600, 40_800, 136_000, 408_000, 1_360_000, 4_080_000, 13_600_000, 21_000_000} {
		native.cases = append(native.cases, nativeOf(n))
	}
	lookup := part{name: partLookup, quick: 1, about: "our lookup circuit in UltraPlonk, messages of 135 to 2,448 bytes"}
	wide := part{name: partWide, quick: 1, about: "our circuit with eight slices per row, messages of 135 to 13,600 bytes"}
	for _, n := range []int{135, 136, 544, 1496, 2448} {
		lookup.cases, wide.cases = append(lookup.cases, ourKeccakOf("lookup", n)), append(wide.cases, ourKeccakOf("wide", n))
	}
	wide.cases = append(wide.cases, ourKeccakOf("wide", 13_600))
	shapes := part{name: partShapes, quick: 1, about: "the same in the study's three shapes, each with the longest message that fits"}
	for _, shape := range axiom() {
		c := ourKeccakOf(shape.form(), shape.ours*keccak.Rate-1)
		c.takes = 2 * time.Minute
		shapes.cases = append(shapes.cases, c)
	}
	stark := part{name: partStark, quick: 1, about: "our STARK over KoalaBear, messages of 136 to 700,000 bytes; other parameters, fields and hashes"}
	for _, n := range []int{136, 544, 1360, 2448, 13_600, 136_000} {
		stark.cases = append(stark.cases, starkOf(n, "koalabear", "keccak", "secure100"))
	}
	for _, other := range [][3]string{
		{"koalabear", "keccak", "secure100-2"},
		{"koalabear", "keccak", "secure128"},
		{"koalabear", "keccak", "compare100"},
		{"goldilocks", "keccak", "secure100"},
		{"goldilocks", "poseidon", "secure100"},
	} {
		stark.cases = append(stark.cases, starkOf(13_600, other[0], other[1], other[2]))
	}
	stark.cases = append(stark.cases, starkOf(longestBytes, "koalabear", "keccak", longestSet))
	joined := part{name: partJoined, quick: 1, about: "one proof by recursion, and a proof of each table alone, messages of 136 to 136,000 bytes"}
	for _, n := range []int{136, 1360, 13_600, 136_000} {
		joined.cases = append(joined.cases, joinedOf(n))
		for _, table := range []string{tableSponges, tablePermutations} {
			c := starkOf(n, "goldilocks", "poseidon", "secure100-4")
			c.values = withValue(c.values, "table", table)
			joined.cases = append(joined.cases, c)
		}
	}
	s.parts = []part{
		plain,
		{name: partStd, quick: 1, about: "gnark's own gadget, one block and two", cases: []measured{
			keccakOf("std", 135, circuit.StdBlockConstraints), keccakOf("std", 136, circuit.StdBlockConstraints),
		}},
		variable, lookup, wide, shapes, stark, joined, native,
		{
			name: study.Purego, quick: 1, about: "one block and the hash itself, by this program and by one without assembly", rounds: true, both: true,
			cases: []measured{nativeOf(136_000), keccakOf("bits", 135, circuit.BlockConstraints), ourKeccakOf("wide", 135)},
		},
	}
	return s
}

// keccakOf returns the case of a form on gnark's PLONK and n bytes. Each block of the form has each gates.
func keccakOf(form string, n, each int) measured {
	gates := each * keccak.Blocks(n)
	return measured{
		workload: "Keccak", values: map[string]string{"form": form, "bytes": strconv.Itoa(n), "system": "plonk"},
		takes: time.Duration(gates) * perGate, optional: gates > atOnce,
	}
}

// ourKeccakOf returns the case of a form of our own systems and n bytes.
func ourKeccakOf(form string, n int) measured {
	return measured{
		workload: "Keccak", values: map[string]string{"form": form, "bytes": strconv.Itoa(n), "system": "ultra"},
		takes: time.Duration(20_000*keccak.Blocks(n)) * perRow,
	}
}

// longestBytes is the length of the longest message that the study proves (section 4.3).
const longestBytes = 700_000

// longestSet is the set of parameters for longestBytes. With secure100, a table for so many permutations is so high that
// less than 100 bits are proved.
const longestSet = "secure100-2"

// starkOf returns the case of a STARK of one message of n bytes.
func starkOf(n int, field, hash, set string) measured {
	values := map[string]string{"bytes": strconv.Itoa(n), "field": field, "hash": hash, "set": set, "exec": "serial"}
	return measured{
		workload: "KeccakStark", values: values, takes: time.Second + time.Duration(keccak.Blocks(n))*30*time.Millisecond,
		optional: n > 136_000, // gigabytes
	}
}

// joinedOf returns the case of an aggregate of one proof, of a message of n bytes.
func joinedOf(n int) measured {
	values := map[string]string{"bytes": strconv.Itoa(n), "proofs": "1", "set": "secure100", "exec": "serial"}
	return measured{workload: "KeccakAggregate", values: values, takes: 8*time.Second + time.Duration(keccak.Blocks(n))*50*time.Millisecond}
}

func nativeOf(n int) measured {
	s := measure.DefaultSettings(1, 400*time.Millisecond)
	s.Samples = 1
	s.Check, s.Grace = runner.Check{Policy: runner.CheckSample, N: 1}, 10*time.Second
	return measured{workload: "KeccakNative", values: map[string]string{"bytes": strconv.Itoa(n)}, load: &s, takes: s.Warmup.Time + s.Duration + 200*time.Millisecond}
}

func fillKeccak(d *data, v *view) {
	blocks := column{"blocks", func(r *record.Record) string {
		return study.Number(float64(keccak.Blocks(int(study.AxisNumber(r, "bytes")))))
	}, true}
	columns := append(append(axes("bytes"), blocks), stageColumns(keysTogether())...)
	for _, part := range []string{partPlain, partVariable} {
		v.Table[part] = d.stages(part, 0, columns, "bytes").String()
	}
	for _, part := range []string{partLookup, partWide} {
		v.Table[part] = d.stages(part, 0, append(append(axes("bytes"), blocks), stageColumns(keysApart())...), "").String()
	}
	v.Table[partShapes] = d.stages(partShapes, 1, slices.Concat([]column{
		axes("form")[0], numberOf("columns", record.Columns), numberOf("permutations", record.Blocks), numberOf("proof bytes", record.ProofSize),
		numberOf("domain", record.Domain), stageTime("build", "build"), stageTime("reference string", "srs"),
	}, keysApart(), []column{stageTime("prove", "prove"), stageTime("verify", "verify"), memoryColumn(), perPermutation()}), "").String()
	v.Table[partStark] = d.stages(partStark, 3, append(append(axes("field", "hash", "set", "bytes"), blocks),
		numberOf("proved bits", record.ProvedBits), stageTime("prove", "prove"), stageTime("verify", "verify"), memoryColumn(),
		numberOf("proof bytes", record.ProofSize), perPermutation(),
	), "").String()
	tables := column{"tables", func(r *record.Record) string {
		if study.Axis(r, "proofs") != "" {
			return "both, by recursion"
		}
		return study.Axis(r, "table")
	}, false}
	v.Table[partJoined] = d.stages(partJoined, 1, []column{
		tables, axes("bytes")[0], blocks, numberOf("proved bits", record.ProvedBits),
		stageTime("build", "compile"), stageTime("prove", "prove"), stageTime("verify", "verify"), memoryColumn(),
		numberOf("proof bytes", record.ProofSize),
	}, "").String()
	ours := func(r *record.Record) *record.Record {
		return d.find(partPlain, map[string]string{"bytes": study.Axis(r, "bytes")})
	}
	v.Table[partStd] = d.stages(partStd, 0, append(columns,
		column{head: "ours proves faster", cell: func(r *record.Record) string { return ratio(stage(r, "prove"), stage(ours(r), "prove")) }},
		column{head: "memory, times ours", cell: func(r *record.Record) string { return ratio(peak(r), peak(ours(r))) }},
	), "bytes").String()
	v.Table["native"] = d.native().String()
	v.Table["purego"] = d.portable().String()
	v.Table["fits"] = d.fits().String()
	v.Table["crossover"] = d.crossover().String()
	v.Table["printed"] = d.printed().String()
	v.Table["maru"] = d.maru().String()
}

// perPermutation returns the column of the time to prove, divided by the number of permutations.
func perPermutation() column {
	return column{head: "prove, per permutation", cell: func(r *record.Record) string { return study.Time(1e9 * stage(r, "prove") / r.Value(record.Blocks)) }}
}

// hashed has the times of the hash itself at one length, in ns, one for each round.
type hashed struct {
	bytes float64
	ns    []float64
}

func (d *data) hashed() (all []hashed) {
	at := make(map[float64]int)
	for _, r := range d.side(partNative) {
		n := study.AxisNumber(r, "bytes")
		if _, ok := at[n]; !ok {
			at[n] = len(all)
			all = append(all, hashed{bytes: n})
		}
		all[at[n]].ns = append(all[at[n]].ns, r.Value(record.LatencyMean))
	}
	return all
}

// nativeTimes returns the lengths and the times of the hash itself in seconds. The rounds of a length are one point,
// their median, because they all deviate from a fitted curve in the same way.
func (d *data) nativeTimes() (bytes, seconds []float64) {
	for _, p := range d.hashed() {
		bytes, seconds = append(bytes, p.bytes), append(seconds, stat.Median(p.ns)/1e9)
	}
	return bytes, seconds
}

// native returns the table of the hash itself, medians over the rounds.
func (d *data) native() *study.Table {
	t := &study.Table{Head: []string{"bytes", "time", "ns per byte", "spread", "rounds"}}
	for _, p := range d.hashed() {
		spread := study.None
		if len(p.ns) > 1 {
			spread = study.Percent(study.Spread(p.ns))
		}
		ns := stat.Median(p.ns)
		t.Add(study.Number(p.bytes), study.Time(ns), study.Number(ns/p.bytes), spread, study.Number(float64(len(p.ns))))
	}
	return t
}
