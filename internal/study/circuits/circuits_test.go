package circuits_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/hash/keccak"
	"github.com/zkbench/zkbench/internal/measure/suite"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/study"
	"github.com/zkbench/zkbench/internal/study/circuits"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/studytest"
	"github.com/zkbench/zkbench/internal/workload"
	workloads "github.com/zkbench/zkbench/internal/workload/circuits"
	"github.com/zkbench/zkbench/internal/workload/guest"
	"github.com/zkbench/zkbench/internal/workload/hash"
	"github.com/zkbench/zkbench/internal/workload/stark"
)

// standIns returns workloads with the names and axes of the real ones, so that the golden pages do not change when the
// real ones do.
func standIns() (defs []workload.Def) {
	for name, keys := range map[string]string{
		"Gates": "gates system impl stage", "Pedersen": "form hashes system impl stage", "MSM": "points scalars impl", "Keccak": "form bytes blocks system stage",
		"KeccakNative": "bytes", "KeccakStark": "bytes field hash set table exec", "KeccakAggregate": "bytes proofs set exec", "Pairing": "relation form system stage",
		"Guest": "guest precompile size",
	} {
		def := workload.Def{Name: name}
		for key := range strings.FieldsSeq(keys) {
			def.Axes = append(def.Axes, workload.Axis{Key: key, Smoke: "0"})
		}
		def.Resolve = func(c workload.Case) ([]workload.Case, error) {
			if c.Get("impl") == "0" {
				c = c.Without("impl")
			}
			return []workload.Case{c}, nil
		}
		defs = append(defs, def)
	}
	return defs
}

func options(s *study.Study) study.Options {
	return study.Options{Parts: s.PartNames(), Rounds: 2, Workers: 2}
}

// size returns roughly how much work a case is.
func size(j *suite.Case) float64 {
	n := 1.0
	for _, key := range []string{"gates", "hashes", "points", "bytes"} {
		if v, err := strconv.ParseFloat(j.Case.Get(key), 64); err == nil && v > 0 {
			n = v
		}
	}
	return n
}

// records returns the records of a plan as if it had run, with times in proportion to the size. Cases that are optional
// and large, and the exchange on own limbs, need too much memory. The exchange on own limbs with a gadget has composed
// constraints.
func records(s *study.Study) (recs []*record.Record) {
	jobs, _ := s.Plan(standIns(), options(s))
	for i, j := range jobs {
		r := studytest.Record(i, j)
		n, slower := size(&j), 1.0
		if study.Portable(&j) {
			r.Env.Path, slower = "portable", 3
		}
		if j.Case.Get("cpus") == "2" {
			slower = 0.5
		}
		add := func(q record.Quantity, value float64) {
			r.Metrics = append(r.Metrics, q.Metric(value))
		}
		tripartite := j.Case.Get("relation") == "tripartite"
		switch {
		case j.Workload == "Guest":
			cycles := map[string]float64{"pairing": 8e6, "pairing-bigint": 24e6}[j.Case.Get("guest")] + 1e5
			if set := j.Case.Get("precompile"); set != "none" {
				cycles /= 4
				add(record.PrecompileCalls(map[string]string{"bn254": "fp2-mul", "mulmod": "mulmod", "hash": "keccak256"}[set]), 1000)
			}
			add(record.WorkCycles, cycles)
			add(record.GuestCycles, cycles+5e5)
			add(record.GuestPages, 500)
			add(record.WorkClass("integer"), 0.75*cycles)
			add(record.WorkClass("memory"), 0.25*cycles)
			add(record.LatencyMean, 3*cycles)
		case j.Optional && (n > 10_000 || tripartite && j.Case.Get("form") == "limbs"):
			r.Status = record.Failed
			r.Error = (&zkbench.LimitError{What: "bytes of memory (what fits: less)", Estimate: 9e9, Max: 8e9}).Error()
		case tripartite && j.Case.Get("form") == "limbs-mul":
			add(record.Constraints, 7e6)
			r.Findings = []record.Finding{{Name: workloads.FindingComposed, Text: "3 times its parts"}}
		case j.Stages:
			add(record.Constraints, 1000*n)
			add(record.Cells, 5e4*n)
			add(record.Domain, 1024*n)
			add(record.ProofSize, 520)
			if j.Case.Get("bytes") != "" {
				add(record.Blocks, float64(keccak.Blocks(int(size(&j)))))
			}
			for k, name := range []string{"build", "srs", "witness", "keys", "prove", "verify", "compile", "keys/proving", "keys/verifying", "prove/layer 1/prove"} {
				seconds := []float64{0.01, 0.1, 0.001, 0.2, 1, 0, 0.02, 0.15, 0.05, 0.3}[k]*n*slower + 0.002
				if name == "verify" {
					seconds += float64(i%3) * 1e-4
				}
				add(record.StageTime(name), seconds)
				r.Stages = append(r.Stages, record.Stage{Name: name, PeakRSS: uint64(1e6 * n), Time: time.Duration(1e9 * seconds)})
			}
		default:
			add(record.LatencyMean, slower*(200+2*n*(1+0.01*float64(i%3))))
			add(record.PeakRSS, 1e6+100*n)
		}
		studytest.Keep(r, j)
		recs = append(recs, r)
	}
	return recs
}

