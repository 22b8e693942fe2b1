package circuits_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/circuits/pairing"
	"github.com/zkbench/zkbench/internal/golden"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/must"
	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/testsize"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/internal/workload/circuits"
)

// smallCase is a case with small values, but for those given.
func smallCase(def workload.Def, change map[string]string) workload.Case {
	values := map[string]string{
		"gates": "64", "form": "grumpkin", "hashes": "1", "bytes": "0", "blocks": "0", "points": "100", "scalars": "full", "impl": "zkbench", "log": "7", "exec": "serial",
		"system": "plonk", "stage": "prove",
	}
	switch def.Name {
	case "Keccak":
		values["form"] = "bits"
	case "Pairing":
		values["relation"], values["form"] = "scalars", "limbs-mul"
	}
	var axes []record.Axis
	for _, a := range def.Axes {
		v := values[a.Key]
		if c, ok := change[a.Key]; ok {
			v = c
		}
		axes = append(axes, record.Axis{Key: a.Key, Value: v})
	}
	return workload.NewCase(axes...)
}

// sizes are the lines of testdata/sizes.txt: what was written there is what circuits and
// proofs have.
func sizes(t *testing.T) map[string]string {
	t.Helper()
	data := must.Get(os.ReadFile("testdata/sizes.txt"))(t)
	lines := make(map[string]string)
	for line := range strings.Lines(string(data)) {
		if name, sizes, found := strings.Cut(strings.TrimSpace(line), ": "); found {
			lines[name] = sizes
		}
	}
	return lines
}

// TestEveryStage: one operation of every stage, on both proof systems, runs and is
// checked; the sizes are those written down.
func TestEveryStage(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	ctx, lines := context.Background(), sizes(t)
	for _, def := range circuits.Defs() {
		for _, system := range []string{"plonk", "groth16"} {
			for _, stage := range circuits.Stages() {
				_, staged := def.Axis(workload.StageKey)
				switch {
				case !staged && (system != "plonk" || stage != "prove"):
					continue // MSM and FFT, once
				case testing.Short() && staged && def.Name != "Gates":
					continue // for their size
				case def.Name == "Keccak" && stage != "prove", def.Name == "Pairing" && stage != "witness":
					continue // for their size; package pairing proves
				}
				c := smallCase(def, map[string]string{"system": system, "stage": stage})
				name := def.Name + "/" + c.String()
				instance, err := def.New(ctx, c, 1)
				must.Do(t, err, name)
				for seq := range uint64(2) {
					input, err := instance.Input(ctx, seq)
					must.Do(t, err, name)
					output, err := instance.Run(ctx, input)
					must.Do(t, err, name)
					must.Do(t, instance.Check(ctx, input, output), name)
					// A proof with one bit changed is not one.
					if stage == "prove" {
						output = slices.Clone(output)
						output[len(output)-1] ^= 1
						must.Fail(t, instance.Check(ctx, input, output), must.ErrAny, "%s: a changed result", name)
					}
				}
				metrics := must.Get(instance.Metrics(ctx))(t)
				if stage == "prove" || def.Name == "Pairing" {
					var sizes []string
					for _, m := range metrics {
						sizes = append(sizes, fmt.Sprintf("%s %.0f", m.Name(), m.Value))
					}
					golden.Equal(t, name, lines[name], strings.Join(sizes, ", "))
				}
				must.Do(t, instance.Close())
			}
		}
	}
}

// TestImplementations: each of them gives the result that the others check.
func TestImplementations(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for _, def := range []workload.Def{circuits.MSM(), circuits.FFT()} {
		axis, _ := def.Axis("impl")
		for _, impl := range axis.Default {
			name := def.Name + "/" + impl
			instance, err := def.New(t.Context(), smallCase(def, map[string]string{"impl": impl}), 1)
			must.Do(t, err, name)
			input := must.Get(instance.Input(t.Context(), 0))(t)
			output := must.Get(instance.Run(t.Context(), input))(t)
			must.Do(t, instance.Check(t.Context(), input, output), name)
			output[len(output)-1] ^= 1
			must.Fail(t, instance.Check(t.Context(), input, output), must.ErrAny, "%s: a changed result", name)
			must.Do(t, instance.Close(), name)
		}
	}
}

// TestStages: all stages, each with a time, and the sizes where they are made.
func TestStages(t *testing.T) {
	for _, system := range []string{"plonk", "groth16"} {
		def := circuits.Gates()
		rec := measure.Stages(t.Context(), def, smallCase(def, map[string]string{"system": system}), measure.Settings{Config: runner.Config{Seed: 1}})
		if rec.Status != record.OK {
			t.Fatalf("%s: %s", rec.Status, rec.Error)
		}
		var names []string
		for _, s := range rec.Stages {
			names = append(names, s.Name)
		}
		want := "build srs witness keys prove verify"
		if system == "groth16" {
			want = "build witness keys prove verify"
		}
		golden.Equal(t, system+": stages", want, strings.Join(names, " "))
		for _, name := range []string{"constraints", "domain", "proof", "proving key", "verifying key", record.StageTime("prove").Name()} {
			if m, ok := rec.MetricNamed(name); !ok || !(m.Value > 0) {
				t.Errorf("%s: %s is %v", system, name, m.Value)
			}
		}
		if len(rec.Findings) == 0 || rec.Findings[len(rec.Findings)-1].Name != "joint keys" {
			t.Errorf("%s: nothing says that keys are made together", system)
		}
	}
	token := workload.Def{Name: "Other"}
	golden.Equal(t, "a workload without stages", record.Failed, measure.Stages(t.Context(), token, workload.NewCase(), measure.Settings{}).Status)
}

