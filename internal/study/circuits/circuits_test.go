package circuits_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
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
			for k, name := range []string{"build", "srs", "witness", "keys", "prove", "verify", "compile"} {
				seconds := []float64{0.01, 0.1, 0.001, 0.2, 1, 0, 0.02}[k]*n*slower + 0.002
				if name == "verify" {
					seconds += float64(i%3) * 1e-4
				}
				add(record.StageTime(name), seconds)
				r.Stages = append(r.Stages, record.Stage{Name: name, PeakRSS: uint64(1e6 * n)})
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
	want := []string{"9,000", "–", "–", "–", "–", "–", "–", "*≈ 16.00 ms*", "–", "*≈ 32 MB*", "–"}
	golden.Equal(t, "estimates", want, studytest.Row(t, text, "*≈ 16.00 ms*"))
	golden.Contains(t, text, "gates: these cases are too large for this machine and did not run: Gates/gates=")
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
		golden.Equal(t, fmt.Sprintf("wrong=%v", wrong), []string{"1.000 ms", "4.000 ms", "4.00×", rounds}, studytest.Row(t, text, "Gates", "prove")[3:])
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
	cells := studytest.Row(t, studytest.Page(t, *s, recs), "ours", "2.000 ms")
	golden.Equal(t, "crossover", []string{"ours", "2.000 ms", "999,900", "999,900 to 999,900"}, cells)
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
