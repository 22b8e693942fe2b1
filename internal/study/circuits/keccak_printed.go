package circuits

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/study"
)

// Tables of the STARK that the part partJoined proves alone.
const tableSponges, tablePermutations = "sponges", "permutations"

// printed is a time in s as the study prints it, with a footnote. The text of a time that is not printed is empty.
type printed struct{ text, note string }

// cell formats the time for a table whose heads say that times are in s.
func (p printed) cell() string {
	if p.text == "" {
		return study.None
	}
	return p.text + p.note
}

// secondsCell formats a time in s for the tables that have printed times.
func secondsCell(s float64) string {
	if s <= 0 {
		return study.None
	}
	return format.Significant(s, 3, 6)
}

// seconds returns the time, or 0 if it is not printed.
func (p printed) seconds() float64 {
	v, _ := strconv.ParseFloat(p.text, 64) // 0 for an empty text
	return v
}

// shape is a circuit of Axiom's with 2^k rows, and with rows rows per round. permutations is how many permutations it
// has, and ours how many our circuit of the same shape has. The other fields are the study's figures (sections 4.4 to
// 4.6).
type shape struct {
	k, rows, permutations, ours      int
	srs, build, keys, prove, verify  printed
	proofBytes                       float64
	again                            printed // the time to verify that section 5 prints
	permutationsNote, buildElsewhere string
}

// axiom returns the shapes of Axiom's circuits.
func axiom() []shape {
	return []shape{
		{
			k: 14, rows: 25, permutations: 24, ours: 25, permutationsNote: "[^permutations]",
			srs: printed{text: "1.65"}, build: printed{"0.000000145", "[^closure]"}, keys: printed{text: "0.48"}, prove: printed{text: "11.5"},
			verify: printed{"0.8", "[^verify]"}, proofBytes: 52_704, again: printed{text: "0.08"}, buildElsewhere: "2.2",
		},
		{
			k: 15, rows: 28, permutations: 44, ours: 51,
			srs: printed{text: "3.35"}, keys: printed{text: "0.875"}, verify: printed{text: "0.123"}, proofBytes: 50_176,
		},
		{
			k: 15, rows: 9, permutations: 144, ours: 144,
			srs: printed{text: "3.35"}, keys: printed{text: "0.87"}, prove: printed{text: "41.5"}, verify: printed{text: "0.054"}, proofBytes: 67_520,
		},
	}
}

// form returns the form of our circuit of the same shape.
func (s *shape) form() string { return fmt.Sprintf("wide-%d-%d", s.k, s.rows) }

// name returns the name of the study's circuit.
func (s *shape) name() string { return fmt.Sprintf("Axiom, k = %d, rows %d", s.k, s.rows) }

// JumpCrypto's figures (section 4.7), for the shortest and the longest message.
const (
	jumpShortest, jumpLongest     = 136, 2448
	jumpSmallProof, jumpLongProof = 137_268, 147_452
)

// jumpVerify returns the time to verify that the study prints for JumpCrypto.
func jumpVerify() printed { return printed{text: "0.0035"} }

// figures are a figure at several lengths of messages.
type figures []float64

// figuresOf returns the figures of records. Figures that are 0 are left out.
func figuresOf(recs []*record.Record, f figure) (all figures) {
	for _, r := range recs {
		if v := f(r); v > 0 {
			all = append(all, v)
		}
	}
	return all
}

// most returns the largest figure, or 0 if there is none.
func (f figures) most() float64 {
	if len(f) == 0 {
		return 0
	}
	return slices.Max(f)
}

// cell formats the smallest and the largest figure for a table.
func (f figures) cell(text func(v float64) string) string {
	if len(f) == 0 {
		return study.None
	}
	least, most := text(slices.Min(f)), text(slices.Max(f))
	if least == most {
		return least
	}
	return least + " to " + most
}

// starks returns the records of the series of the STARK with messages from least to most bytes.
func (d *data) starks(least, most float64) (recs []*record.Record) {
	for _, r := range d.side(partStark) {
		if n := study.AxisNumber(r, "bytes"); inFirstSet(r) && n >= least && n <= most {
			recs = append(recs, r)
		}
	}
	return recs
}

// longestStark returns the record of the STARK of the study's longest message, or nil if there is none.
func (d *data) longestStark() *record.Record {
	return d.find(partStark, map[string]string{"bytes": strconv.Itoa(longestBytes), "set": longestSet})
}