// TestPages compares the pages of made-up records with golden ones; each shows every chart
// once, and no other.
func TestPages(t *testing.T) {
	for _, s := range circuits.Studies() {
		t.Run("study="+s.Name, func(t *testing.T) {
			recs := records(&s)
			studytest.Golden(t, s, recs)
			if studytest.Images(t, s, recs) == 0 {
				t.Error("no image")
			}
		})
	}
}

// TestPagesOfLess: there are pages of no records, and of those of each part alone.
func TestPagesOfLess(t *testing.T) {
	for _, s := range circuits.Studies() {
		studytest.IncompletePages(t, s, records(&s), "![")
	}
}

func TestPlans(t *testing.T) {
	defs := slices.Concat(workloads.Defs(), hash.Defs(), stark.Defs(), guest.Defs())
	for _, s := range circuits.Studies() {
		studytest.Plan(t, s, defs, options(&s), "")
	}
}

func studyOf(t *testing.T, name string) *study.Study {
	t.Helper()
	for _, s := range circuits.Studies() {
		if s.Name == name {
			return &s
		}
	}
	t.Fatalf("no study %s", name)
	return nil
}

// sized returns records of circuits with these numbers of gates, which took a microsecond per gate.
func sized(gates ...int) (recs []*record.Record) {
	for _, n := range gates {
		axes := record.Axes{{Key: "gates", Value: strconv.Itoa(n)}, {Key: "system", Value: "plonk"}, {Key: "cpus", Value: "1"}}
		recs = append(recs, &record.Record{
			Workload: "Gates", Case: axes.String(), Axes: axes, Status: record.OK, Process: record.Process{Side: "gates"},
			Metrics: []record.Metric{record.Constraints.Metric(float64(n)), record.StageTime("prove").Metric(float64(n) * 1e-6)},
			Stages:  []record.Stage{{Name: "prove", PeakRSS: uint64(2000 * n)}},
		})
	}
	return recs
}

// TestEstimates: a case that the memory is too small for has a row of estimates, marked,
// on the straight line of the others, and no figure; three others are needed. One that
// failed for another reason has no row.
func TestEstimates(t *testing.T) {
	s := studyOf(t, "plonk")
	recs := sized(1000, 2000, 4000, 9000)
	last := recs[3]
	last.Status, last.Metrics, last.Stages = record.Failed, nil, nil
	last.Error = (&zkbench.LimitError{What: "bytes of memory", Estimate: 2, Max: 1}).Error()
	text := studytest.Page(t, *s, recs)
	want := []string{"9,000", "–", "–", "–", "–", "–", "–", "*≈ 16.00*", "–", "*≈ 32*", "–"}
	golden.Equal(t, "estimates", want, studytest.Row(t, text, "*≈ 16.00*"))
	golden.Contains(t, text, " | prove (ms) | verify | memory (MB) | proof bytes |",
		"\n- part gates: too large to run: 1 case (gates 9,000)\n",
		"gates: these cases are too large for this machine and did not run: Gates/gates=")
	if text := studytest.Page(t, *s, append(recs[:2:2], last)); strings.Contains(text, "*≈") {
		t.Errorf("an estimate from two cases:\n%s", text)
	}
	last.Error = "out of memory"
	if text := studytest.Page(t, *s, recs); strings.Contains(text, "*≈") || !strings.Contains(text, "failed: out of memory") {
		t.Errorf("a failed case has an estimate:\n%s", text)
	}
}

