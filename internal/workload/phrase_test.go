package workload_test

import (
	"testing"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/recordtest"
	"github.com/zkbench/zkbench/internal/workload"
)

// TestPhrase: a case in words, for a sentence; counts are spelled, and what no axis describes is named by its key.
func TestPhrase(t *testing.T) {
	number := func(name, key string) workload.Axis {
		return workload.IntAxis(workload.Axis{Name: name, Key: key}, 0, 1<<20, 1)
	}
	def := workload.Def{Name: "Sender", Noun: "a transfer", Axes: []workload.Axis{
		workload.InputsAxis(3), workload.OutputsAxis(3), workload.ProofAxis([]string{"bulletproof", "csp"}), number("leaves", ""), number("hashes", ""),
		workload.BatchAxis(), workload.TokensAxis(), number("bytes", ""),
	}}
	for axes, want := range map[string]string{
		"":                            "a transfer",
		"in=2/out=2":                  "a transfer with two inputs and two outputs",
		"in=1/out=3/proof=csp":        "a transfer with one input, three outputs and the range proof csp",
		"batch=64/tokens=0":           "a transfer with a batch of 64 and no tokens before",
		"leaves=1/hashes=1/bytes=1":   "a transfer with one leaf, one hash and one byte",
		"leaves=1048576/in=12/out=13": "a transfer with 1,048,576 leaves, twelve inputs and 13 outputs",
		"workers=2":                   "a transfer with workers=2",
	} {
		var some record.Axes
		if axes != "" {
			some = recordtest.Axes(axes)
		}
		golden.Equal(t, axes, want, def.Phrase(some))
	}
	golden.Equal(t, "without a noun", "one operation of Thing", workload.Def{Name: "Thing"}.Phrase(nil))
}
