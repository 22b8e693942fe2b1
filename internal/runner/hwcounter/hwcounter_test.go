package hwcounter_test

import (
	"errors"
	"testing"

	"github.com/zkbench/zkbench/internal/runner/hwcounter"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestMeasure: twice the work takes about twice the instructions.
func TestMeasure(t *testing.T) {
	sum := uint64(0)
	work := func(n int) func() {
		return func() {
			for i := range n {
				sum = sum*6364136223846793005 + uint64(i)
			}
		}
	}
	once, err := hwcounter.Measure(work(1e6))
	if errors.Is(err, hwcounter.ErrUnavailable) {
		t.Skip(err)
	}
	must.Do(t, err)
	twice := must.Get(hwcounter.Measure(work(2e6)))(t)
	golden.Within(t, "instructions of twice the work, by those of once", 1.8, float64(twice.Instructions)/float64(once.Instructions), 2.2)
	if rate := float64(once.Instructions) / float64(once.Cycles); !(rate > 0 && rate <= 16) {
		t.Errorf("%.2f instructions a cycle", rate)
	}
}
