package format_test

import (
	"testing"

	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
)

// TestNamed: each figure of a list has its name and its unit, once.
func TestNamed(t *testing.T) {
	for want, m := range map[string]record.Metric{
		"cpu: 43.34ms/op":           record.CPUTime.Metric(43336000),
		"group-peak: 5.98 MB":       record.GroupPeak.Metric(5980160),
		"disk-written: 24.6 kB/op":  record.DiskWritten.Metric(24576),
		"proof: 520 B":              record.ProofSize.Metric(520),
		"proving key: 64 B":         record.ProvingKeySize.Metric(64),
		"constraints: 77":           record.Constraints.Metric(77),
		"key: 42 B/thing":           record.Reported("key", "B/thing", 42, record.Exact),
		"share: 12.35 %":            record.Reported("share", "%", 12.3456, record.Timed),
		"rounds: 1234567 rounds/op": record.Reported("rounds", "rounds/op", 1234567, record.Exact),
	} {
		name, value := format.Named(m)
		golden.Equal(t, "figure", want, name+": "+value)
	}
}
