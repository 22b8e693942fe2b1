// Package token contains the study of confidential transfers: what the command "zkbench study token" measures, and the
// study's page. Times are divided by the time of a reference operation, one scalar multiplication. The divisor for a
// record is the time in another record: the last one before it that measures the reference operation on the same curve.
package token

import (
	"maps"
	"slices"
	"time"

	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/measure/suite"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/study"
	"github.com/zkbench/zkbench/internal/study/peer"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/token"
)

// The parts of the study of tokens.
const (
	Panurus = "panurus" // two inputs, two outputs, one thread, beside Panurus' figures
	Matrix  = "matrix"  // inputs, outputs and executors
	Sample  = "sample"  // the run that Panurus' documentation prints
)

// Study returns the study that compares confidential transfers with figures of Panurus (LFDT-Panurus/panurus).
func Study() study.Study {
	return study.Study{
		Name:  "token",
		Short: "Confidential transfers beside figures of Panurus",
		Long: "Confidential transfers beside figures of Panurus, in units of one scalar\n" +
			"multiplication measured in the same run.",
		Parts: []study.Part{
			{Name: Panurus, About: "every workload at two inputs and two outputs, some at others, one thread, in interleaved rounds"},
			{Name: Matrix, About: "proofs x curves x bits x inputs x outputs x executors"},
			{Name: Sample, About: "the load test that Panurus' documentation prints"},
		},
		Rounds: []string{Panurus}, Runs: 3,
		Defs: []workload.Def{Yardstick()}, Plan: makePlan, Page: writePage, Charts: charts,
	}
}

// expected returns about how long a process takes.
func expected(s measure.Settings, values map[string]string) time.Duration {
	start := 200 * time.Millisecond
	if values["batch"] != "" {
		start += 800 * time.Millisecond // to make the batch's requests or proofs
	}
	inputs := time.Duration(s.Samples) * 4 * time.Millisecond
	return start + inputs + s.Warmup.Time + s.Duration
}

const (
	window      = 400 * time.Millisecond // of a process that is measured in rounds
	shortWindow = 300 * time.Millisecond
	quickWindow = 100 * time.Millisecond
	sampleTime  = 10 * time.Second // as in the printed run
	// checks is the number of results that each process checks.
	checks = 4
	// grace is the time for operations that still run when a window closes.
	grace = 10 * time.Second
	// batchSize is the number of requests or proofs that are verified together.
	batchSize = 64
	// applySize is the number of requests that a ledger applies together.
	applySize = 256
)

func curves() []string { return []string{peer.CurveBN254, peer.CurveBLS12381} }
func proofs() []string { return []string{token.Bulletproof, token.CSP} }
func widths() []string { return []string{"32", "64"} }

// makePlan plans the selected parts. The part Panurus runs in rounds.
func makePlan(defs []workload.Def, o study.Options) (jobs []suite.Case, missing []string) {
	p := &plan{Planner: study.Planner{Defs: defs}, quick: o.Quick}
	for _, part := range o.Parts {
		switch part {
		case Panurus:
			for round := range o.Rounds {
				p.panurus(round)
			}
		case Matrix:
			p.matrix()
		case Sample:
			p.sample(o.Workers)
		}
	}
	return p.Cases, p.Missing
}

type plan struct {
	study.Planner
	quick bool
}

// add plans a process of a workload with these values of its axes.
func (p *plan) add(part string, round, procs int, name string, values map[string]string, s measure.Settings) {
	s.Check, s.Grace = runner.Check{Policy: runner.CheckSample, N: checks}, grace
	p.Add(suite.Case{
		Side: part, Repetition: round, Expected: expected(s, values),
		Job: measure.Job{Settings: s, Deadline: measure.Deadline(s), Procs: procs},
	}, name, values)
}

// settings returns the settings of one worker with few inputs, because inputs take longer to build than to use.
func (p *plan) settings(window time.Duration, samples int) measure.Settings {
	if p.quick {
		window = quickWindow
	}
	s := measure.DefaultSettings(1, window)
	s.Samples = samples
	return s
}

// panurus plans one round: for each curve, width and proof the reference operation and then all workloads. So the two
// sides of a ratio are seconds apart. From round to round the order rotates, so that no workload always follows the same
// other one.
func (p *plan) panurus(round int) {
	type block struct{ curve, bits, proof string }
	var blocks []block
	for _, curve := range curves() {
		for _, bits := range widths() {
			for _, proof := range proofs() {
				if !p.quick || curve == peer.CurveBN254 && bits == "32" {
					blocks = append(blocks, block{curve, bits, proof})
				}
			}
		}
	}
	for _, b := range rotated(blocks, round) {
		p.add(Panurus, round, 1, YardstickName, map[string]string{"curve": b.curve}, p.settings(window, 1))
		for _, m := range rotated(measures(), round) {
			if m.once && b != blocks[0] || m.tokens > 0 && b.bits != "64" {
				continue
			}
			values := map[string]string{"curve": b.curve, "bits": b.bits, "proof": b.proof, "in": m.count(), "out": m.count(), "exec": "serial"}
			samples := checks
			for _, a := range m.axes {
				values[a.Key] = a.Value
				if a.Key == "batch" {
					samples = 1
				}
			}
			p.add(Panurus, round, 1, m.workload, values, p.settings(window, samples))
		}
	}
}

// rotated returns a copy of s that begins with element n and ends with those before it.
func rotated[T any](s []T, n int) []T {
	n %= len(s)
	return slices.Concat(s[n:], s[:n])
}

// matrixWorkloads returns the workloads of the matrix: a transfer is proved, and verified.
func matrixWorkloads() []string { return []string{"Sender", "VerificationSenderProof"} }

func executors() []string { return []string{"serial", "unbounded", "pool"} }

func counts() []string { return []string{"1", "2", "3"} }

// matrix plans all combinations of proofs, curves, widths, inputs, outputs and executors, on all processors.
func (p *plan) matrix() {
	all := make([]map[string]string, 1)
	for _, axis := range []struct {
		key    string
		values []string
		quick  string
	}{
		{"curve", curves(), peer.CurveBN254},
		{"bits", widths(), "32"},
		{"proof", proofs(), token.Bulletproof},
		{"in", counts(), "2"},
		{"out", counts(), "2"},
		{"exec", executors(), ""},
	} {
		if p.quick && axis.quick != "" {
			axis.values = []string{axis.quick}
		}
		var next []map[string]string
		for _, at := range all {
			for _, v := range axis.values {
				point := map[string]string{axis.key: v}
				maps.Copy(point, at)
				next = append(next, point)
			}
		}
		all = next
	}
	for _, at := range all {
		for _, name := range matrixWorkloads() {
			p.add(Matrix, 0, 0, name, at, p.settings(shortWindow, 2))
		}
	}
}

// sample plans the run that Panurus' documentation prints.
func (p *plan) sample(workers int) {
	s := measure.DefaultSettings(workers, sampleTime)
	s.Samples = 128
	if p.quick {
		s.Duration, s.Warmup.Time, s.Samples = 10*quickWindow, quickWindow, 16
	}
	p.add(Sample, 0, 0, "Sender", map[string]string{
		"curve": peer.CurveBN254, "bits": "32", "in": "2", "out": "2", "proof": token.Bulletproof, "exec": "pool",
	}, s)
}
