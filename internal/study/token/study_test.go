package token_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/measure/suite"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/study"
	"github.com/zkbench/zkbench/internal/study/peer"
	"github.com/zkbench/zkbench/internal/study/token"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/studytest"
	"github.com/zkbench/zkbench/internal/workload"
	workloads "github.com/zkbench/zkbench/internal/workload/token"
)

func all(rounds int, quick bool) study.Options {
	s := token.Study()
	return study.Options{Parts: s.PartNames(), Rounds: rounds, Workers: 2, Quick: quick}
}

func defs() []workload.Def { return append(workloads.Defs(), token.Yardstick()) }

// TestPlan: each round of the comparison has the same processes, in another order.
func TestPlan(t *testing.T) {
	rounds := make([][]string, 2)
	for _, j := range studytest.Plan(t, token.Study(), defs(), all(2, false), token.YardstickName) {
		if j.Side == token.Panurus {
			rounds[j.Repetition] = append(rounds[j.Repetition], j.Workload+"/"+j.Case.String())
		}
	}
	if slices.Equal(rounds[0], rounds[1]) {
		t.Error("two rounds have one order")
	}
	slices.Sort(rounds[0])
	slices.Sort(rounds[1])
	golden.Equal(t, "the second round", rounds[0], rounds[1])
	jobs, missing := token.Study().Plan([]workload.Def{token.Yardstick()}, all(1, true))
	if !slices.Contains(missing, "Sender") || len(jobs) == 0 {
		t.Errorf("%d jobs of the yardstick alone, missing %q", len(jobs), missing)
	}
}

// records returns the records of a plan as if it had run. The reference operation takes as long as on the machine of
// Panurus' first figures, and a workload a thousand times its index in the plan.
func records(jobs []suite.Case) (recs []*record.Record) {
	for i, j := range jobs {
		r := studytest.Record(i, j)
		studytest.Keep(r, j)
		ns := float64(1000 * (i + 1))
		if j.Workload == token.YardstickName {
			ns = map[string]float64{peer.CurveBN254: 35_200, peer.CurveBLS12381: 55_500}[j.Case.Get("curve")]
		}
		for _, m := range []struct {
			of    record.Quantity
			value float64
		}{
			{record.LatencyMean, ns},
			{record.LatencyP50, ns},
			{record.LatencyP95, 2 * ns},
			{record.LatencyP99, 3 * ns},
			{record.LatencyMax, 4 * ns},
			{record.Throughput, 1e9 / ns},
			{record.Duration, 10},
			{record.Allocs, 100},
			{record.AllocBytes, 4096},
			{record.GCCycles, 20},
			{record.GCPauses, 1e7},
			{record.GCCPUShare, 1.5},
			{record.ProofSize, 1632},
		} {
			r.Metrics = append(r.Metrics, m.of.Metric(m.value))
		}
		recs = append(recs, r)
	}
	return recs
}

// TestPage compares the page of made-up records with a golden one.
func TestPage(t *testing.T) {
	jobs, _ := token.Study().Plan(goldenDefs(), all(2, false))
	studytest.Golden(t, token.Study(), records(jobs))
}

// goldenDefs returns a few of the workloads, so that the golden page is short and does not change with the others.
func goldenDefs() []workload.Def {
	names := []string{"Sender", "VerificationSenderProof", "ValidatorTransfer", "ValidatorBatch", "Reject", token.YardstickName}
	return slices.DeleteFunc(defs(), func(d workload.Def) bool { return !slices.Contains(names, d.Name) })
}

// TestImages: the page shows every chart, and no other, and links to nothing else.
func TestImages(t *testing.T) {
	jobs, _ := token.Study().Plan(goldenDefs(), all(1, false))
	recs := records(jobs)
	n := studytest.Images(t, token.Study(), recs)
	if links := strings.Count(studytest.Page(t, token.Study(), recs), "]("); n != 6 || links != 6 {
		t.Errorf("%d images, %d links, want 6", n, links)
	}
}

// own returns records of one case, each after its own record of the reference operation.
func own(t *testing.T, name string, times, yardsticks []float64) []*record.Record {
	t.Helper()
	jobs, _ := token.Study().Plan(defs(), study.Options{Parts: []string{token.Panurus}, Rounds: len(times)})
	var recs []*record.Record
	for _, r := range records(jobs) {
		point := r.Axes.String()
		isYardstick := r.Workload == token.YardstickName && point == "curve=BN254/workers=1"
		if !isYardstick && (r.Workload != name || !strings.HasPrefix(point, "curve=BN254/bits=32/in=2/out=2/proof=csp/") || strings.Contains(point, "pseudonym")) {
			continue
		}
		value := times[r.Process.Index]
		if isYardstick {
			value = yardsticks[r.Process.Index]
		}
		r.Metrics = []record.Metric{record.LatencyMean.Metric(value)}
		recs = append(recs, r)
	}
	return recs
}

