// Package study plans what zkbench study measures and writes its page. The page and
// its charts are made from the records alone, so that the same records give the same
// bytes; what runs the plan is the command.
//
// A record says with Process.Side which part of the study it is of, and with
// Process.Index the round. What it is held against in yardstick units is the record
// of the yardstick that stands last before it.
package study

import (
	"maps"
	"slices"
	"time"

	"github.com/zkbench/zkbench/internal/peer"
	"github.com/zkbench/zkbench/internal/proc"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/token"
)

// The parts of the study of tokens.
const (
	Panurus = "panurus" // two inputs, two outputs, one thread, beside Panurus' figures
	Matrix  = "matrix"  // inputs, outputs and executors
	Sample  = "sample"  // the run that Panurus' documentation prints
)

// Parts returns the names of the parts, in their order.
func Parts() []string { return []string{Panurus, Matrix, Sample} }

// Options of a plan. The zero value plans nothing.
type Options struct {
	Parts   []string
	Rounds  int  // of the part Panurus; the others have one
	Workers int  // of the part Sample
	Quick   bool // few cases, short windows
}

// Job is one process of the study.
type Job struct {
	Part  string
	Round int
	proc.Job
}

// Place is what the record of a job says of its place in a session.
func (j *Job) Place(session string) record.Process {
	return record.Process{Session: session, Side: j.Part, Index: j.Round}
}

// Expected is about how long a process of the job takes, on one core of a
// processor of the year 2024.
func (j *Job) Expected() time.Duration {
	start := 200 * time.Millisecond
	if j.Case.Get("batch") != "" {
		start += 800 * time.Millisecond // for as many requests or proofs
	}
	inputs := time.Duration(j.Settings.Samples) * 4 * time.Millisecond
	return start + inputs + j.Settings.Warmup + j.Settings.Duration
}

const (
	window      = 400 * time.Millisecond // of a process that is measured in rounds
	shortWindow = 300 * time.Millisecond
	quickWindow = 100 * time.Millisecond
	sampleTime  = 10 * time.Second // as in the run that is printed
	// checks are the results that each process checks.
	checks = 4
	// grace lets the operations end that run when a window closes.
	grace = 10 * time.Second
	// batchSize is how many requests or proofs are verified together.
	batchSize = 64
	// applySize is how many requests a ledger applies together.
	applySize = 256
)

func curves() []string { return []string{peer.CurveBN254, peer.CurveBLS12381} }
func proofs() []string { return []string{token.Bulletproof, token.CSP} }
func widths() []string { return []string{"32", "64"} }

// Plan returns the processes of a study in their order, and the names of the
// workloads that it is about and defs does not have.
func Plan(defs []workload.Def, o Options) (jobs []Job, missing []string) {
	p := &plan{defs: defs, quick: o.Quick}
	for _, part := range Parts() {
		if !slices.Contains(o.Parts, part) {
			continue
		}
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
	return p.jobs, p.missing
}

type plan struct {
	defs    []workload.Def
	quick   bool
	jobs    []Job
	missing []string
}

// add plans a process of a workload at a point. An axis that values does not name
// has its smallest case.
func (p *plan) add(part string, round, procs int, name string, values map[string]string, s workload.Settings) {
	def, err := workload.Find(p.defs, name)
	if err != nil {
		if !slices.Contains(p.missing, name) {
			p.missing = append(p.missing, name)
		}
		return
	}
	var axes []record.Axis
	for _, a := range def.Axes {
		value, ok := values[a.Key]
		if !ok {
			value = a.Smoke
		}
		axes = append(axes, record.Axis{Key: a.Key, Value: value})
	}
	s.Check, s.Grace = runner.Check{Policy: runner.CheckSample, N: checks}, grace
	p.jobs = append(p.jobs, Job{Part: part, Round: round, Job: proc.Job{
		Workload: def.Name, Case: workload.NewCase(axes...), Settings: s, Deadline: proc.Deadline(s), Procs: procs,
	}})
}

// settings are those of one worker, with few inputs: they take longer to build than
// to use.
func (p *plan) settings(window time.Duration, samples int) workload.Settings {
	if p.quick {
		window = quickWindow
	}
	s := workload.DefaultSettings(1, window)
	s.Samples = samples
	return s
}

// panurus plans one round: for each curve, width and proof the yardstick and then
// all workloads, so that the two sides of a ratio are seconds apart. From round to
// round the order rotates, so that none always follows the same other one.
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
			if m.once && b != blocks[0] {
				continue
			}
			values := map[string]string{"curve": b.curve, "bits": b.bits, "proof": b.proof, "in": "2", "out": "2", "exec": "serial"}
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

// rotated returns s from the n-th on, and then the ones before it.
func rotated[T any](s []T, n int) []T {
	n %= len(s)
	return slices.Concat(s[n:], s[:n])
}

// matrixWorkloads are what the matrix measures: a transfer proved and verified.
func matrixWorkloads() []string { return []string{"Sender", "VerificationSenderProof"} }

func executors() []string { return []string{"serial", "unbounded", "pool"} }

func counts() []string { return []string{"1", "2", "3"} }

// matrix plans all proofs, curves, widths, inputs, outputs and executors, with all
// processors at hand.
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
	s := workload.DefaultSettings(workers, sampleTime)
	s.Samples = 128
	if p.quick {
		s.Duration, s.Warmup, s.Samples = 10*quickWindow, quickWindow, 16
	}
	p.add(Sample, 0, 0, "Sender", map[string]string{
		"curve": peer.CurveBN254, "bits": "32", "in": "2", "out": "2", "proof": token.Bulletproof, "exec": "pool",
	}, s)
}