// TestPortable: the ratio is that of the medians of the two programs; a record of the
// portable side that is not of portable arithmetic has failed, is named and not counted.
func TestPortable(t *testing.T) {
	s := studyOf(t, "plonk")
	jobs, _ := s.Plan(standIns(), study.Options{Parts: []string{study.Purego}, Rounds: 3})
	var order []bool
	for _, wrong := range []bool{false, true} {
		var recs []*record.Record
		for i, j := range jobs {
			if j.Case.Get("gates") == "" {
				continue
			}
			order = append(order, study.Portable(&j))
			r := sized(1000)[0]
			r.Axes, r.Case, r.Env.Path = j.Case.Axes(), j.Case.String(), "avx512"
			if study.Portable(&j) {
				r.Env.Path = "portable"
				r.Metrics[1].Value *= 4
				if wrong && j.Repetition == 0 {
					r.Env.Path = "adx"
					r.Metrics[1].Value = 1
				}
			}
			r.Metrics[1].Value *= 1 + float64(i%2)*1e-9
			studytest.Keep(r, j)
			recs = append(recs, r)
		}
		text := studytest.Page(t, *s, recs)
		rounds := "3"
		if wrong {
			rounds = "2"
		}
		golden.Equal(t, fmt.Sprintf("wrong=%v", wrong), []string{"1.000", "4.000", "4.00×", rounds}, studytest.Row(t, text, "Gates", "prove")[3:])
		golden.Contains(t, text, "| this program (ms) | without assembly (ms) |")
		golden.Equal(t, "other arithmetic is named", wrong, strings.Contains(text, "the portable program ran adx arithmetic"))
	}
	golden.Equal(t, "order of the programs", []bool{false, true, true, false, false, true}, order[:6])
}

// TestCrossover: verifying takes 2 ms, hashing 2 ns a byte and 200 ns, so verifying is
// cheaper from 999,900 bytes on.
func TestCrossover(t *testing.T) {
	s := studyOf(t, "keccak")
	recs := records(s)
	for _, r := range recs {
		n := study.AxisNumber(r, "bytes")
		for i, m := range r.Metrics {
			switch m.Quantity {
			case record.LatencyMean:
				r.Metrics[i].Value = 200 + 2*n
			case record.StageTime("verify"):
				r.Metrics[i].Value = 2e-3
			}
		}
	}
	text := studytest.Page(t, *s, recs)
	cells := studytest.Row(t, text, "ours", "2.000")
	golden.Equal(t, "crossover", []string{"ours", "2.000", "999,900", "999,900 to 999,900"}, cells)
	golden.Contains(t, text, "| proof | verify (ms) | bytes | 95 % |",
		"Verifying a proof is cheaper than hashing the message from 999,900 bytes on with gnark's PLONK, from 1,000,000 bytes on with our STARK, from 1,000,000 bytes on with our aggregate; in the study, the lines meet at about 24,000,000 bytes for both of its systems (section 5).")
	for _, r := range recs {
		if r.Workload == "KeccakNative" {
			r.Status = record.Failed
		}
	}
	if text := studytest.Page(t, *s, recs); strings.Contains(text, "## When verifying is cheaper") {
		t.Error("a crossover without the hash itself")
	}
}

