package circuits_test

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/circuits/pairing"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/internal/workload/circuits"
)

// smallCase returns a case with small values, except those in change.
func smallCase(t testing.TB, def workload.Def, change map[string]string) workload.Case {
	t.Helper()
	values := map[string]string{
		"form": workload.Own, "gates": "64", "hashes": "1", "bytes": "0", "blocks": "0", "points": "100", "scalars": "full", "log": "7", "exec": "serial",
		"system": "plonk", "impl": workload.Own, "stage": "prove",
	}
	switch def.Name {
	case "Pedersen":
		values["form"] = "grumpkin"
	case "MSM", "FFT":
		values["impl"] = "zkbench"
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
	return must.Get(def.Resolved(workload.NewCase(axes...)))(t)[0]
}

// sizes returns the lines of testdata/sizes.txt, which has the expected sizes of circuits and
// proofs, by the names of the cases.
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

// TestEveryStage: one operation of every stage, on all proof systems, runs and is checked; the
// sizes are those written down.
func TestEveryStage(t *testing.T) {
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	for _, test := range []struct {
		def     workload.Def
		change  map[string]string
		stages  []string
		inShort bool
	}{
		{circuits.Gates(), map[string]string{"system": "plonk"}, circuits.Stages(), true},
		{circuits.Gates(), map[string]string{"system": "groth16"}, circuits.Stages(), true},
		{circuits.Gates(), map[string]string{"system": "plonk", "impl": "zkbench"}, circuits.Stages(), true},
		{circuits.Gates(), map[string]string{"system": "turbo"}, circuits.Stages(), true},
		{circuits.Gates(), map[string]string{"system": "ultra"}, circuits.Stages(), true},
		{circuits.Pedersen(), map[string]string{"system": "plonk"}, circuits.Stages(), false},
		{circuits.Pedersen(), map[string]string{"system": "groth16"}, circuits.Stages(), false},
		{circuits.Pedersen(), map[string]string{"system": "plonk", "impl": "zkbench", "form": workload.Own}, []string{"prove"}, false},
		{circuits.Pedersen(), map[string]string{"system": "turbo", "form": workload.Own}, []string{"prove", "witness"}, true},
		{circuits.Pedersen(), map[string]string{"system": "ultra", "form": workload.Own}, []string{"prove", "witness"}, true},
		{circuits.Keccak(), map[string]string{"system": "plonk"}, []string{"prove"}, false},
		{circuits.Keccak(), map[string]string{"system": "groth16"}, []string{"prove"}, false},
		{circuits.Keccak(), map[string]string{"system": "ultra"}, []string{"prove"}, false},
		{circuits.Keccak(), map[string]string{"system": "ultra", "form": "wide"}, []string{"prove", "witness"}, false},
		{circuits.Keccak(), map[string]string{"system": "ultra", "form": "wide-14-25"}, []string{"witness"}, false},
		{circuits.Pairing(), map[string]string{"system": "plonk"}, []string{"witness"}, false},
		{circuits.Pairing(), map[string]string{"system": "plonk", "relation": "check", "form": "std"}, []string{"witness"}, true},
		{circuits.Pairing(), map[string]string{"system": "groth16", "relation": "check", "form": "std"}, []string{"witness"}, false},
		{circuits.Pairing(), map[string]string{"system": "groth16"}, []string{"witness"}, false},
		{circuits.MSM(), nil, []string{"prove"}, true},
		{circuits.FFT(), nil, []string{"prove"}, true},
	} {
		if testing.Short() && !test.inShort {
			continue // for its size
		}
		for _, stage := range test.stages {
			change := map[string]string{"stage": stage}
			maps.Copy(change, test.change)
			everyStage(t, test.def, smallCase(t, test.def, change), stage)
		}
	}
}

func everyStage(t *testing.T, def workload.Def, c workload.Case, stage string) {
	t.Helper()
	ctx, name := t.Context(), def.Name+"/"+c.String()
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
			if def.Stages != nil { // else the result is no proof
				output[len(output)-1] ^= 1
				must.Fail(t, instance.Check(ctx, input, append(output, 0)), zkbench.ErrMalformed, "%s: a byte behind the proof", name)
			}
		}
	}
	metrics := must.Get(instance.Metrics(ctx))(t)
	if want, ok := sizes(t)[name]; ok || stage == "prove" {
		var sizes []string
		for _, m := range metrics {
			sizes = append(sizes, fmt.Sprintf("%s %.0f", m.Name(), m.Value))
		}
		golden.Equal(t, name, want, strings.Join(sizes, ", "))
	}
	must.Do(t, instance.Close())
}