// TestRefused: what does not fit, or is not accepted, is refused before anything is built.
func TestRefused(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(4 << 30))
	for _, test := range []struct {
		def    workload.Def
		change map[string]string
		cause  error
		says   string
	}{
		{circuits.Gates(), map[string]string{"gates": "3"}, zkbench.ErrParams, "3 gates"},
		{circuits.Gates(), map[string]string{"gates": "33554432"}, zkbench.ErrLimit, "what fits: "},
		{circuits.Pedersen(), map[string]string{"hashes": "131072"}, zkbench.ErrLimit, " hashes"},
		{circuits.Keccak(), map[string]string{"bytes": "13600"}, zkbench.ErrLimit, " blocks, messages of "},
		{circuits.Keccak(), map[string]string{"bytes": "1360000"}, zkbench.ErrLimit, "points of the domain"},
		{circuits.Keccak(), map[string]string{"bytes": "136", "blocks": "1", "form": "variable"}, zkbench.ErrLimit, "blocks of a message"},
		{circuits.Keccak(), map[string]string{"bytes": "1", "blocks": "1"}, zkbench.ErrParams, "--form variable"},
	} {
		_, err := test.def.New(t.Context(), smallCase(test.def, test.change), 1)
		if !errors.Is(err, test.cause) || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s %v: %v", test.def.Name, test.change, err)
		}
	}
}

// TestDamagedCache: a reference string whose file is damaged is made anew, and the record
// says so.
func TestDamagedCache(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("XDG_CACHE_HOME", dir)
	def := circuits.Gates()
	measure := func() *record.Record {
		s := measure.DefaultSettings(1, 0)
		s.Count, s.Warmup.Time, s.Samples = 1, 0, 1
		return measure.Case(t.Context(), def, smallCase(def, map[string]string{"stage": "verify"}), s)
	}
	noted := func(r *record.Record) bool {
		return slices.ContainsFunc(r.Findings, func(f record.Finding) bool {
			return f.Name == "reference string" && strings.Contains(f.Text, "made anew")
		})
	}
	if rec := measure(); rec.Status != record.OK || noted(rec) {
		t.Fatalf("without a file: %s %s, %v", rec.Status, rec.Error, rec.Findings)
	}
	files := must.Get(filepath.Glob(filepath.Join(dir, "zkbench", "srs", "*")))(t)
	if len(files) != 1 {
		t.Fatalf("files %v", files)
	}
	raw := must.Get(os.ReadFile(files[0]))(t)
	raw[len(raw)-1] ^= 1
	must.Do(t, os.WriteFile(files[0], raw, 0o600))
	if rec := measure(); rec.Status != record.OK || !noted(rec) {
		t.Errorf("with a damaged file: %s %s, %v", rec.Status, rec.Error, rec.Findings)
	}
	if rec := measure(); rec.Status != record.OK || noted(rec) {
		t.Errorf("after that: %s %s, %v", rec.Status, rec.Error, rec.Findings)
	}
}

// TestCounted: an exchange that can be neither proved nor built has the number of its
// parts, and says so; one that can be built is counted.
func TestCounted(t *testing.T) {
	testsize.Full(t)
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1200 << 20))
	def := circuits.Pairing()
	for _, test := range []struct {
		relation, form, finding string
		want                    int
	}{
		{"tripartite", "limbs", circuits.FindingComposed, pairing.Constraints(pairing.Tripartite, pairing.Limbs, false)},
		{"pairing", "std", circuits.FindingCounted, pairing.Constraints(pairing.Pairing, pairing.Std, false)},
	} {
		c := smallCase(def, map[string]string{"relation": test.relation, "form": test.form, "system": "groth16"})
		rec := measure.Stages(t.Context(), def, c, measure.Settings{Config: runner.Config{Seed: 1}})
		if n, ok := rec.Metric(record.Constraints); rec.Status != record.OK || !ok || int(n.Value) != test.want {
			t.Errorf("%s: %s %s, %.0f constraints, want %d", test.form, rec.Status, rec.Error, n.Value, test.want)
		}
		if !slices.ContainsFunc(rec.Findings, func(f record.Finding) bool { return f.Name == test.finding }) {
			t.Errorf("%s: findings %v", test.form, rec.Findings)
		}
	}
}
