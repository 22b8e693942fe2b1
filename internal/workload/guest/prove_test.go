package guest_test

import (
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/stage"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/internal/workload/guest"
)

// proofOf returns a case of GuestProve.
func proofOf(t *testing.T, changes ...string) workload.Case {
	t.Helper()
	c := workload.NewCase(
		record.Axis{Key: "guest", Value: "loop"}, record.Axis{Key: "size", Value: "1"}, record.Axis{Key: "hash", Value: "keccak"},
		record.Axis{Key: "exec", Value: "pool"}, record.Axis{Key: record.StageKey, Value: "prove"},
	)
	for i := 0; i < len(changes); i += 2 {
		c = c.With(changes[i], changes[i+1])
	}
	return must.Get(guest.GuestProve().Resolved(c))(t)[0]
}

// TestGuestProve: each program's proof is checked with the output that is computed here, and the proof of another input is
// refused. The stages are those of the prover.
func TestGuestProve(t *testing.T) {
	testsize.Full(t)
	d := guest.GuestProve()
	for _, c := range []workload.Case{proofOf(t), proofOf(t, "guest", "hash", "size", "65", "hash", "poseidon")} {
		i := must.Get(d.New(t.Context(), c, 1))(t)
		in := must.Get(i.Input(t.Context(), 0))(t)
		out := must.Get(i.Run(t.Context(), in))(t)
		must.Do(t, i.Check(t.Context(), in, out))
		must.Fail(t, i.Check(t.Context(), must.Get(i.Input(t.Context(), 1))(t), out), zkbench.ErrProof, "another run's proof")
	}
	v := must.Get(d.New(t.Context(), proofOf(t, record.StageKey, "verify"), 1))(t)
	in := must.Get(v.Input(t.Context(), 0))(t)
	must.Get(v.Run(t.Context(), in))(t)
	must.Do(t, v.Check(t.Context(), in, nil))

	r := stage.New()
	staged := must.Get(d.Stages(t.Context(), proofOf(t, "size", "2000"), 1, r))(t)
	var names []string
	for _, s := range r.Stages() {
		names = append(names, s.Name)
	}
	golden.Equal(t, "stages", []string{
		"prove", "prove/execute", "prove/trace", "prove/commit", "prove/sums", "prove/quotient", "prove/open", "prove/fri", "prove/queries", "verify",
	}, names)
	values := make(map[record.Quantity]float64)
	for _, m := range staged.Metrics {
		values[m.Quantity] = m.Value
	}
	golden.Within(t, "cycles", 5*2000, values[record.GuestCycles], 5*2000+1000)
	if values[record.ProvedBits] < 100 || values[record.CycleCells] <= 0 || values[record.ProofSize] <= 0 {
		t.Errorf("%v bits, %v cells a cycle, %v bytes", values[record.ProvedBits], values[record.CycleCells], values[record.ProofSize])
	}
}

// TestGuestProveSizes: a program has its default size if none is given, and a size whose run is too long is refused.
func TestGuestProveSizes(t *testing.T) {
	golden.Equal(t, "size of hash", "200", proofOf(t, "guest", "hash", "size", workload.Own).Get("size"))
	_, err := guest.GuestProve().Resolved(proofOf(t).With("guest", "hash").With("size", "10001"))
	must.Fail(t, err, zkbench.ErrParams, "a message of 10001 bytes")
	golden.Contains(t, err.Error(), "accepted: of hash: 0 to 10000")
}

// TestGuestProveLargest: the longest runs that are accepted fit into a proof, which is refused if there is not enough memory.
func TestGuestProveLargest(t *testing.T) {
	for _, c := range []workload.Case{proofOf(t, "guest", "hash", "size", "10000"), proofOf(t, "size", "200000")} {
		i, err := guest.GuestProve().New(t.Context(), c, 1)
		if err != nil {
			must.Fail(t, err, zkbench.ErrLimit, "%v", c)
			golden.Contains(t, err.Error(), "bytes of memory for proofs")
			continue
		}
		must.Do(t, i.Close())
	}
}