// printed returns the table of the study's figures for Axiom and JumpCrypto, with ours below each.
func (d *data) printed() *study.Table {
	t := &study.Table{Left: 2, Head: []string{"system", "parameters", "permutations", "reference string (s)", "build (s)", "keys (s)", "prove (s)", "verify (s)", "proof bytes"}}
	for _, s := range axiom() {
		t.Add("Axiom", fmt.Sprintf("k = %d, rows %d", s.k, s.rows), fmt.Sprint(s.permutations)+s.permutationsNote, s.srs.cell(), s.build.cell(), s.keys.cell(), s.prove.cell(), s.verify.cell(), study.Number(s.proofBytes))
		if r := d.find(partShapes, map[string]string{"form": s.form()}); r != nil {
			cell := func(name string) string { return secondsCell(stage(r, name)) }
			t.Add("**ours**", "`"+s.form()+"`", study.Number(r.Value(record.Blocks)), cell("srs"), cell("build"), cell("keys"), cell("prove"), cell("verify"), study.Number(r.Value(record.ProofSize)))
		}
	}
	t.Add("JumpCrypto", fmt.Sprintf("%d to %d bytes[^length]", jumpShortest, jumpLongest), "4 to 20", study.None, study.None, study.None, study.None, jumpVerify().cell(),
		study.Number(jumpSmallProof)+" to "+study.Number(jumpLongProof))
	if recs := d.starks(jumpShortest, jumpLongest); len(recs) > 0 {
		time := func(name string) string {
			return figuresOf(recs, timeOf(name)).cell(secondsCell)
		}
		t.Add("**ours**", "`stark`", figuresOf(recs, metricOf(record.Blocks)).cell(study.Number), study.None, study.None, study.None, time("prove"), time("verify"),
			figuresOf(recs, metricOf(record.ProofSize)).cell(study.Number))
	}
	return t
}

// maruFigure is a figure that the study prints for Maru.
type maruFigure struct {
	what                    string // ends with the unit
	windows, linux, another string // as sections 4.1, 4.2, and 4.3 or 5 print it; empty: not printed
	recs                    []*record.Record
	ours                    figure
	text                    func(v float64) string
}

// maruBytes is the length of the longest message of sections 4.1 and 4.2.
const maruBytes = 136_000

// Times in s that the study prints for Maru: to verify the aggregated proof (section 5), and to prove the permutations of
// the longest message (section 4.3).
const maruVerify, maruLongest = "0.09", "700 to 800"

// maruFigures returns the study's figures for Maru, with our records that prove the same.
func (d *data) maruFigures() []maruFigure {
	joined := func(selects func(r *record.Record) bool) []*record.Record {
		return slices.DeleteFunc(d.side(partJoined), func(r *record.Record) bool { return !selects(r) || study.AxisNumber(r, "bytes") > maruBytes })
	}
	sponges, permutations, aggregates := joined(isTable(tableSponges)), joined(isTable(tablePermutations)), joined(isJoined)
	var longest []*record.Record
	if r := d.longestStark(); r != nil {
		longest = append(longest, r)
	}
	return []maruFigure{
		{"sponge proof: prove (s)", "0.1 to 0.3", "0.16", "", sponges, timeOf("prove"), secondsCell},
		{"sponge proof: verify (s)", "0.3", "0.020 to 0.025", "", sponges, timeOf("verify"), secondsCell},
		{"permutations proof: verify (s)", "0.14", "0.07 to 0.08", "", permutations, timeOf("verify"), secondsCell},
		{"permutations proof: size (bytes)", "", "", "more than 1,780,000", permutations, metricOf(record.ProofSize), study.Number},
		{"aggregated proof: build the circuit (s)", "", "0.004", "", aggregates, timeOf("compile"), secondsCell},
		{"aggregated proof: prove the aggregation (s)", "0.10", "", "", aggregates, recursionTime, secondsCell},
		{"aggregated proof: verify (s)", "0.0050", "", maruVerify, aggregates, timeOf("verify"), secondsCell},
		{"700,000 bytes, sponge proof: prove (s)", "", "", "4 or 5[^spongetime]", nil, nil, nil},
		{"700,000 bytes, sponge proof: verify (s)", "", "", "0.2", longest, timeOf("verify"), secondsCell},
		{"700,000 bytes, permutations proof: prove (s)", "", "", maruLongest, longest, timeOf("prove"), secondsCell},
	}
}

// number matches a figure in a text of the study.
var number = regexp.MustCompile(`\d[\d,]*(\.\d+)?`)