// TestPairingModel: the model's cells are those of the counts, its time that of the STARK's speed; of the report's
// cycles they grow with these, but for the calls.
func TestPairingModel(t *testing.T) {
	s := studyOf(t, "pairing")
	text := studytest.Page(t, *s, records(s))
	// 13,600 bytes: 6.8e8 cells in 6800.002 s on two processors. A cycle has 109 columns, an instruction of three
	// in four 50 and of the others 91; rows are padded to 2^21, 2^21, 2^20, a call of mulmod has 880 columns.
	row := studytest.Row(t, text, "`pairing-bigint`, mulmod", "ours")
	golden.Equal(t, "cells", "6,025,000 "+study.Number(8388608*109+8388608*50+2097152*91+1024*880), row[2]+" "+row[3])
	theirs := studytest.Row(t, text, "`bigint-pairing-patched`", "SP1's cycles")
	golden.Equal(t, "the report's", []string{"518,877,400", "~3 hr 10 min", "~1 min 18 sec", "~3 hr 11 min"}, append(theirs[2:3:3], theirs[7:10]...))
	golden.Contains(t, text, "**Nothing here is proved.**")
}

// TestPairingRatios: ratios by cycles stand beside the printed ones; ours of counts that
// were composed are marked, and have no time.
func TestPairingRatios(t *testing.T) {
	s := studyOf(t, "pairing")
	text := studytest.Page(t, *s, records(s))
	golden.Equal(t, "ratios", []string{"~4.6×", "13.0×", "2.98×", "3.97×", "7,000×", "–", "1×", "1.00×"}, studytest.Row(t, text, "~4.6×")[1:])
	if cells := studytest.Row(t, text, "7,000,000[^composed]", "518,877,400"); cells[3] != "–" || cells[5] != "–" {
		t.Errorf("times of a composed count: %q", cells)
	}
	golden.Contains(t, text, " composed: 3 times its parts", "\n[^composed]: ")
	golden.Equal(t, "a count without a proof is told of", false, strings.Contains(text, "[^counted]"))
}

// changed returns copies of records, each changed by change.
func changed(recs []*record.Record, change func(r *record.Record)) (all []*record.Record) {
	for _, r := range recs {
		other := *r
		other.Metrics, other.Stages = slices.Clone(r.Metrics), slices.Clone(r.Stages)
		change(&other)
		all = append(all, &other)
	}
	return all
}

// setMetric sets a metric of a record that has it.
func setMetric(r *record.Record, q record.Quantity, value float64) {
	for i := range r.Metrics {
		if r.Metrics[i].Quantity == q {
			r.Metrics[i].Value = value
		}
	}
}

// TestKeysApart: tables of our own systems have the time of each key, those of gnark that of both.
func TestKeysApart(t *testing.T) {
	s := studyOf(t, "plonk")
	text := studytest.Page(t, *s, records(s))
	// 1,016 gates: 0.15 s and 0.05 s a gate, and 2 ms.
	row := studytest.Row(t, text, "Plonk", "1,016")
	golden.Equal(t, "keys of Plonk", []string{"152.4", "50.80"}, row[7:9])
	golden.Contains(t, text,
		"| system | gates | constraints | domain | build (s) | reference string (s) | witness (s) | proving key (s) | verifying key (s) |",
		"| gates | constraints | domain | build (s) | reference string (s) | witness (s) | keys (s) | prove (s) |",
		"| form | hashes | gates per hash | proves faster than edwards | constraints | domain | build (ms) | reference string (s) | witness (ms) | keys (s) | prove (s) |")
	text = studytest.Page(t, *studyOf(t, "keccak"), records(studyOf(t, "keccak")))
	golden.Equal(t, "tables of keccak with the keys apart", 3, strings.Count(text, " | proving key (s) | verifying key (s) | "))
}

// TestCharts: there is a chart for each of the studies' figures, and the page says which.
func TestCharts(t *testing.T) {
	for name, want := range map[string][]string{
		"plonk": {
			"| 1 to 7: proof generation | Time to prove by gates |", "| 1 to 7: memory | Memory by gates |", "| 1 to 7: circuit, witness, proving key, verifying key, verification | Stages by gates |",
			"| 8 and 9: ", "| 10 to 16 and 17 to 23: proof generation |", "| 10 to 16 and 17 to 23: memory |", "| 10 to 16 and 17 to 23: circuit, ", "| 24 to 26: ",
		},
		"keccak": {"| 1 and 10: ", "| 2 to 4 (Maru): ", "| 5 to 7 (Axiom), 8b to 8e (JumpCrypto), 9b to 9d: ", "| 8a and 9a: "},
	} {
		s := studyOf(t, name)
		text := studytest.Page(t, *s, records(s))
		golden.Contains(t, text, want...)
	}
}

