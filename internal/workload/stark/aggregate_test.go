package stark_test

import (
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/stage"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/internal/workload/stark"
)

// TestKeccakAggregate: an operation's result is checked, and another's is refused; the stages are those of the
// tree.
func TestKeccakAggregate(t *testing.T) {
	t.Parallel()
	testsize.Full(t)
	d := stark.KeccakAggregate()
	c := workload.NewCase(
		record.Axis{Key: "bytes", Value: "136"}, record.Axis{Key: "proofs", Value: "1"}, record.Axis{Key: "set", Value: "compare100"},
		record.Axis{Key: "exec", Value: "pool"}, record.Axis{Key: record.StageKey, Value: "prove"},
	)
	i := must.Get(d.New(t.Context(), c, 1))(t)
	in := must.Get(i.Input(t.Context(), 0))(t)
	out := must.Get(i.Run(t.Context(), in))(t)
	must.Do(t, i.Check(t.Context(), in, out))
	must.Fail(t, i.Check(t.Context(), must.Get(i.Input(t.Context(), 1))(t), out), zkbench.ErrProof, "another message's proof")

	v := must.Get(d.New(t.Context(), c.With(record.StageKey, "verify"), 1))(t)
	in = must.Get(v.Input(t.Context(), 0))(t)
	must.Get(v.Run(t.Context(), in))(t)
	must.Do(t, v.Check(t.Context(), in, nil))

	r := stage.New()
	staged := must.Get(d.Stages(t.Context(), c, 1, r))(t)
	var names []string
	for _, s := range r.Stages() {
		names = append(names, s.Name)
	}
	golden.Equal(t, "stages", []string{
		"compile", "prove", "prove/children", "prove/layer 1/trace", "prove/layer 1/commit", "prove/layer 1/prove", "verify",
	}, names)
	values := make(map[record.Quantity]float64)
	for _, m := range staged.Metrics {
		values[m.Quantity] = m.Value
	}
	golden.Equal(t, "blocks and bytes", []float64{2, float64(len(out))}, []float64{values[record.Blocks], values[record.ProofSize]})
}
