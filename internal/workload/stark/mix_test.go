package stark_test

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/stage"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/internal/workload/stark"
)

func mixOf(changes ...string) workload.Case {
	c := workload.NewCase(
		record.Axis{Key: "log", Value: "12"}, record.Axis{Key: "hash", Value: "keccak"}, record.Axis{Key: "set", Value: "machine100"},
		record.Axis{Key: "exec", Value: "pool"}, record.Axis{Key: record.StageKey, Value: "prove"},
	)
	for i := 0; i < len(changes); i += 2 {
		c = c.With(changes[i], changes[i+1])
	}
	return c
}

// TestStarkMix: an operation's result is checked, and another's is refused; the stages are those of the prover, and
// the figures those of the tables.
func TestStarkMix(t *testing.T) {
	t.Parallel()
	d := stark.StarkMix()
	i := must.Get(d.New(t.Context(), mixOf(), 1))(t)
	in := must.Get(i.Input(t.Context(), 0))(t)
	out := must.Get(i.Run(t.Context(), in))(t)
	must.Do(t, i.Check(t.Context(), in, out))
	must.Fail(t, i.Check(t.Context(), must.Get(i.Input(t.Context(), 1))(t), out), zkbench.ErrProof, "another run's proof")

	v := must.Get(d.New(t.Context(), mixOf(record.StageKey, "verify", "lean", "yes"), 1))(t)
	in = must.Get(v.Input(t.Context(), 0))(t)
	must.Get(v.Run(t.Context(), in))(t)
	must.Do(t, v.Check(t.Context(), in, nil))

	r := stage.New()
	staged := must.Get(d.Stages(t.Context(), mixOf("stack", "2"), 1, r))(t)
	var names []string
	for _, s := range r.Stages() {
		names = append(names, s.Name)
	}
	golden.Equal(t, "stages", []string{
		"prove", "prove/trace", "prove/commit", "prove/sums", "prove/quotient", "prove/open", "prove/fri", "prove/queries", "verify",
	}, names)
	values := make(map[record.Quantity]float64)
	for _, m := range staged.Metrics {
		values[m.Quantity] = m.Value
	}
	golden.Equal(t, "columns and cells", []float64{520, 64 << 12}, []float64{values[record.Columns], values[record.Cells]})
	if values[record.ProvedBits] < 100 || values[record.ProofSize] == float64(len(out)) {
		t.Errorf("%v bits, %v bytes with stacks of 2 and %d without", values[record.ProvedBits], values[record.ProofSize], len(out))
	}
}

// TestMixDefaults: cases with the set's stacks have one name.
func TestMixDefaults(t *testing.T) {
	t.Parallel()
	d := stark.StarkMix()
	for _, c := range []struct{ changes, want []string }{
		{[]string{"stack", workload.Own, "lean", workload.All}, nil},
		{[]string{"stack", "1", "lean", "no"}, nil},
		{[]string{"stack", "16"}, []string{"stack", "16"}},
		{[]string{"set", "secure100-2", "stack", "16"}, []string{"set", "secure100-2"}},
		{[]string{"set", "secure100-2", "stack", "1"}, []string{"set", "secure100-2", "stack", "1"}},
	} {
		cases := must.Get(d.Resolved(mixOf(c.changes...)))(t)
		golden.Equal(t, "case", []string{mixOf(c.want...).String()}, []string{cases[0].String()})
	}
}

// TestMixBytes: a run's proof has the same bytes on every processor and executor.
func TestMixBytes(t *testing.T) {
	t.Parallel()
	for hash, want := range map[string]string{
		"keccak":   "9b6c82058d330b5d290eb2f5d2b1dcb2518e58e14b6a6cc4f61e97f1031b2ea3",
		"poseidon": "3d7bcada3def42011851bb9d6641f64847e3be7b0da3757251360d9d06333f0b",
	} {
		for _, ex := range []string{"serial", "pool"} {
			i := must.Get(stark.StarkMix().New(t.Context(), mixOf("hash", hash, "exec", ex), 1))(t)
			digest := sha256.Sum256(must.Get(i.Run(t.Context(), must.Get(i.Input(t.Context(), 0))(t)))(t))
			golden.Equal(t, hash, want, hex.EncodeToString(digest[:]))
		}
	}
}