// TestPrinted: our figures stand below those that the study prints for Axiom and JumpCrypto.
func TestPrinted(t *testing.T) {
	s := studyOf(t, "keccak")
	recs := changed(records(s), func(r *record.Record) {
		if r.Process.Side == "shapes" {
			setMetric(r, record.StageTime("srs"), 0.125)
			setMetric(r, record.StageTime("keys"), 1.5)
		}
	})
	text := studytest.Page(t, *s, recs)
	golden.Contains(t, text, "| system | parameters | permutations | reference string (s) | build (s) | keys (s) | prove (s) | verify (s) | proof bytes |")
	theirs := studytest.Row(t, text, "k = 15, rows 9")
	golden.Equal(t, "the study's", []string{"Axiom", "k = 15, rows 9", "144", "3.35", "–", "0.87", "41.5", "0.054", "67,520"}, theirs)
	ours := studytest.Row(t, text, "**ours**", "`wide-15-9`")
	golden.Equal(t, "ours", []string{"0.125", "1.50", "520"}, []string{ours[3], ours[5], ours[8]})
	golden.Contains(t, text, "| JumpCrypto | 136 to 2448 bytes[^length] | 4 to 20 | – | – | – | – | 0.0035 | 137,268 to 147,452 |", "| **ours** | `stark` |")
	golden.Contains(t, text, "If our largest figure is compared with the smallest that the study prints, we are slower, or our proofs are larger, in ", "Axiom, k = 14, rows 25, keys (1.500 s, the study 480.0 ms)")
}

// TestMaru: the ten figures that the study prints for Maru stand beside the smallest and the largest of ours; those of a
// message of 700,000 bytes, beside ours of that length.
func TestMaru(t *testing.T) {
	s := studyOf(t, "keccak")
	times := map[string]float64{"136": 0.25, "1360": 0.5, "13600": 1, "136000": 2, "700000": 33}
	recs := changed(records(s), func(r *record.Record) {
		if n := study.Axis(r, "bytes"); r.Workload == "KeccakStark" && n == "700000" {
			r.Status, r.Error = record.OK, ""
			r.Metrics = []record.Metric{record.StageTime("prove").Metric(times[n]), record.StageTime("verify").Metric(0.0625)}
		}
		if r.Process.Side != "aggregate" {
			return
		}
		seconds := times[study.Axis(r, "bytes")]
		setMetric(r, record.StageTime("prove"), seconds)
		setMetric(r, record.StageTime("verify"), seconds/100)
		setMetric(r, record.StageTime("compile"), 0.75)
		setMetric(r, record.ProofSize, 1e5*seconds)
		r.Stages = []record.Stage{
			{Name: "prove/children", Time: time.Hour},
			{Name: "prove/layer 1/trace", Time: time.Second},
			{Name: "prove/layer 1/prove", Time: time.Duration(1e9 * seconds)},
		}
	})
	text := studytest.Page(t, *s, recs)
	golden.Contains(t, text, "| figure | section 4.1, Windows | section 4.2, Linux | section 4.3 or 5 | ours |")
	for what, want := range map[string][]string{
		"sponge proof: prove (s)":                      {"0.1 to 0.3", "0.16", "–", "0.250 to 2.00"},
		"sponge proof: verify (s)":                     {"0.3", "0.020 to 0.025", "–", "0.00250 to 0.0200"},
		"permutations proof: verify (s)":               {"0.14", "0.07 to 0.08", "–", "0.00250 to 0.0200"},
		"permutations proof: size (bytes)":             {"–", "–", "more than 1,780,000", "25,000 to 200,000"},
		"aggregated proof: build the circuit (s)":      {"–", "0.004", "–", "0.750"},
		"aggregated proof: prove the aggregation (s)":  {"0.10", "–", "–", "1.25 to 3.00"},
		"aggregated proof: verify (s)":                 {"0.0050", "–", "0.09", "0.00250 to 0.0200"},
		"700,000 bytes, sponge proof: prove (s)":       {"–", "–", "4 or 5[^spongetime]", "–"},
		"700,000 bytes, sponge proof: verify (s)":      {"–", "–", "0.2", "0.0625"},
		"700,000 bytes, permutations proof: prove (s)": {"–", "–", "700 to 800", "33.0"},
	} {
		golden.Equal(t, what, want, studytest.Row(t, text, what)[1:])
	}
	golden.Contains(t, text,
		"Our STARK proves a message of 700,000 bytes (5,148 blocks), the study's longest, in 33.00 s on one core; the study's proof of the permutations alone takes 700 to 800 s (section 4.3).",
		"Maru, aggregated proof: build the circuit (750.0 ms, the study 4.000 ms)", "Maru, sponge proof: prove (2.000 s, the study 100.0 ms)")
	for _, less := range []string{"Maru, permutations proof: verify", "Maru, permutations proof: size"} {
		golden.Equal(t, less+" is named as worse", false, strings.Contains(text, less+" ("))
	}
}

