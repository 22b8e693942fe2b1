package goldilocks_test

import (
	"errors"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/internal/must"
)

// allocated is how many bytes f allocates.
func allocated(f func()) uint64 {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	f()
	runtime.ReadMemStats(&after)
	return after.TotalAlloc - before.TotalAlloc
}

// TestDomainMemory: a domain that the memory there is cannot hold is refused with its size
// before it is allocated, and that size is what one with the tables of a kernel takes.
func TestDomainMemory(t *testing.T) {
	const n, larger = 1 << 16, 1 << 30
	before := debug.SetMemoryLimit(1 << 28)
	var err error
	taken := allocated(func() { _, err = goldilocks.NewDomain(larger) })
	debug.SetMemoryLimit(before)
	limit, refused := errors.AsType[*zkbench.LimitError](err)
	if !refused {
		t.Fatalf("a domain of 2^30 elements in 2^28 bytes: %v", err)
	}
	if taken > 1<<20 {
		t.Errorf("%d bytes were allocated before the domain was refused", taken)
	}
	values := make([]goldilocks.Element, n)
	taken = allocated(func() { must.Do(t, domain(t, n).NTT(values, goldilocks.Natural, 1)) })
	// Beside the tables are a page or two, and the reading of how much memory there is.
	estimate, wide := uint64(limit.Estimate/(larger/n)), goldilocks.Kernel{}.String() != "portable"
	if taken > estimate+1<<16 || wide && taken < estimate {
		t.Errorf("a domain of %d elements takes %d bytes, %d estimated", n, taken, estimate)
	}
}
