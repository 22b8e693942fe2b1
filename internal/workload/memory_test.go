package workload_test

import (
	"errors"
	"testing"

	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/workload"
)

// TestMemoryBytes: inputs are those that are kept, or one of each worker.
func TestMemoryBytes(t *testing.T) {
	m := workload.Memory{Base: 1000, Input: 100, Operation: 1}
	for _, test := range []struct {
		inputs, workers int
		want            uint64
	}{{8, 1, 1801}, {8, 2, 1802}, {0, 3, 1303}, {1, 3, 1303}} {
		golden.Equal(t, "bytes", test.want, m.Bytes(test.inputs, test.workers))
	}
}

// TestMixMemory: a mix has the set-ups of all its parts, and inputs and operations of one or another; a part's error
// names it.
func TestMixMemory(t *testing.T) {
	l := new(ledger)
	defs := l.defs()
	defs[0].Memory = func(c workload.Case) (workload.Memory, error) {
		bits, err := c.Int("bits")
		return workload.Memory{Base: uint64(bits), Input: 7, Operation: 1}, err
	}
	defs[1].Memory = func(workload.Case) (workload.Memory, error) {
		return workload.Memory{Base: 30, Input: 5, Operation: 2}, nil
	}
	def := must.Get(workload.Mix(defs, "issue=1,transfer=8,other=1"))(t)
	c := must.Get(workload.Cases(def, map[string]string{"bits": "8", "in": "2"}))(t)[0]
	golden.Equal(t, "memory", workload.Memory{Base: 38, Input: 7, Operation: 2}, must.Get(def.Memory(c))(t))
	wrong := errors.New("too large")
	defs[1].Memory = func(workload.Case) (workload.Memory, error) { return workload.Memory{}, wrong }
	def = must.Get(workload.Mix(defs, "issue=1,transfer=8"))(t)
	_, err := def.Memory(c.With(workload.MixKey, "issue:1,transfer:8"))
	must.Fail(t, err, wrong, "a part that does not fit")
	golden.Contains(t, err.Error(), "transfer: ")
}
