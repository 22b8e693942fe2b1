package record_test

import (
	"testing"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/testing/golden"
)

// TestTimeUnit: the units of times that programs report, and units that are none.
func TestTimeUnit(t *testing.T) {
	for unit, want := range map[string]struct {
		ns  float64
		per string
	}{
		"ns": {1, ""}, "ns/op": {1, "/op"}, "us/op": {1e3, "/op"}, "µs": {1e3, ""}, "ms/proof": {1e6, "/proof"}, "s": {1e9, ""}, "s/op": {1e9, "/op"}, "sec/op": {1e9, "/op"},
		"p99-ns": {1, ""}, "user-ns/op": {1, "/op"},
		"ops/s": {0, "/s"}, "B/op": {0, "/op"}, "MB/s": {0, "/s"}, "allocs/op": {0, "/op"}, "constraints": {0, ""}, "": {0, ""}, "items": {0, ""}, "-": {0, ""},
	} {
		ns, per, ok := record.TimeUnit(unit)
		golden.Equal(t, unit, want.ns, ns)
		golden.Equal(t, unit, want.per, per)
		golden.Equal(t, unit, want.ns > 0, ok)
	}
}
