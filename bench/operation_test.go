package bench_test

import (
	"bytes"
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/bench"
	"github.com/zkbench/zkbench/bench/internal/convert"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/stage"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/workload"
)

// defOf returns a Def of one operation.
func defOf(instance bench.Instance) bench.Def {
	return bench.Def{Name: "One", New: func(context.Context, bench.Case, uint64) (bench.Instance, error) { return instance, nil }}
}

// set sets an operation up.
func set(t *testing.T, instance bench.Instance, seed uint64) workload.Instance {
	t.Helper()
	w := must.Get(convert.Workload(defOf(instance)))(t)
	return must.Get(w.New(t.Context(), workload.Case{}, seed))(t)
}

// drawn returns an operation whose input is what it drew.
func drawn() bench.Operation[[]byte] {
	draw := func(random *rand.ChaCha8) []byte {
		raw := make([]byte, 32)
		_, _ = random.Read(raw)
		return raw
	}
	return bench.Operation[[]byte]{
		Input: func(_ context.Context, random *rand.ChaCha8) ([]byte, error) { return draw(random), nil },
		Run:   func(_ context.Context, in []byte) ([]byte, error) { return in, nil },
		Check: func(_ context.Context, in, output []byte) error {
			if !bytes.Equal(in, output) {
				return errors.New("not what came in")
			}
			return nil
		},
		Secret: func(_ context.Context, witness, random *rand.ChaCha8) ([]byte, error) {
			return append(draw(witness), draw(random)...), nil
		},
	}
}

// TestInputs: inputs depend on seed and sequence number, and on nothing else; so do witnesses, but
// for the one that is always the same.
func TestInputs(t *testing.T) {
	one, two := set(t, drawn(), 1), set(t, drawn(), 2)
	input := func(i workload.Instance, seq uint64) string {
		return string(must.Get(i.Input(t.Context(), seq))(t).([]byte))
	}
	golden.Equal(t, "again", input(one, 5), input(set(t, drawn(), 1), 5))
	secret := func(seq uint64, fixed bool) (witness, rest string) {
		raw := must.Get(one.(workload.Secret).SecretInput(t.Context(), seq, fixed))(t).([]byte)
		return string(raw[:32]), string(raw[32:])
	}
	fixed, rest := secret(5, true)
	again, _ := secret(6, true)
	witness, alike := secret(5, false)
	another, _ := secret(6, false)
	golden.Equal(t, "the witness that is the same", fixed, again)
	golden.Equal(t, "all else of a number", rest, alike)
	different := map[string]bool{input(one, 5): true, input(one, 6): true, input(two, 5): true, fixed: true, witness: true, another: true}
	golden.Equal(t, "different draws", 6, len(different))
}

// TestOperation: each function of an Operation is called for what it is.
func TestOperation(t *testing.T) {
	o := drawn()
	closed := 0
	o.Close = func() error { closed++; return errors.New("closed on purpose") }
	o.Metrics = []bench.Metric{{Name: "proof", Unit: "B/proof", Value: 7}}
	i := set(t, o, 1)
	in := must.Get(i.Input(t.Context(), 0))(t)
	output := must.Get(i.Run(t.Context(), in))(t)
	must.Do(t, i.Check(t.Context(), in, output))
	if i.Check(t.Context(), in, []byte("another")) == nil {
		t.Error("a wrong result is right")
	}
	if m := must.Get(i.Metrics(t.Context()))(t); len(m) != 1 || m[0] != record.ProofSize.Metric(7) {
		t.Errorf("metrics %v", m)
	}
	if err := i.Close(); err == nil || closed != 1 {
		t.Errorf("closed %d times, error %v", closed, err)
	}
	o.Close = nil
	must.Do(t, set(t, o, 1).Close())
}

// TestWrong: a definition that is not valid is an error when it is used.
func TestWrong(t *testing.T) {
	nan := drawn()
	nan.Metrics = []bench.Metric{{Name: "nan", Unit: "x", Value: math.NaN()}}
	forged := drawn()
	forged.Metrics = []bench.Metric{{Name: "throughput", Unit: "ops/s", Value: 1e9}}
	for name, instance := range map[string]bench.Instance{
		"nothing": bench.Operation[int]{}, "nil": nil, "not a number": nan, "measured here": forged,
	} {
		w := must.Get(convert.Workload(defOf(instance)))(t)
		_, err := w.New(t.Context(), workload.Case{}, 1)
		must.Fail(t, err, zkbench.ErrParams, "%s", name)
	}
	for name, axes := range map[string][]bench.Axis{
		"nil": {nil}, "out of bounds": {bench.Ints("n", "", 1, 5, 7)}, "no values": {bench.Ints("n", "", 1, 5)}, "a flag": {bench.Ints("duration", "", 1, 5, 1)},
		"another flag": {bench.Ints("fail_if", "", 1, 5, 1)}, "a coordinate": {bench.Names("rate", "", "a")}, "no name": {bench.Ints("", "", 1, 5, 1)},
		"capitals": {bench.Ints("N", "", 1, 5, 1)}, "twice": {bench.Ints("n", "", 1, 5, 1), bench.Names("n", "", "a")}, "a comma": {bench.Names("n", "", "a,b")},
		"no names": {bench.Names("n", "")}, "a value twice": {bench.Ints("n", "", 1, 5, 3, 3)}, "a name twice": {bench.Names("n", "", "a", "b", "a")},
	} {
		d := defOf(drawn())
		d.Axes = axes
		_, err := convert.Workload(d)
		must.Fail(t, err, zkbench.ErrParams, "%s", name)
	}
	good := defOf(drawn())
	good.Axes = []bench.Axis{bench.Ints("size", "sizes", 1, 5, 1), bench.Names("with_words", "", "a-b", "c.d")}
	must.Get(convert.Workload(good))(t)
	good.Stages = func(_ context.Context, _ bench.Case, _ uint64, r *bench.Recorder) error {
		r.Start("one")(bench.Metric{Name: "x", Unit: "x", Value: math.Inf(1)})
		return nil
	}
	_, err := must.Get(convert.Workload(good))(t).Stages(t.Context(), workload.Case{}, 1, stage.New())
	must.Fail(t, err, zkbench.ErrParams, "a stage's figure")
}
