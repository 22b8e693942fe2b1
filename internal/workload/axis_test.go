package workload_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/workload"
)

// TestBatchWaits: a list of times as users type it, each once and in one spelling.
func TestBatchWaits(t *testing.T) {
	axis := workload.BatchWaitAxis()
	golden.Equal(t, "times", []string{"0s", "1ms", "500µs", "1m0s"}, must.Get(axis.Parse("0, 1ms,500us, 0.001s,1m"))(t))
	for _, list := range []string{"", "1", "-1ms", "61s", "1ms,", "soon"} {
		_, err := axis.Parse(list)
		v, ok := errors.AsType[*argument.ValueError](err)
		if !ok || v.Field != "batch-wait" || !strings.Contains(v.Accepted, "0s to 1m0s") {
			t.Errorf("%q: %v", list, err)
		}
	}
}

// TestAxisValueOf: a case without a coordinate has the axis' default there.
func TestAxisValueOf(t *testing.T) {
	axis := workload.BatchMaxAxis(64)
	for want, c := range map[string]workload.Case{
		"0": {}, "7": workload.NewCase(record.Axis{Key: "batch-max", Value: "7"}),
	} {
		golden.Equal(t, fmt.Sprint(c), want, axis.ValueOf(c))
	}
	golden.Equal(t, "an axis without a default", "", workload.CurveAxis(nil, nil).ValueOf(workload.Case{}))
}
