package text_test

import (
	"strings"
	"testing"
	"time"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
	"github.com/zkbench/zkbench/internal/view/text"
)

// TestPredictions: one table for each case, with a column for each number of processors, and the places of the longest
// stage on the most.
func TestPredictions(t *testing.T) {
	var recs []*record.Record
	of := func(bits, cpus string, stages ...record.Stage) {
		rec := sample(t)
		rec.Axes = record.Axes{{Key: "bits", Value: bits}, {Key: record.ExecutorKey, Value: record.Predicted}, {Key: record.CPUsKey, Value: cpus}}
		rec.Stages = stages
		recs = append(recs, rec)
	}
	stage := func(name string, cpus int, ms time.Duration, places ...record.Place) record.Stage {
		return record.Stage{Name: name, Time: ms * time.Millisecond, Predicted: &record.Prediction{
			CPUs: cpus, Work: 160 * time.Millisecond, Span: 20 * time.Millisecond, Longest: 3 * time.Millisecond, Alone: 10 * time.Millisecond, Places: places,
		}}
	}
	of("32", "1", stage("prove", 1, 160), stage("verify", 1, 5))
	of("32", "16", stage("prove", 16, 25, record.Place{Function: "stark.(*prover[...]).open", Lines: "open.go:50-70", Time: 6 * time.Millisecond},
		record.Place{Function: "stark.tiles", Lines: "machine.go:63-", Time: 4 * time.Millisecond}), stage("verify", 16, 4))
	of("64", "1", stage("prove", 1, 320))
	recs[2].Findings = []record.Finding{{Name: record.FindingUnpredicted, Text: "keys: it waited 2s beside 3ms of work"}}
	var b strings.Builder
	must.Do(t, text.Style{}.Predictions(&b, recs))
	golden.File(t, "testdata/predicted.txt", b.String())
}