// least returns the smallest figure that the study prints.
func (m *maruFigure) least() float64 {
	least := math.Inf(1)
	for _, text := range number.FindAllString(m.windows+" "+m.linux+" "+m.another, -1) {
		if v, err := strconv.ParseFloat(strings.ReplaceAll(text, ",", ""), 64); err == nil {
			least = min(least, v)
		}
	}
	return least
}

// maru returns the table of the study's figures for Maru beside ours.
func (d *data) maru() *study.Table {
	t := &study.Table{Left: 1, Head: []string{"figure", "section 4.1, Windows", "section 4.2, Linux", "section 4.3 or 5", "ours"}}
	for _, m := range d.maruFigures() {
		cell := func(text string) string {
			if text == "" {
				return study.None
			}
			return text
		}
		t.Add(m.what, cell(m.windows), cell(m.linux), cell(m.another), figuresOf(m.recs, m.ours).cell(m.text))
	}
	return t
}

// keccakBesides returns the study's figures beside ours.
func (d *data) keccakBesides() (all []study.Beside) {
	for _, s := range axiom() {
		r := d.find(partShapes, map[string]string{"form": s.form()})
		verify, build := s.verify.seconds(), printed{text: s.buildElsewhere}
		if again := s.again.seconds(); again > 0 {
			verify = min(verify, again)
		}
		for _, f := range []struct {
			what   string
			stage  string
			theirs float64
		}{
			{"reference string", "srs", s.srs.seconds()},
			{"circuit", "build", build.seconds()},
			{"keys", "keys", s.keys.seconds()},
			{"prove", "prove", s.prove.seconds()},
			{"verify", "verify", verify},
		} {
			all = append(all, study.Beside{What: s.name() + ", " + f.what, Ours: stage(r, f.stage), Theirs: f.theirs})
		}
		if r != nil {
			all = append(all, study.Beside{What: s.name() + ", proof", Ours: r.Value(record.ProofSize), Theirs: s.proofBytes, Text: format.Bytes})
		}
	}
	all = append(all,
		study.Beside{What: "JumpCrypto, verify", Ours: figuresOf(d.starks(jumpShortest, jumpLongest), timeOf("verify")).most(), Theirs: jumpVerify().seconds()},
		study.Beside{What: fmt.Sprintf("JumpCrypto, proof of %d bytes", jumpShortest), Ours: figuresOf(d.starks(jumpShortest, jumpShortest), metricOf(record.ProofSize)).most(), Theirs: jumpSmallProof, Text: format.Bytes},
		study.Beside{What: fmt.Sprintf("JumpCrypto, proof of %d bytes", jumpLongest), Ours: figuresOf(d.starks(jumpLongest, jumpLongest), metricOf(record.ProofSize)).most(), Theirs: jumpLongProof, Text: format.Bytes},
	)
	for _, m := range d.maruFigures() {
		what, _, inBytes := strings.Cut(m.what, " (bytes)")
		b := study.Beside{What: "Maru, " + strings.TrimSuffix(what, " (s)"), Ours: figuresOf(m.recs, m.ours).most(), Theirs: m.least()}
		if inBytes {
			b.Text = format.Bytes
		}
		all = append(all, b)
	}
	return all
}

func keccakAnswer(d *data) study.Answer {
	var meets, longest string
	if at, ok := d.crossing(); ok {
		meets = fmt.Sprintf("Verifying a proof is cheaper than hashing the message from %s bytes on with gnark's PLONK", format.Count(at.Value))
		for _, p := range d.provedLengths() {
			meets += fmt.Sprintf(", from %s bytes on with our %s", format.Count(p.bytes), p.name)
		}
		meets += fmt.Sprintf("; in the study, the lines meet at about %s bytes for both of its systems (section 5).", format.Count(studyCrossing))
	}
	if r := d.longestStark(); r != nil {
		longest = fmt.Sprintf("Our STARK proves a message of %s bytes (%s blocks), the study's longest, in %s on one core; the study's proof of the permutations alone takes %s s (section 4.3).",
			format.Count(longestBytes), format.Count(float64(keccak.Blocks(longestBytes))), study.Seconds(stage(r, "prove")), maruLongest)
	}
	return study.Answer{
		Sentences: []string{meets, longest},
		Worse:     []string{study.Worse("If our largest figure is compared with the smallest that the study prints, we are slower, or our proofs are larger,", "the study", d.keccakBesides())},
	}
}
