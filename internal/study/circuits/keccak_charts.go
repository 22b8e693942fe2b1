package circuits

import (
	"fmt"
	"strings"

	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/study"
	"github.com/zkbench/zkbench/internal/view/plot"
)

func keccakCharts(d *data) []study.Chart {
	bytesOf := axisOf("bytes")
	var native []plot.Point
	bytes, seconds := d.nativeTimes()
	for i := range bytes {
		native = append(native, plot.Point{X: bytes[i], Y: seconds[i]})
	}
	c := &plot.Curves{
		Title: "Keccak-256: hashing the message, verifying a proof", X: "bytes", Y: "s",
		Notes: []string{"one processor; the digest is public and the message is not read"},
		Lines: []plot.Curve{{Name: "hash", Points: native}},
	}
	verify := timeOf("verify")
	for _, s := range []series{
		{name: "verify, gnark's PLONK", part: partPlain},
		{name: "verify, wide", part: partWide},
		{"verify, STARK", partStark, inFirstSet},
		{"verify, aggregate", partJoined, isJoined},
	} {
		c.Lines = append(c.Lines, d.curve(s, bytesOf, verify))
	}
	var charts []study.Chart
	add := func(file, answers, title string, f plot.Figure) {
		if !plot.Empty(f) {
			charts = append(charts, study.Chart{File: file, Title: title, Figure: f, Answers: answers})
		}
	}
	stages, tables := d.stagesByLength(), d.tablesByLength()
	add("keccak-stages.svg", "5 to 7 (Axiom), 8b to 8e (JumpCrypto), 9b to 9d: parameters, keys, circuit, proof, verification, size", stages.Title, stages)
	add("keccak-tables.svg", "2 to 4 (Maru): proof, verification and size for sponge, permutations and aggregation", tables.Title, tables)
	if blocks := d.blocks(); blocks != nil {
		add("keccak-blocks.svg", "8a and 9a: number of blocks", blocks.Title, blocks)
	}
	if len(c.Lines[0].Points)+len(c.Lines[1].Points) == 0 {
		return charts
	}
	if at, ok := d.crossing(); ok {
		s := stat.Median(d.verifyTimes())
		c.Lines = append(c.Lines,
			plot.Curve{Name: "gnark's PLONK at any length", Reference: true, Points: []plot.Point{{X: native[0].X, Y: s}, {X: studyCrossing, Y: s}}},
			plot.Curve{Name: "the study 2023, where its lines meet", Loose: true, Points: []plot.Point{{X: studyCrossing, Y: axiom()[0].again.seconds()}}})
		c.Marks = []plot.Mark{{Name: "crossover", X: at.Value}}
	}
	first := study.Chart{File: "keccak-times.svg", Title: c.Title, Figure: c, Answers: "1 and 10: the hash itself, and the length at which the lines meet"}
	return append([]study.Chart{first}, charts...)
}

// stagesByLength returns a chart of each stage of our systems, against the length of the message.
func (d *data) stagesByLength() *plot.Panels {
	return d.panels("Stages by the length of the message", "bytes", axisOf("bytes"), []series{
		{name: "bits", part: partPlain},
		{name: "std", part: partStd},
		{name: "variable", part: partVariable},
		{name: "lookup", part: partLookup},
		{name: "wide", part: partWide},
		{"STARK", partStark, inFirstSet},
		{"aggregate", partJoined, isJoined},
	}, []panel{
		stagePanel("reference string", "srs"), stagePanel("keys", "keys"), stagePanel("build the circuit", "build"), stagePanel("witness", "witness"),
		stagePanel("prove", "prove"), stagePanel("verify", "verify"),
		{"proof size", "B", metricOf(record.ProofSize)},
		{"memory", "B", peak},
	}, "one processor; a STARK has neither reference string nor keys, and its stage prove includes the witness")
}

// tablesByLength returns a chart of the proofs of the STARK's tables and of the recursion, against the length.
func (d *data) tablesByLength() *plot.Panels {
	return d.panels("Proofs of two tables and their aggregation by the length of the message", "bytes", axisOf("bytes"), []series{
		{tableSponges, partJoined, isTable(tableSponges)}, {tablePermutations, partJoined, isTable(tablePermutations)}, {"aggregate", partJoined, isJoined},
	}, []panel{
		stagePanel("build the circuit of the aggregation", "compile"),
		{"prove the aggregation alone", "s", recursionTime},
		stagePanel("prove", "prove"), stagePanel("verify", "verify"),
		{"proof size", "B", metricOf(record.ProofSize)},
		{"memory", "B", peak},
	}, "one processor; to prove an aggregate includes the proof of both tables")
}

// isJoined reports whether a record is of an aggregate, and not of one table alone.
func isJoined(r *record.Record) bool { return study.Axis(r, "proofs") != "" }

// isTable returns the selector of the records of one table alone.
func isTable(name string) func(r *record.Record) bool {
	return func(r *record.Record) bool { return study.Axis(r, "table") == name }
}

// recursionTime returns the time to prove the recursion of an aggregate, without the proof of the tables, in seconds.
func recursionTime(r *record.Record) (seconds float64) {
	for _, s := range r.Stages {
		if strings.HasPrefix(s.Name, "prove/layer ") {
			seconds += s.Time.Seconds()
		}
	}
	return seconds
}

// inFirstSet reports whether a record belongs to the series of lengths of the STARK, which all have the same parameters.
func inFirstSet(r *record.Record) bool {
	return study.Axis(r, "field") == "koalabear" && study.Axis(r, "set") == "secure100"
}

// blocks returns a chart of the permutations that circuits prove, against the length of the message, or nil if there
// are no records. It marks the study's points for messages that do not fit its circuit: those proofs do not cover the
// whole message.
func (d *data) blocks() *plot.Curves {
	c := &plot.Curves{
		Title: "Permutations that a circuit proves, by the length of the message", X: "bytes", Y: "permutations",
		Notes: []string{"hollow: the study's circuits at lengths that do not fit them"},
	}
	permutations := metricOf(record.Blocks)
	c.Lines = d.curves([]series{{name: "ours, " + partLookup, part: partLookup}, {name: "ours, " + partWide, part: partWide}}, axisOf("bytes"), permutations)
	if !hasPoints(c.Lines) {
		return nil
	}
	c.Lines = append(c.Lines, d.curve(series{"ours, STARK", partStark, inFirstSet}, axisOf("bytes"), permutations))
	needed := plot.Curve{Name: "needed", Reference: true}
	lengths := []int{136, 408, 1360, 4080, 13_600, 40_800, 136_000}
	for _, n := range lengths {
		needed.Points = append(needed.Points, plot.Point{X: float64(n), Y: float64(keccak.Blocks(n))})
	}
	for _, s := range axiom() {
		whole := plot.Curve{Name: fmt.Sprintf("Axiom, %d", s.permutations)}
		none := plot.Curve{Name: fmt.Sprintf("Axiom, %d, not whole", s.permutations), Loose: true}
		for _, n := range lengths {
			l := &whole
			if keccak.Blocks(n) > s.permutations {
				l = &none
			}
			l.Points = append(l.Points, plot.Point{X: float64(n), Y: float64(s.permutations)})
		}
		c.Lines = append(c.Lines, whole, none)
	}
	c.Lines = append(c.Lines, needed)
	return c
}