// TestPlonkAnswer: the page begins with rates per core, and names the cases in which we are slower, per core and in all.
func TestPlonkAnswer(t *testing.T) {
	s := studyOf(t, "plonk")
	for seconds, want := range map[float64]string{
		// One gate of the study takes 48 us to 79 us of a core, one row of a circuit full of hashes 47.7 us and more.
		40e-6: "Per core, we are slower than the study, or use more memory, in none of ",
		50e-6: "Per core, we are slower than the study, or use more memory, in 2 of ",
	} {
		recs := changed(records(s), func(r *record.Record) {
			setMetric(r, record.StageTime("prove"), seconds*r.Value(record.Constraints))
			setMetric(r, record.StageTime("verify"), 1e-3)
			for i := range r.Stages {
				r.Stages[i].PeakRSS = uint64(100 * r.Value(record.Constraints))
			}
			setMetric(r, record.LatencyMean, study.AxisNumber(r, "points"))
		})
		text := studytest.Page(t, *s, recs)
		rate := study.Number(1 / seconds)
		golden.Contains(t, text, want,
			fmt.Sprintf("On one core, our systems prove this many gates per second: Plonk %s, TurboPlonk %s, UltraPlonk %s; the study's 32 cores prove 20,764, 15,197, 12,710 per core (2^26 gates, section 5.1).", rate, rate, rate))
		golden.Equal(t, fmt.Sprintf("%v s per gate: worse by name", seconds), seconds > 48e-6,
			strings.Contains(text, "2^26 gates, Plonk ("+rate+" gates/s, the study 20,764 gates/s); 2^25 gates filled with hashes, Plonk ("))
	}
	recs := sized(1000)
	r := recs[0]
	r.Workload, r.Process.Side = "Pedersen", "hashes"
	r.Axes = record.Axes{{Key: "form", Value: "ladder"}, {Key: "hashes", Value: "8192"}, {Key: "system", Value: "turbo"}, {Key: "cpus", Value: "1"}}
	r.Metrics[1].Value = 90
	text := studytest.Page(t, *s, recs)
	golden.Contains(t, text, "With one core against 32, we take longer than the study for the same work in 1 of 1 figure: 8K hashes, TurboPlonk (90.00 s, the study 8.000 s).\n")
}

// TestPairingAnswer: the page begins with our fastest circuit beside the report's fastest program.
func TestPairingAnswer(t *testing.T) {
	s := studyOf(t, "pairing")
	text := studytest.Page(t, *s, records(s))
	golden.Contains(t, text, "Our circuit `std` is proved and verified in ", "by Groth16 on 2 processors, after its keys were made once in ",
		"the report proves the execution of its fastest program for the same exchange in ~41 min 39 sec on an Apple M3 Max.",
		"The three [ratios](#ratios) between slower and faster programs are 1.5×, ~7×, ~4.6× in the report, by time; ours are 4×, 4×, 2.98× by cycles, and those of our circuits not measured, 1×, not measured by time.",
		"We are slower than the report, or our programs take more cycles, in none of 6 figures.",
		"\n- too large to be proved on this machine, so that only constraints were counted: 1 circuit (footnotes in the tables)\n")
}
