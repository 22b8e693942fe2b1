package page_test

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/measure/jobs"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/recordtest"
	"github.com/zkbench/zkbench/internal/view/page"
	"github.com/zkbench/zkbench/internal/workload"
)

var machine = record.Env{
	OS: "linux", Arch: "amd64", CPU: "Some Processor 9", Vector: []string{"avx2", "avx512f"}, Path: "avx512", Cores: 4, GOMAXPROCS: 4,
	Governor: "performance", Kernel: "6.1", Memory: 16e9, Go: "go1.26", Commit: "0123456789abcdef", GOGC: 100, GOMEMLIMIT: -1,
	Modules: map[string]string{"example.org/curves": "v1.2.3"},
}

// command returns the command line for a workload of the sample.
func command(r *record.Record) string { return jobs.Command("zkbench", defs(), r) }

// defs are the workloads of the sample.
func defs() []workload.Def {
	token := []workload.Axis{
		workload.CurveAxis([]string{"BN254", "BLS12_381"}, []string{"BN254"}), workload.BitsAxis(), workload.InputsAxis(3), workload.OutputsAxis(3),
		workload.ExecutorAxis([]string{"serial", "pool"}),
	}
	stages := workload.Def{Name: "PlonkMul", Axes: []workload.Axis{workload.IntAxis(workload.Axis{Name: "gates", Usage: "numbers of gates", Smoke: "8"}, 1, 1<<20, 8)}}
	return []workload.Def{{Name: "Sender", Noun: "a transfer", Alias: "transfer", Axes: token}, {Name: "VerificationSenderProof", Axes: token}, stages}
}

// load returns one process of a case: operations that take about middle, in a closed loop.
type load struct {
	workload, exec string
	bits, cpus     int
	workers        int
	run            int
	middle         time.Duration
}

func (l load) settings() measure.Settings {
	return measure.DefaultSettings(l.workers, 10*time.Second)
}

func (l load) record(t testing.TB) *record.Record {
	t.Helper()
	rng := rand.New(rand.NewPCG(uint64(l.run), uint64(l.bits+l.cpus)))
	h := hdrhistogram.New(1, int64(time.Hour), 3)
	drift := 1 + 0.03*float64(l.run)
	sum := 0.0
	for range 2000 {
		ns := float64(l.middle) * drift * (1 + 0.05*rng.NormFloat64() + 0.15*math.Max(rng.ExpFloat64()-2, 0))
		sum += ns
		must.Do(t, h.RecordValue(int64(ns)))
	}
	encoded := must.Get(record.EncodeHistogram(record.HistLatency, "ns", h))(t)
	settings := must.Get(json.Marshal(l.settings()))(t)
	mean := sum / 2000
	perSecond := float64(l.workers) / mean * 1e9
	axes := recordtest.Axes(fmt.Sprintf("curve=BN254/bits=%d/in=2/out=2/exec=%s/cpus=%d/workers=%d", l.bits, l.exec, l.cpus, l.workers))
	r := &record.Record{
		Schema: record.Schema, ID: fmt.Sprintf("%+v", l), Time: time.Date(2026, 2, 3, 4, 5, 6, 0, time.UTC).Add(time.Duration(l.run) * 10 * time.Minute),
		Workload: l.workload, Case: axes.String(), Axes: axes, Env: machine, Seed: 1, Settings: settings, Status: record.OK,
		Process: record.Process{Session: "S", Index: l.run},
		Counters: []record.Counter{
			{Name: record.CountStarted, Value: 2000}, {Name: record.CountDone, Value: 2000}, {Name: record.CountFailed, Value: 0}, {Name: record.CountArena, Value: 1 << 20},
		},
		Metrics: []record.Metric{
			record.Duration.Metric(10), record.Throughput.Metric(perSecond), record.LatencyMin.Metric(float64(h.Min())),
			record.LatencyP50.Metric(float64(h.ValueAtPercentile(50))), record.LatencyMean.Metric(mean),
			record.LatencyP95.Metric(float64(h.ValueAtPercentile(95))), record.LatencyP99.Metric(float64(h.ValueAtPercentile(99))),
			record.LatencyMax.Metric(float64(h.Max())), record.AllocBytes.Exact(178_724), record.Allocs.Exact(191),
			record.GCCPUShare.Metric(1.25 * drift), record.PeakRSS.Metric(52e6 * drift), record.ProofSize.Metric(1416), record.TableSize.Metric(66560),
		},
		Histograms: []record.Histogram{encoded},
		Stages:     []record.Stage{{Name: "set-up", Time: 80 * time.Millisecond, PeakRSS: 30e6}, {Name: "warm-up", Time: time.Second}, {Name: "window", Time: 10 * time.Second}},
	}
	throughput, p50, p99 := make([]float64, 10), make([]float64, 10), make([]float64, 10)
	for i := range throughput {
		wave := 1 + 0.05*math.Sin(float64(i+l.run))
		throughput[i], p50[i], p99[i] = perSecond*wave, mean/wave, 1.4*mean/wave
	}
	r.Series = []record.Series{
		record.Throughput.Series(time.Second, throughput),
		record.LatencyP50.Series(time.Second, p50),
		record.LatencyP99.Series(time.Second, p99),
	}
	r.SetWhose(record.OfOperations)
	return r
}

