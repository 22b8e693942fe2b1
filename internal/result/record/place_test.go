package record_test

import (
	"strings"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestWholePath: what is wrong with a record is named from its top down.
func TestWholePath(t *testing.T) {
	for text, want := range map[string]string{
		`"metrics":[{"name":"a","unit":"ns","value":1,"kind":"timed"},{"name":"b","value":"2"}]`: "metrics[1].value: ",
		`"metrics":{}`:          "metrics: ",
		`"metrics":[7]`:         "metrics[0]: ",
		`"env":{"cores":"two"}`: "env.cores: ",
		`"workload":5`:          "workload: ",
		`"series":[{"name":"s","values":[1,"x"]}]`:       "series[0].values: ",
		`"findings":[{"name":"a"},{"name":1}]`:           "findings[1].name: ",
		`"process":{"session":"s","index":"first"}`:      "process.index: ",
		`"histograms":[{"name":"latency","parts":"no"}]`: "histograms[0].parts: ",
	} {
		_, err := record.ReadAll(strings.NewReader(`{"schema":1,"status":"ok",` + text + "}\n"))
		must.Fail(t, err, zkbench.ErrMalformed, "%s", text)
		golden.Contains(t, err.Error(), "line 1 ", "not a record: "+want)
	}
}
