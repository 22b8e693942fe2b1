package jobs_test

import (
	"encoding/json"
	"slices"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/measure/jobs"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/recordtest"
	"github.com/zkbench/zkbench/internal/workload"
)

// defs returns the workloads of the records.
func defs() []workload.Def {
	token := []workload.Axis{
		workload.CurveAxis([]string{"BN254", "BLS12_381"}, []string{"BN254"}), workload.BitsAxis(), workload.InputsAxis(3), workload.OutputsAxis(3),
		workload.ExecutorAxis([]string{"serial", "pool"}),
	}
	gates := workload.IntAxis(workload.Axis{Name: "gates", Usage: "numbers of gates", Smoke: "8"}, 1, 1<<20, 8)
	return []workload.Def{{Name: "Sender", Alias: "transfer", Axes: token}, {Name: "VerificationSenderProof", Axes: token}, {Name: "PlonkMul", Axes: []workload.Axis{gates}}}
}

func TestCommand(t *testing.T) {
	const sender = "zkbench run sender --curves BN254 --bits 32 --num-inputs 2 --num-outputs 2 --executor pool --cpus 2 "
	base := func() *record.Record {
		settings := must.Get(json.Marshal(measure.DefaultSettings(2, 10*time.Second)))(t)
		return &record.Record{
			Workload: "Sender", Env: record.Env{Cores: 4, GOMAXPROCS: 4}, Seed: 1, Settings: settings,
			Axes:    recordtest.Axes("curve=BN254/bits=32/in=2/out=2/exec=pool/cpus=2/workers=2"),
			Metrics: []record.Metric{record.Throughput.Metric(100)},
		}
	}
	with := func(change func(s *measure.Settings)) *record.Record {
		r := base()
		var s measure.Settings
		must.Do(t, json.Unmarshal(r.Settings, &s))
		change(&s)
		raw := must.Get(json.Marshal(s))(t)
		r.Settings = raw
		return r
	}
	changed := func(change func(r *record.Record)) *record.Record {
		r := base()
		change(r)
		return r
	}
	open := func(queue int, shape runner.Shape, rates ...float64) *record.Record {
		a := &runner.Arrivals{Shape: shape, Rates: rates}
		r := with(func(s *measure.Settings) { s.Arrivals, s.Queue = a, queue })
		r.Axes = append(r.Axes, record.Axis{Key: "rate", Value: a.Rate()}, record.Axis{Key: "arrivals", Value: string(shape)})
		return r
	}
	arrivals := func(shape runner.Shape, rates ...float64) *record.Record {
		return open(runner.DefaultQueue, shape, rates...)
	}
	staged := &record.Record{
		Workload: "PlonkMul", Env: record.Env{Cores: 4, GOMAXPROCS: 2}, Seed: 1,
		Axes: record.Axes{{Key: "gates", Value: "8"}, {Key: "cpus", Value: "2"}},
	}
	drop := func(r *record.Record, key string) {
		r.Axes = slices.DeleteFunc(r.Axes, func(x record.Axis) bool { return x.Key == key })
	}
	for name, c := range map[string]struct {
		r    *record.Record
		want string
	}{
		"defaults":   {base(), sender + "--workers 2 --duration 10s --seed 1"},
		"seed":       {changed(func(r *record.Record) { r.Seed = 1<<64 - 1 }), sender + "--workers 2 --duration 10s --seed 18446744073709551615"},
		"count":      {with(func(s *measure.Settings) { s.Duration, s.Count, s.Warmup.Time = 0, 500, 100*time.Millisecond }), sender + "--workers 2 --count 500 --seed 1"},
		"both":       {with(func(s *measure.Settings) { s.Count = 500 }), sender + "--workers 2 --duration 10s --count 500 --seed 1"},
		"warm-up":    {with(func(s *measure.Settings) { s.Warmup.Time, s.Warmup.Stationary = 3*time.Second, true }), sender + "--workers 2 --duration 10s --warmup 3s,2,stationary --seed 1"},
		"no warm-up": {with(func(s *measure.Settings) { s.Warmup = runner.Warmup{} }), sender + "--workers 2 --duration 10s --warmup 0 --seed 1"},
		"others": {with(func(s *measure.Settings) {
			s.Grace, s.Samples, s.Arena, s.Profiles = time.Minute, 0, 64<<20, []string{"cpu", "heap"}
			s.Check = runner.Check{Policy: runner.CheckSample, N: 10}
		}), sender + "--workers 2 --duration 10s --grace 1m0s --samples 0 --check sample=10 --arena 64 --profile cpu,heap --seed 1"},
		"default arena": {with(func(s *measure.Settings) { s.Arena, s.Queue = runner.DefaultArena, runner.DefaultQueue }), sender + "--workers 2 --duration 10s --seed 1"},
		"check none":    {with(func(s *measure.Settings) { s.Check.Policy = runner.CheckNone }), sender + "--workers 2 --duration 10s --check none --seed 1"},
		"constant":      {arrivals(runner.Constant, 100), sender + "--workers 2 --rate 100 --duration 10s --seed 1"},
		"poisson":       {arrivals(runner.Poisson, 12.5), sender + "--workers 2 --rate 12.5 --arrivals poisson --duration 10s --seed 1"},
		"step":          {arrivals(runner.Step, 50, 100), sender + "--workers 2 --rate 50,100 --arrivals step --duration 10s --seed 1"},
		"ramp":          {arrivals(runner.Ramp, 50, 200), sender + "--workers 2 --rate 50..200 --arrivals ramp --duration 10s --seed 1"},
		"queue":         {open(9, runner.Constant, 7), sender + "--workers 2 --rate 7 --queue 9 --duration 10s --seed 1"},
		"quoted": {
			changed(func(r *record.Record) { r.Axes[0].Value = "it's $(rm -r)" }),
			`zkbench run sender --curves 'it'\''s $(rm -r)' --bits 32 --num-inputs 2 --num-outputs 2 --executor pool --cpus 2 --workers 2 --duration 10s --seed 1`,
		},
		"all processors": {
			changed(func(r *record.Record) { drop(r, "cpus") }),
			"zkbench run sender --curves BN254 --bits 32 --num-inputs 2 --num-outputs 2 --executor pool --workers 2 --duration 10s --seed 1",
		},
		"GOMAXPROCS": {
			changed(func(r *record.Record) { drop(r, "cpus"); r.Env.GOMAXPROCS = 3 }),
			"zkbench run sender --curves BN254 --bits 32 --num-inputs 2 --num-outputs 2 --executor pool --cpus 3 --workers 2 --duration 10s --seed 1",
		},
		"mix": {
			changed(func(r *record.Record) {
				r.Workload = "Mix"
				r.Axes = append(record.Axes{{Key: "mix", Value: "transfer:8,verification-sender-proof:1"}}, r.Axes...)
			}),
			"zkbench run --mix transfer=8,verification-sender-proof=1 --curves BN254 --bits 32 --num-inputs 2 --num-outputs 2 --executor pool --cpus 2 --workers 2 --duration 10s --seed 1",
		},
		"leak": {
			changed(func(r *record.Record) {
				drop(r, "cpus")
				r.Counters = append(r.Counters, record.Counter{Name: record.CountLeakFixed, Value: 900})
			}),
			"zkbench leak sender --curves BN254 --bits 32 --num-inputs 2 --num-outputs 2 --executor pool --duration 10s --seed 1",
		},
		"string":               {with(func(s *measure.Settings) { s.SRS = "a b.ptau" }), sender + "--workers 2 --duration 10s --srs 'a b.ptau' --seed 1"},
		"string of a ceremony": {with(func(s *measure.Settings) { s.SRS, s.SRSHash = "a.ptau", "0f" }), sender + "--workers 2 --duration 10s --srs a.ptau --srs-hash 0f --seed 1"},
		"stages of a string": {
			&record.Record{Workload: "PlonkMul", Env: staged.Env, Seed: 1, Axes: staged.Axes, Settings: json.RawMessage(`{"srs":"powers.ptau"}`)},
			"zkbench stages plonk-mul --gates 8 --cpus 2 --srs powers.ptau --seed 1",
		},
		"stages":           {staged, "zkbench stages plonk-mul --gates 8 --cpus 2 --seed 1"},
		"unknown workload": {changed(func(r *record.Record) { r.Workload = "Other" }), ""},
		"unknown axis":     {changed(func(r *record.Record) { r.Axes[1].Key = "width" }), ""},
		"unknown mix":      {changed(func(r *record.Record) { r.Workload = "Mix"; r.Axes = record.Axes{{Key: "mix", Value: "a:1,b:2"}} }), ""},
		"bad settings":     {changed(func(r *record.Record) { r.Settings = json.RawMessage(`{"workers": "two"}`) }), ""},
		"no settings":      {changed(func(r *record.Record) { r.Settings = nil }), ""},
	} {
		golden.Equal(t, name, c.want, jobs.Command("zkbench", defs(), c.r))
	}
}
