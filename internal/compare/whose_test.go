package compare_test

import (
	"bytes"
	"testing"

	"github.com/zkbench/zkbench/internal/compare"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestWhose: a row says whose its figure is, and processor time of two programs is in no row; that
// of a record which does not say is compared.
func TestWhose(t *testing.T) {
	set := func(whose record.Whose) *compare.Set {
		rec := record.New()
		rec.Workload = "Hash"
		rec.Metrics = []record.Metric{record.LatencyMean.Metric(10), record.CPUTime.Metric(7).WithWhose(whose)}
		return must.Get(compare.FromRecords(string(whose), []*record.Record{rec}))(t)
	}
	text := func(old, recent record.Whose) string {
		tab := must.Get(compare.Compare(compare.Sides{Old: set(old), New: set(recent)}, false))(t)
		var b bytes.Buffer
		must.Do(t, tab.Text(&b, true, 0))
		must.Do(t, tab.JSON(&b))
		must.Do(t, tab.CSV(&b))
		return b.String()
	}
	golden.Contains(t, text("prover/prove", "prover/prove"), "\n  cpu (prover/prove) ", `"whose": "prover/prove"`, ",prover/prove\n")
	golden.Contains(t, text("", record.OfOperations), "\n  cpu (operations) ")
	golden.Contains(t, text(record.OfOperations, "prover/prove"), "only in old: Hash cpu (operations)\n", "only in new: Hash cpu (prover/prove)\n")
}
