package env

import (
	"errors"
	"testing"

	"github.com/zkbench/zkbench"
)

// TestFits: what is larger than the memory there is tells its size; where that is not
// known nothing is refused.
func TestFits(t *testing.T) {
	err := Fits("the table", 1000, 999)
	limit, refused := errors.AsType[*zkbench.LimitError](err)
	if !refused || limit.Estimate != 1000 || limit.Max != 999 || limit.What != "bytes of the table" {
		t.Errorf("a byte less than it takes: %v", err)
	}
	for _, available := range []uint64{0, 1000} {
		if err := Fits("the table", 1000, available); err != nil {
			t.Errorf("%d bytes: %v", available, err)
		}
	}
}
