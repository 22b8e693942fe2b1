package stark_test

import (
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner/stage"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/internal/workload/stark"
)

func caseOf(changes ...string) workload.Case {
	c := workload.NewCase(
		record.Axis{Key: "bytes", Value: "200"}, record.Axis{Key: "field", Value: "koalabear"}, record.Axis{Key: "hash", Value: "keccak"},
		record.Axis{Key: "set", Value: "compare100"}, record.Axis{Key: "stack", Value: "16"}, record.Axis{Key: "exec", Value: "pool"},
		record.Axis{Key: record.StageKey, Value: "prove"},
	)
	for i := 0; i < len(changes); i += 2 {
		c = c.With(changes[i], changes[i+1])
	}
	return c
}

// TestKeccakStark: of both tables, and of each alone, an operation's result is checked, and another's is
// refused; the stages are those of the prover.
func TestKeccakStark(t *testing.T) {
	t.Parallel()
	for table, columns := range map[string]float64{"both": 2473 + 2516, "permutations": 2473, "sponges": 2516} {
		t.Run("table="+table, func(t *testing.T) {
			t.Parallel()
			d := stark.KeccakStark()
			i := must.Get(d.New(t.Context(), caseOf("table", table), 1))(t)
			in := must.Get(i.Input(t.Context(), 0))(t)
			out := must.Get(i.Run(t.Context(), in))(t)
			must.Do(t, i.Check(t.Context(), in, out))
			other := must.Get(i.Input(t.Context(), 1))(t)
			must.Fail(t, i.Check(t.Context(), other, out), zkbench.ErrProof, "another message's proof")

			verify := caseOf("table", table, record.StageKey, "verify")
			v := must.Get(d.New(t.Context(), verify, 1))(t)
			in = must.Get(v.Input(t.Context(), 0))(t)
			must.Get(v.Run(t.Context(), in))(t)
			must.Do(t, v.Check(t.Context(), in, nil))
			// The message whose proof must not verify is another case's.
			longer := must.Get(d.New(t.Context(), verify.With("bytes", "201"), 1))(t)
			in = must.Get(longer.Input(t.Context(), 1<<20))(t)
			must.Fail(t, v.Check(t.Context(), in, nil), zkbench.ErrProof, "a proof that verifies for another message")

			r := stage.New()
			staged := must.Get(d.Stages(t.Context(), caseOf("table", table), 1, r))(t)
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
			golden.Equal(t, "blocks and columns", []float64{2, columns}, []float64{values[record.Blocks], values[record.Columns]})
			if size := int(values[record.ProofSize]); size != len(out) {
				t.Errorf("a proof of %d bytes, another of %d", size, len(out))
			}
		})
	}
}

// TestDefaults: cases of both tables and of the sets' arity have the names that they had before there was
// a choice.
func TestDefaults(t *testing.T) {
	t.Parallel()
	d := stark.KeccakStark()
	for axis, values := range map[string][2]string{"table": {"both", "sponges"}, "arity": {"8", "16"}} {
		for value, want := range map[string]workload.Case{
			values[0]: caseOf(), workload.Own: caseOf(), workload.All: caseOf(), values[1]: caseOf(axis, values[1]),
		} {
			cases := must.Get(d.Resolved(caseOf(axis, value)))(t)
			golden.Equal(t, value, []string{want.String()}, []string{cases[0].String()})
		}
	}
}

// TestArity: it is that of the proof, whose bytes depend on it.
func TestArity(t *testing.T) {
	t.Parallel()
	sizes := make(map[float64]bool)
	for _, arity := range []string{"2", "8", "32"} {
		i := must.Get(stark.KeccakStark().New(t.Context(), caseOf("table", "permutations", "arity", arity), 1))(t)
		for _, m := range must.Get(i.Metrics(t.Context()))(t) {
			if m.Quantity == record.ProofSize {
				sizes[m.Value] = true
			}
		}
	}
	golden.Equal(t, "sizes that differ", 3, len(sizes))
}

// TestRefused: what is no case is told in its axis' words.
func TestRefused(t *testing.T) {
	t.Parallel()
	d := stark.KeccakStark()
	_, err := d.Resolved(caseOf("hash", "poseidon"))
	if e, ok := err.(*argument.ValueError); !ok || e.Field != "hash" {
		t.Errorf("Poseidon over KoalaBear: %v", err)
	}
	must.Get(d.Resolved(caseOf("hash", "poseidon", "field", "goldilocks")))(t)
	_, err = d.New(t.Context(), caseOf("stack", "12"), 1)
	if e, ok := err.(*argument.ValueError); !ok || e.Field != "stack" {
		t.Errorf("stacks of 12: %v", err)
	}
}