// staged returns one process of a case of stages.
func staged(gates, cpus, run int) *record.Record {
	axes := recordtest.Axes(fmt.Sprintf("gates=%d/cpus=%d", gates, cpus))
	grow := float64(gates) * (1 + 0.02*float64(run))
	r := &record.Record{
		Schema: record.Schema, ID: fmt.Sprint("staged ", gates, cpus, run), Time: time.Date(2026, 2, 3, 6, 0, 0, 0, time.UTC),
		Workload: "PlonkMul", Case: axes.String(), Axes: axes, Env: machine, Seed: 1, Status: record.OK,
	}
	r.Env.GOMAXPROCS = cpus
	for i, name := range []string{"build", "keys", "prove", "verify"} {
		s := record.Stage{Name: name, Time: time.Duration(grow * float64(i+1) * 1e6), PeakRSS: uint64(grow * 1e6), Allocated: uint64(grow * 2e6)}
		if name == "prove" {
			s.Sizes = []record.Metric{record.ProofSize.Metric(584)}
		}
		r.Stages = append(r.Stages, s)
		r.Metrics = append(r.Metrics, record.StageTime(name).Metric(s.Time.Seconds()))
	}
	r.Metrics = append(r.Metrics, record.Constraints.Metric(float64(gates*1024)))
	r.SetWhose(record.OfOperations)
	return r
}

// sample returns a suite of 2 workloads, 2 executors, 2 bit lengths and 3 numbers of
// processors, each 3 times; an open loop; stages; and everything that can go wrong.
func sample(t testing.TB) page.Data {
	t.Helper()
	var all []*record.Record
	for run := range 3 {
		for _, name := range []string{"Sender", "VerificationSenderProof"} {
			for _, exec := range []string{"serial", "pool"} {
				for _, bits := range []int{32, 64} {
					for _, cpus := range []int{1, 2, 4} {
						middle := time.Duration(float64(bits) * 0.4 * float64(time.Millisecond))
						if name != "Sender" {
							middle /= 3
						}
						if exec == "pool" {
							middle = middle * 9 / 10
						}
						all = append(all, load{name, exec, bits, cpus, cpus, run, middle}.record(t))
					}
				}
			}
		}
		all = append(all, staged(8, 2, run), staged(16, 2, run))
	}
	all[3].Findings = []record.Finding{{Name: "noisy", Text: "the machine was not quiet: 12 % of the processor time went elsewhere"}}
	failed := load{"Sender", "pool", 32, 2, 8, 0, 20 * time.Millisecond}.record(t)
	failed.Status, failed.Error = record.Failed, "operation 17: proof is not accepted"
	partial := load{"Sender", "pool", 32, 2, 4, 0, 25 * time.Millisecond}.record(t)
	partial.Status, partial.Error = record.Partial, "interrupted"
	damaged := load{"Sender", "pool", 32, 2, 1, 0, 12 * time.Millisecond}.record(t)
	damaged.Histograms[0].HDR = damaged.Histograms[0].HDR[:40]
	return page.Data{Title: "Transfers on four processors", Records: append(all, failed, partial, damaged), Command: command, Settings: jobs.Words}
}
