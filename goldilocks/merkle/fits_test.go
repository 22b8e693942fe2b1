package merkle

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/executor"
	"github.com/zkbench/zkbench/goldilocks"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

// TestFits: a tree larger than the memory there is tells its size.
func TestFits(t *testing.T) {
	const available = 1 << 24
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(available))
	shape := Shape{Rows: 1 << 20, Width: 1}
	_, err := Build(t.Context(), executor.Serial(), shape, make([]goldilocks.Element, shape.Rows), goldilocks.Portable())
	limit, refused := errors.AsType[*zkbench.LimitError](err)
	if !refused || limit.Estimate != 32*(1<<21-1) || limit.Max >= available {
		t.Errorf("a tree of %d rows: %v", shape.Rows, err)
	}
}

// TestFileFits: so does a tree in a file, of what is in memory at once.
func TestFileFits(t *testing.T) {
	const available = 1 << 20
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(available))
	shape, folder := Shape{Rows: 4, Width: 1 << 17}, t.TempDir()
	_, err := BuildFile(t.Context(), executor.Serial(), shape, bytes.NewReader(nil), filepath.Join(folder, "tree"), goldilocks.Portable())
	limit, refused := errors.AsType[*zkbench.LimitError](err)
	if !refused || limit.Estimate != 1<<22+1<<20+3*4*32 || limit.Max >= available {
		t.Errorf("%v: %v", shape, err)
	}
	golden.Equal(t, "files that are left", 0, len(must.Get(os.ReadDir(folder))(t)))
}

// TestFileMemory: whatever the shape, BuildFile asks for no more than 16 MiB at once.
func TestFileMemory(t *testing.T) {
	for _, shape := range []Shape{
		{1, 1}, {1 << 20, 8}, {MaxRows, 1}, {MaxRows, 8}, {MaxRows, 9}, {1 << 20, 1 << 10}, {512, MaxWidth}, {MaxRows, MaxWidth},
	} {
		most := shape.windowBytes()
		if most > 1<<24 {
			t.Errorf("%v: %d bytes", shape, most)
		}
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		_, err := BuildFile(t.Context(), executor.Serial(), shape, bytes.NewReader(nil), filepath.Join(t.TempDir(), "tree"), goldilocks.Portable())
		runtime.ReadMemStats(&after)
		must.Fail(t, err, zkbench.ErrMalformed, "%v", shape)
		// The rest is what reading the memory there is takes.
		if taken := after.TotalAlloc - before.TotalAlloc; taken > most+1<<17 {
			t.Errorf("%v: %d bytes before a row is read, told %d", shape, taken, most)
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
			must.Get(Build(t.Context(), executor.Serial(), shape, elements, k))(t)
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
