//go:build unix

package prover_test

import (
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/workload"
)

// ballast is the memory that a prover holds while it proves, in bytes. It is far more than this process
// holds, or the same prover while it prepares and verifies.
const ballast = 300 << 20

// hold allocates ballast bytes and writes to every page.
func hold() []byte {
	held := make([]byte, ballast)
	for i := 0; i < len(held); i += 4096 {
		held[i] = 1
	}
	return held
}

// sameProcessor checks that user and system time add up to the processor time of one process.
func sameProcessor(t *testing.T, what string, of func(record.Quantity) (record.Metric, bool), whose record.Whose) {
	t.Helper()
	cpu, told := of(record.CPUTime)
	user, toldUser := of(record.CPUUser)
	system, toldSystem := of(record.CPUSystem)
	if !told || !toldUser || !toldSystem {
		t.Fatalf("%s: no processor time", what)
	}
	if sum := user.Value + system.Value; math.Abs(sum-cpu.Value) > 1e-6*cpu.Value {
		t.Errorf("%s: %v of user and system is not %v", what, sum, cpu.Value)
	}
	golden.Equal(t, what+": whose", []record.Whose{whose, whose, whose}, []record.Whose{cpu.Whose, user.Whose, system.Whose})
}

// saysWhose checks that every figure of a process says which process it is of.
func saysWhose(t *testing.T, rec *record.Record) {
	t.Helper()
	for _, m := range rec.Metrics {
		if m.OfAProcess() != (m.Whose != "") {
			t.Errorf("%s is of %q", m.Name(), m.Whose)
		}
	}
	for _, s := range rec.Stages {
		if s.Whose == "" {
			t.Errorf("stage %s is of nobody", s.Name)
		}
	}
	for _, s := range rec.Series {
		if s.OfAProcess() {
			t.Errorf("series %s is zkbench's own", s.Name)
		}
	}
}

// TestWhoseMemory: memory and processor time of a prover's commands are the prover's, each stage's
// that of its command; zkbench's own is called so.
func TestWhoseMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("greatest resident sets of processes smaller than this one are seen on Linux")
	}
	s := spec(t, strings.Replace(honest, "SELF prove ", "SELF prove-with-ballast ", 1))
	rec := run(t, s, "prove", 1, func(s *measure.Settings) { s.Count = 1 })
	golden.Equal(t, "status", record.OK, rec.Status)
	saysWhose(t, rec)
	sameProcessor(t, "prove", rec.Metric, "prover/prove")
	peak, _ := rec.Metric(record.PeakRSS)
	golden.Equal(t, "whose peak", "prover/prove", string(peak.Whose))
	if peak.Value < ballast {
		t.Errorf("peak of a prover with ballast: %v", peak.Value)
	}
	for _, stage := range rec.Stages {
		golden.Equal(t, "whose memory in "+stage.Name, record.OfZkbench, stage.Whose)
	}

	rec = run(t, s, "verify", 1, func(s *measure.Settings) { s.Count = 1 })
	golden.Equal(t, "status", record.OK, rec.Status)
	saysWhose(t, rec)
	sameProcessor(t, "verify", rec.Metric, "prover/verify")
	if peak, told := rec.PeakMemory(); told && (peak.Value > ballast || peak.Whose != "prover/verify") {
		t.Errorf("peak of the verifier: %v of %s", peak.Value, peak.Whose)
	}

	rec = measure.Stages(t.Context(), must.Get(s.Def())(t), workload.NewCase(record.Axis{Key: "bytes", Value: "64"}), measure.DefaultSettings(1, 0))
	golden.Equal(t, "status", record.OK, rec.Status)
	saysWhose(t, rec)
	sameProcessor(t, "the case of stages", rec.Metric, "prover/prove")
	proving := rec.Value(record.CPUTime)
	for _, stage := range rec.Stages {
		of := func(q record.Quantity) (record.Metric, bool) {
			for _, m := range stage.Sizes {
				if m.Name() == q.Name() {
					return m, true
				}
			}
			return record.Metric{}, false
		}
		sameProcessor(t, "stage "+stage.Name, of, record.OfProverCommand(stage.Name))
		golden.Equal(t, "whose memory in "+stage.Name, record.OfProverCommand(stage.Name), stage.Whose)
		if cpu, _ := of(record.CPUTime); (cpu.Value == proving) != (stage.Name == "prove") {
			t.Errorf("the case's processor time is %v, that of %s %v", proving, stage.Name, cpu.Value)
		}
		if (stage.PeakRSS >= ballast) != (stage.Name == "prove") || stage.Allocated > 0 {
			t.Errorf("stage %s: %d B at most, %d allocated", stage.Name, stage.PeakRSS, stage.Allocated)
		}
	}
	if peak, _ := rec.PeakMemory(); peak.Value < ballast || peak.Whose != "prover/prove" {
		t.Errorf("peak of all stages: %v of %s", peak.Value, peak.Whose)
	}
}

// TestWhoseMemoryResident: that of a resident prover is the prover's alone.
func TestWhoseMemoryResident(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("what a resident prover takes is told on Linux")
	}
	s := spec(t, strings.ReplaceAll(resident, "MODE", "ballast"))
	rec := run(t, s, "prove", 1, nil)
	golden.Equal(t, "status", record.OK, rec.Status)
	saysWhose(t, rec)
	sameProcessor(t, "load", rec.Metric, record.OfProver)
	if peak, _ := rec.PeakMemory(); peak.Value < ballast || peak.Whose != record.OfProver {
		t.Errorf("peak %v of %q", peak.Value, peak.Whose)
	}
	both, _ := rec.Metric(record.Processors)
	golden.Equal(t, "whose processors", record.OfProver.WithZkbench(), both.Whose)

	rec = measure.Stages(t.Context(), must.Get(s.Def())(t), workload.NewCase(record.Axis{Key: "bytes", Value: "64"}), measure.DefaultSettings(1, 0))
	golden.Equal(t, "status", record.OK, rec.Status)
	saysWhose(t, rec)
	sameProcessor(t, "stages", rec.Metric, record.OfProver)
	for _, stage := range rec.Stages {
		golden.Equal(t, "whose memory in "+stage.Name, record.OfProver, stage.Whose)
		if stage.PeakRSS < ballast != (stage.Name == "prepare") {
			t.Errorf("stage %s: %d B", stage.Name, stage.PeakRSS)
		}
	}
}

// TestFigureTwice: a figure that a resident prover tells and its file reads is refused, by its name.
func TestFigureTwice(t *testing.T) {
	s := spec(t, strings.ReplaceAll(resident, "MODE", "well")+"read: {constraints: {size: '{input}'}}\n")
	rec := run(t, s, "prove", 1, nil)
	golden.Equal(t, "status", record.Failed, rec.Status)
	golden.Contains(t, rec.Error, "figure constraints occurs twice; accepted: each name once")
}