// TestUnits: each time is divided by the yardstick of its own round, so that a machine
// that slows down all at once changes nothing; Panurus' 30.7 ms are 671 units.
func TestUnits(t *testing.T) {
	recs := own(t, "Sender", []float64{1e6, 2e6, 1.1e6}, []float64{20_000, 40_000, 20_000})
	got := studytest.Row(t, studytest.Page(t, token.Study(), recs), "Sender | csp")
	want := []string{"Sender", "csp", "1.100", "10.0 %", "50", "30.70*", "671", "13.4×"}
	golden.Equal(t, "units", want, got)
	golden.Contains(t, studytest.Page(t, token.Study(), recs), "| workload | proof | ours (ms) | spread | units | Panurus (ms) | units | times faster |",
		"\nIn these units, we are slower than Panurus in none of 1 figure.\n")
	slow := own(t, "Sender", []float64{30e6}, []float64{20_000})
	golden.Contains(t, studytest.Page(t, token.Study(), slow), "\nIn these units, we are slower than Panurus in 1 of 1 figure: Sender, 2/2, BN254, 32 bits, csp (1,500 units, Panurus 671 units).\n")
	got = studytest.Row(t, studytest.Page(t, token.Study(), own(t, "Sender", []float64{1e6}, []float64{20_000})), "Sender | csp")
	golden.Equal(t, "spread of one round", "–", got[3])
}

// TestAnswer: the page begins with how many times faster than Panurus a transfer is proved and verified.
func TestAnswer(t *testing.T) {
	recs := slices.Concat(own(t, "TransferProofGeneration", []float64{1e6}, []float64{20_000}), own(t, "VerificationSenderProof", []float64{5e5}, []float64{20_000}))
	// 30.7 ms and 5.45 ms are 671 and 119 units of 45.76 us, ours 50 and 25.
	golden.Contains(t, studytest.Page(t, token.Study(), recs),
		"\nA transfer of two inputs and two outputs is proved 13.4 times as fast as by Panurus (`TransferProofGeneration`), and verified 4.76 times as fast as by Panurus (`VerificationSenderProof`), each measured in units of one scalar multiplication on its own machine.\n")
}

// TestIncomplete: records that failed, or were stopped, are named and not counted; no
// records, and records without a yardstick, have a page too.
func TestIncomplete(t *testing.T) {
	recs := own(t, "Sender", []float64{1e6, 9e6}, []float64{20_000, 20_000})
	for _, r := range recs {
		if r.Process.Index == 1 && r.Workload == "Sender" {
			r.Status, r.Error = record.Failed, "broken on purpose"
		}
	}
	text := studytest.Page(t, token.Study(), recs)
	golden.Equal(t, "time of the round that did not fail", "1.000", studytest.Row(t, text, "Sender | csp")[2])
	golden.Contains(t, text, "(panurus, round 2) failed: broken on purpose")
	if text := studytest.Page(t, token.Study(), nil); !strings.Contains(text, "Nothing was measured") || strings.Contains(text, "| ") {
		t.Errorf("the page of nothing:\n%s", text)
	}
	alone := slices.DeleteFunc(slices.Clone(recs), func(r *record.Record) bool { return r.Workload == token.YardstickName })
	if got := studytest.Row(t, studytest.Page(t, token.Study(), alone), "Sender | csp"); got[4] != "–" || got[7] != "–" {
		t.Errorf("without a yardstick: %q", got)
	}
	golden.Equal(t, "charts", 0, len(must.Get(token.Study().Charts(alone))(t)))
	other := slices.Clone(recs)
	unlike := *other[1]
	unlike.Env.CPU = "Another Processor"
	other[1] = &unlike
	golden.Contains(t, studytest.Page(t, token.Study(), other), fmt.Sprintf("1 of %d records come from another environment", len(other)))
}

// TestYardstick: the workload multiplies, as the peers' case of its curve does.
func TestYardstick(t *testing.T) {
	def := token.Yardstick()
	for _, curve := range []string{peer.CurveBN254, peer.CurveBLS12381} {
		rec := measure.Case(t.Context(), def, workload.NewCase(record.Axis{Key: "curve", Value: curve}), measure.Settings{Config: runner.Config{
			Workers: 1, Count: 10, Samples: 1, Seed: 1,
		}})
		if rec.Status != record.OK || rec.Count(record.CountDone) != 10 || rec.Value(record.LatencyMean) <= 0 {
			t.Errorf("%s: %s %s, %d operations", curve, rec.Status, rec.Error, rec.Count(record.CountDone))
		}
	}
	rec := measure.Case(t.Context(), def, workload.NewCase(record.Axis{Key: "curve", Value: "FP256BN_AMCL"}), measure.DefaultSettings(1, time.Second))
	golden.Equal(t, "a curve without a yardstick", record.Failed, rec.Status)
}
