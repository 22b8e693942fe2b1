package guest_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/internal/workload/guest"
)

// cases returns the default cases of a guest.
func cases(t testing.TB, name string) []workload.Case {
	t.Helper()
	c := workload.NewCase()
	for _, a := range guest.Guest().Axes {
		c = c.With(a.Key, a.Default[0])
	}
	if name == "bulletproof" { // whose generators take most of its time
		c = c.With("size", "8")
	}
	return must.Get(guest.Guest().Resolved(c.With("guest", name)))(t)
}

// TestGuests: every guest commits to what this program computes, with and without precompiles, and in less
// cycles with them; what it is for is counted apart; another output is refused.
func TestGuests(t *testing.T) {
	testsize.Full(t)
	for _, name := range guest.Names() {
		t.Run(name, func(t *testing.T) {
			var work []float64
			for _, c := range cases(t, name) {
				i := must.Get(guest.Guest().New(t.Context(), c, 1))(t)
				in := must.Get(i.Input(t.Context(), 3))(t)
				out := must.Get(i.Run(t.Context(), in))(t)
				must.Do(t, i.Check(t.Context(), in, out))
				out[len(out)-1] ^= 1
				must.Fail(t, i.Check(t.Context(), in, out), zkbench.ErrProof, "another output")
				metrics := must.Get(i.Metrics(t.Context()))(t)
				value := func(q record.Quantity) float64 {
					at := slices.IndexFunc(metrics, func(m record.Metric) bool { return m.Name() == q.Name() })
					if at < 0 {
						t.Fatalf("%v: no %v", c, q)
					}
					return metrics[at].Value
				}
				sum := 0.0
				for _, class := range []string{"integer", "multiplication", "memory", "float", "branch", "system", "precompile"} {
					sum += value(record.WorkClass(class))
				}
				golden.Equal(t, "work by classes", value(record.WorkCycles), sum)
				if all := value(record.GuestCycles); sum <= 0 || sum >= all {
					t.Errorf("%v: %v of %v cycles are work", c, sum, all)
				}
				golden.Equal(t, "precompiles are called", c.Get("precompile") != "none", value(record.WorkClass("precompile")) > 0)
				golden.Equal(t, "metrics again", fmt.Sprint(metrics), fmt.Sprint(must.Get(i.Metrics(t.Context()))(t)))
				work = append(work, sum)
				t.Logf("%v: %.0f", c, sum)
				must.Do(t, i.Close())
			}
			if len(work) == 2 && work[1] >= work[0] {
				t.Errorf("cycles with and without: %v", work)
			}
		})
	}
}

// TestRefused: what a guest does not have is told with what it has.
func TestRefused(t *testing.T) {
	c := cases(t, "keccak")[0]
	for key, wrong := range map[string]string{"precompile": "bn254", "size": "1048577"} {
		_, err := guest.Guest().Resolved(c.With(key, wrong))
		must.Fail(t, err, zkbench.ErrParams, "%s=%s", key, wrong)
		golden.Contains(t, err.Error(), "of keccak: ")
	}
}