// TestOffers: what users type is these cases, of gnark's systems where they do not ask for ours, as
// always; what does not go together is refused by name.
func TestOffers(t *testing.T) {
	for _, test := range []struct {
		def   workload.Def
		lists map[string]string
		want  string
	}{
		{circuits.Gates(), nil, "gates=64/system=plonk/stage=prove"},
		{circuits.Gates(), map[string]string{"system": "plonk,groth16,turbo,ultra"}, "gates=64/system=plonk/stage=prove gates=64/system=groth16/stage=prove gates=64/system=turbo/stage=prove gates=64/system=ultra/stage=prove"},
		{circuits.Gates(), map[string]string{"impl": "gnark,zkbench"}, "gates=64/system=plonk/stage=prove gates=64/system=plonk/impl=zkbench/stage=prove"},
		{circuits.Gates(), map[string]string{"system": "turbo", "impl": "zkbench"}, "gates=64/system=turbo/stage=prove"},
		{circuits.Pedersen(), nil, "form=edwards/hashes=1/system=plonk/stage=prove form=grumpkin/hashes=1/system=plonk/stage=prove form=tables/hashes=1/system=plonk/stage=prove"},
		{circuits.Pedersen(), map[string]string{"form": "tables"}, "form=tables/hashes=1/system=plonk/stage=prove"},
		{circuits.Pedersen(), map[string]string{"system": "turbo,ultra"}, "form=ladder/hashes=1/system=turbo/stage=prove form=window/hashes=1/system=ultra/stage=prove"},
		{circuits.Pedersen(), map[string]string{"impl": "zkbench"}, "form=ladder/hashes=1/system=plonk/impl=zkbench/stage=prove"},
		{circuits.Keccak(), nil, "form=bits/bytes=0/blocks=0/system=plonk/stage=prove"},
		{circuits.Keccak(), map[string]string{"system": "ultra"}, "form=lookup/bytes=0/blocks=0/system=ultra/stage=prove"},
		{circuits.Keccak(), map[string]string{"system": "ultra", "form": "wide,lookup"}, "form=wide/bytes=0/blocks=0/system=ultra/stage=prove form=lookup/bytes=0/blocks=0/system=ultra/stage=prove"},
		{circuits.Keccak(), map[string]string{"system": "ultra", "form": "wide-13-40,wide-20-149"}, "form=wide-13-40/bytes=0/blocks=0/system=ultra/stage=prove form=wide-20-149/bytes=0/blocks=0/system=ultra/stage=prove"},
	} {
		lists := map[string]string{"gates": "64", "hashes": "1", "bytes": "0", "stage": "prove"}
		maps.Copy(lists, test.lists)
		var names []string
		for _, c := range must.Get(workload.Cases(test.def, lists))(t) {
			names = append(names, c.String())
		}
		golden.Equal(t, fmt.Sprint(test.def.Name, test.lists), test.want, strings.Join(names, " "))
	}
	for _, test := range []struct {
		def   workload.Def
		lists map[string]string
		field string
		says  string
	}{
		{circuits.Gates(), map[string]string{"system": "groth16", "impl": "zkbench"}, "system", "plonk, turbo, ultra with --impl zkbench"},
		{circuits.Gates(), map[string]string{"system": "turbo", "impl": "gnark"}, "system", "plonk, groth16 with --impl gnark"},
		{circuits.Pedersen(), map[string]string{"form": "window"}, "form", "edwards, grumpkin, tables with --system plonk --impl gnark"},
		{circuits.Pedersen(), map[string]string{"system": "turbo", "form": "tables"}, "form", "ladder with --system turbo --impl zkbench"},
		{circuits.Keccak(), map[string]string{"form": "wide"}, "form", "bits, variable, std with --system plonk --impl gnark"},
		{circuits.Keccak(), map[string]string{"system": "turbo"}, "system", "plonk, groth16, ultra"},
		{circuits.Keccak(), map[string]string{"form": "wide-15-9"}, "form", "bits, variable, std with --system plonk --impl gnark"},
		{circuits.Keccak(), map[string]string{"system": "ultra", "form": "wide-11-25"}, "form", "wide-15-9, wide-K-ROWS: 2^K rows, K from 12 to 20, and ROWS of a round, 5 to 149"},
		{circuits.Keccak(), map[string]string{"system": "ultra", "form": "wide-21-25"}, "form", "wide-K-ROWS"},
		{circuits.Keccak(), map[string]string{"system": "ultra", "form": "wide-14-4"}, "form", "wide-K-ROWS"},
		{circuits.Keccak(), map[string]string{"system": "ultra", "form": "wide-14-150"}, "form", "wide-K-ROWS"},
		{circuits.Keccak(), map[string]string{"system": "ultra", "form": "wide-014-25"}, "form", "wide-K-ROWS"},
		{circuits.Keccak(), map[string]string{"system": "ultra", "form": "wide-14-25-1"}, "form", "wide-K-ROWS"},
		{circuits.Gates(), map[string]string{"impl": "all"}, "impl", "gnark, zkbench"},
		{circuits.Pedersen(), map[string]string{"form": "own"}, "form", "edwards, grumpkin, tables, ladder, window"},
	} {
		_, err := workload.Cases(test.def, test.lists)
		wrong, ok := errors.AsType[*argument.ValueError](err)
		if !ok || wrong.Field != test.field || !strings.Contains(wrong.Accepted, test.says) {
			t.Errorf("%s %v: %v", test.def.Name, test.lists, err)
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
			instance, err := def.New(t.Context(), smallCase(t, def, map[string]string{"impl": impl}), 1)
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
	const ours = "build srs witness keys keys/verifying keys/proving prove prove/commit prove/permutation prove/lookup prove/quotient prove/open verify"
	def := circuits.Gates()
	for change, want := range map[string]string{
		"plonk":   "build srs witness keys prove verify",
		"groth16": "build witness keys prove verify",
		"turbo":   ours,
	} {
		rec := measure.Stages(t.Context(), def, smallCase(t, def, map[string]string{"system": change}), measure.Settings{Config: runner.Config{Seed: 1}})
		if rec.Status != record.OK {
			t.Fatalf("%s: %s", rec.Status, rec.Error)
		}
		var names []string
		for _, s := range rec.Stages {
			names = append(names, s.Name)
		}
		golden.Equal(t, change+": stages", want, strings.Join(names, " "))
		figures, remark := []string{"constraints", "domain", "proof", "proving key", "verifying key", record.StageTime("prove").Name()}, "joint keys"
		if change == "turbo" {
			figures, remark = append(figures, "proof-points", record.StageTime("prove: sums").Name(), record.StageTime("prove: transforms").Name(), record.StageTime("prove: rest").Name()), "eager witness"
		}
		for _, name := range figures {
			if m, ok := rec.MetricNamed(name); !ok || !(m.Value > 0) {
				t.Errorf("%s: %s is %v", change, name, m.Value)
			}
		}
		if len(rec.Findings) == 0 || rec.Findings[len(rec.Findings)-1].Name != remark {
			t.Errorf("%s: no remark on %s", change, remark)
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
		{circuits.Gates(), map[string]string{"gates": "67108864"}, zkbench.ErrLimit, "what fits: "},
		{circuits.Gates(), map[string]string{"gates": "16777216", "system": "ultra"}, zkbench.ErrLimit, " gates"},
		{circuits.Pedersen(), map[string]string{"hashes": "131072"}, zkbench.ErrLimit, " hashes"},
		{circuits.Pedersen(), map[string]string{"hashes": "131072", "system": "turbo", "form": workload.Own}, zkbench.ErrLimit, " hashes"},
		{circuits.Keccak(), map[string]string{"bytes": "1360000", "system": "ultra"}, zkbench.ErrLimit, " blocks, messages of "},
		{circuits.Keccak(), map[string]string{"bytes": "1360000", "system": "ultra", "form": "wide"}, zkbench.ErrLimit, "permutations of a circuit"},
		{circuits.Keccak(), map[string]string{"bytes": "3400", "system": "ultra", "form": "wide-14-25"}, zkbench.ErrLimit, "blocks of a message"},
		{circuits.Keccak(), map[string]string{"bytes": "1", "blocks": "2", "system": "ultra"}, zkbench.ErrParams, "--form variable or wide"},
		{circuits.Keccak(), map[string]string{"bytes": "13600"}, zkbench.ErrLimit, " blocks, messages of "},
		{circuits.Keccak(), map[string]string{"bytes": "1360000"}, zkbench.ErrLimit, "bytes of memory"},
		{circuits.Keccak(), map[string]string{"bytes": "136", "blocks": "1", "form": "variable"}, zkbench.ErrLimit, "blocks of a message"},
		{circuits.Keccak(), map[string]string{"bytes": "1", "blocks": "1"}, zkbench.ErrParams, "--form variable"},
	} {
		_, err := test.def.New(t.Context(), smallCase(t, test.def, test.change), 1)
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
		return measure.Case(t.Context(), def, smallCase(t, def, map[string]string{"stage": "verify"}), s)
	}
	noted := func(r *record.Record) bool {
		return slices.ContainsFunc(r.Findings, func(f record.Finding) bool {
			return f.Name == "reference string" && strings.Contains(f.Text, "cannot be used and is replaced")
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
		c := smallCase(t, def, map[string]string{"relation": test.relation, "form": test.form, "system": "groth16"})
		rec := measure.Stages(t.Context(), def, c, measure.Settings{Config: runner.Config{Seed: 1}})
		if n, ok := rec.Metric(record.Constraints); rec.Status != record.OK || !ok || int(n.Value) != test.want {
			t.Errorf("%s: %s %s, %.0f constraints, want %d", test.form, rec.Status, rec.Error, n.Value, test.want)
		}
		if !slices.ContainsFunc(rec.Findings, func(f record.Finding) bool { return f.Name == test.finding }) {
			t.Errorf("%s: findings %v", test.form, rec.Findings)
		}
	}
}
