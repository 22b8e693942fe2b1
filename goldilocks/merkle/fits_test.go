package merkle

import (
	"errors"
	"runtime"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
)

// TestFits: a tree larger than the memory there is tells its size; where that is not known
// it is not refused.
func TestFits(t *testing.T) {
	shape := Shape{Rows: 1 << 20, Width: 8}
	const size = 32 * (1<<21 - 1)
	err := shape.fits(size - 1)
	var limit *zkbench.LimitError
	if !errors.As(err, &limit) || limit.Estimate != size || limit.Max != size-1 {
		t.Errorf("a byte less than it takes: %v", err)
	}
	for _, available := range []uint64{0, size} {
		if err := shape.fits(available); err != nil {
			t.Errorf("%d bytes: %v", available, err)
		}
	}
}

// TestMemory: a tree takes the memory of its digests in one allocation. What comes beside
// it, reading how much memory there is above all, is the same for a tree eight times as
// large, but for some bytes a level.
func TestMemory(t *testing.T) {
	beside := func(k goldilocks.Kernel, rows int) (bytes int64, allocations float64) {
		shape := Shape{Rows: rows, Width: 8}
		elements := make([]goldilocks.Element, shape.Rows*shape.Width)
		build := func() {
			if _, err := Build(t.Context(), executor.Serial(), k, shape, elements); err != nil {
				t.Fatal(err)
			}
		}
		build()
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		build()
		runtime.ReadMemStats(&after)
		return int64(after.TotalAlloc-before.TotalAlloc) - int64(shape.Nodes()*digestBytes), testing.AllocsPerRun(3, build)
	}
	for _, k := range goldilocks.Kernels() {
		small, few := beside(k, 1<<12)
		large, more := beside(k, 1<<15)
		// The runtime rounds a large allocation up to a page of 8 KiB.
		if small < 0 || large-small > 1<<14 {
			t.Errorf("%v: %d bytes beside a tree, %d beside a larger one", k, small, large)
		}
		if more-few > 12 { // three levels more
			t.Errorf("%v: %.0f allocations, %.0f of a larger tree", k, few, more)
		}
	}
}
