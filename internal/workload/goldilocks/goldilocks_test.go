package goldilocks_test

import (
	"fmt"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/workload"
	workloads "github.com/zkbench/zkbench/internal/workload/goldilocks"
)

// small returns a small case of a workload on a kernel.
func small(d workload.Def, k goldilocks.Kernel) workload.Case {
	var c workload.Case
	for _, a := range d.Axes {
		c = c.With(a.Key, a.Smoke)
	}
	return c.With("kernel", k.String())
}

// TestWorkloads: on every kernel an operation passes its check, the same input gives the
// same output, another seed another, and a changed output is refused.
func TestWorkloads(t *testing.T) {
	t.Parallel()
	for _, d := range workloads.Defs() {
		outputs := make(map[string]goldilocks.Kernel)
		for _, k := range goldilocks.Kernels() {
			t.Run(fmt.Sprintf("%s/%v", d.Name, k), func(t *testing.T) {
				run := func(seed uint64) (workload.Instance, any, []byte) {
					instance := must.Get(d.New(t.Context(), small(d, k), seed))(t)
					t.Cleanup(func() { must.Do(t, instance.Close()) })
					input := must.Get(instance.Input(t.Context(), 3))(t)
					output := must.Get(instance.Run(t.Context(), input))(t)
					return instance, input, output
				}
				instance, input, output := run(1)
				must.Do(t, instance.Check(t.Context(), input, output))
				outputs[string(output)] = k
				_, _, other := run(2)
				if string(other) == string(output) {
					t.Error("the output does not depend on the seed")
				}
				output[len(output)/2] ^= 1
				must.Fail(t, instance.Check(t.Context(), input, output), must.ErrAny, "a changed output")
				if sizes := must.Get(instance.Metrics(t.Context()))(t); len(sizes) == 0 || sizes[0].Value <= 0 || sizes[0].Kind != record.Exact {
					t.Errorf("sizes %v", sizes)
				}
			})
		}
		if len(outputs) != 1 {
			t.Errorf("%s: kernels differ: %v", d.Name, outputs)
		}
	}
}

// TestRefused: a kernel that is not there and sizes out of bounds are told with what is.
func TestRefused(t *testing.T) {
	t.Parallel()
	for _, d := range workloads.Defs() {
		c, size := small(d, goldilocks.Portable()), d.Axes[0].Key
		must.FailGet(d.New(t.Context(), c.With("kernel", "mmx"), 1))(t, zkbench.ErrEnv, "%s: a kernel that is not there", d.Name)
		for _, wrong := range []string{"0", "1000000000"} {
			must.FailGet(d.New(t.Context(), c.With(size, wrong), 1))(t, zkbench.ErrParams, "%s: %s=%s", d.Name, size, wrong)
		}
	}
}
