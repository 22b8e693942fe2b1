package selfcheck_test

import (
	"crypto/sha512"
	"fmt"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/internal/workload/selfcheck"
)

func open(t *testing.T, work string) workload.Instance {
	t.Helper()
	c := workload.NewCase(record.Axis{Key: selfcheck.AxisKey, Value: work})
	return must.Get(selfcheck.Def().New(t.Context(), c, 1))(t)
}

// TestWork: an amount of work is that many hashes, found by counting on from
// another amount, and the check refuses the result of any other.
func TestWork(t *testing.T) {
	in := open(t, "1000")
	input := must.Get(in.Input(t.Context(), 7))(t)
	out := must.Get(in.Run(t.Context(), input))(t)
	must.Do(t, in.Check(t.Context(), input, out))
	for _, test := range []struct {
		work string
		more int
	}{{"1030", 30}, {"1060", 60}, {"1001", 1}} {
		t.Run("work="+test.work, func(t *testing.T) {
			want := out
			for range test.more {
				next := sha512.Sum512(want)
				want = next[:]
			}
			planted := open(t, test.work)
			got := must.Get(planted.Run(t.Context(), input))(t)
			golden.Equal(t, fmt.Sprintf("work %s, %d hashes more than 1000", test.work, test.more), want, got)
			if err := in.Check(t.Context(), input, got); err == nil {
				t.Error("the check accepts the result of another amount of work")
			}
		})
	}
}

func TestInputsDiffer(t *testing.T) {
	in := open(t, "1")
	first := must.Get(in.Input(t.Context(), 1))(t)
	second := must.Get(in.Input(t.Context(), 2))(t)
	if first == second {
		t.Error("inputs of two sequence numbers are the same")
	}
}

func TestRefuses(t *testing.T) {
	for _, work := range []string{"0", "-1", "10001", "x", ""} {
		t.Run("work="+work, func(t *testing.T) {
			c := workload.NewCase(record.Axis{Key: selfcheck.AxisKey, Value: work})
			must.FailGet(selfcheck.Def().New(t.Context(), c, 1))(t, zkbench.ErrParams, "New")
			must.FailGet(workload.Cases(selfcheck.Def(), map[string]string{selfcheck.AxisKey: work}))(t, zkbench.ErrParams, "Cases")
		})
	}
	if _, err := open(t, "1").Run(t.Context(), "text"); err == nil {
		t.Error("an input that is no block was run")
	}
}
