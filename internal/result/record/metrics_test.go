package record_test

import (
	"encoding/json"
	"testing"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
)

// TestTable: a name stands once in the table, and what is read by it is known again.
func TestTable(t *testing.T) {
	seen := make(map[string]bool)
	for _, q := range append(record.Quantities(), record.StageTime("prove")) {
		if seen[q.Name()] || q.Name() == "" || q.Label() == "" || q.Meaning() == "" {
			t.Errorf("%q: twice, or without label or meaning: %q, %q", q.Name(), q.Label(), q.Meaning())
		}
		seen[q.Name()] = true
		raw, err := json.Marshal(q.Metric(2.5))
		var m record.Metric
		if err != nil || json.Unmarshal(raw, &m) != nil || m != q.Metric(2.5) {
			t.Errorf("%s: read %+v from %s (%v)", q, m, raw, err)
		}
	}
}

// TestForeignMetric: a metric of another version is written as it was read, and better is
// what its unit says: more of a rate, less of all else.
func TestForeignMetric(t *testing.T) {
	for unit, better := range map[string]record.Direction{"B/s": record.Higher, "ops/s": record.Higher, "ns": record.Lower, "B/op": record.Lower} {
		m := record.Reported("of-tomorrow", unit, 1.5, record.Exact)
		raw, err := json.Marshal(m)
		if want := `{"name":"of-tomorrow","unit":"` + unit + `","value":1.5,"kind":"exact"}`; err != nil || string(raw) != want {
			t.Errorf("%s (%v), want %s", raw, err, want)
		}
		if m.Better() != better || m.Group() != record.Others || m.Label() != "of-tomorrow" {
			t.Errorf("%s: %+v", unit, m)
		}
	}
	golden.Equal(t, "which way more bytes allocated a second are", record.Lower, record.AllocRate.Better())
	if m := record.Reported("throughput", "proofs/s", 1, record.Timed); m.Unit() != "proofs/s" || m.Better() != record.Higher {
		t.Errorf("a known metric in another unit: %+v", m)
	}
}
