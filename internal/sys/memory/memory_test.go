package memory

import (
	"errors"
	"runtime/debug"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/sys/memory/system"
	"github.com/zkbench/zkbench/internal/testing/golden"
)

// TestFits: what is larger than the memory there is tells its size; where that is not
// known nothing is refused.
func TestFits(t *testing.T) {
	t.Parallel()
	err := fits("the table", 1000, 999)
	limit, refused := errors.AsType[*zkbench.LimitError](err)
	if !refused || limit.Estimate != 1000 || limit.Max != 999 || limit.What != "bytes of the table" {
		t.Errorf("a byte less than it takes: %v", err)
	}
	for _, available := range []uint64{0, 1000} {
		if err := fits("the table", 1000, available); err != nil {
			t.Errorf("%d bytes: %v", available, err)
		}
	}
}

// TestFitsOffHeap: what no machine has is refused, and a limit of the heap refuses nothing.
func TestFitsOffHeap(t *testing.T) {
	defer debug.SetMemoryLimit(debug.SetMemoryLimit(1))
	if err := Fits("a heap", 1<<10); !errors.Is(err, zkbench.ErrLimit) {
		t.Errorf("1 KiB of a heap of 1 byte: %v", err)
	}
	if err := FitsOffHeap("a file", 1<<10); err != nil {
		t.Errorf("1 KiB off the heap: %v", err)
	}
	if _, available := system.Memory(); available == system.Unlimited {
		return // nothing is known, and so nothing refused
	}
	if err := FitsOffHeap("a file", 1<<60); !errors.Is(err, zkbench.ErrLimit) {
		t.Errorf("2^60 bytes: %v", err)
	}
}

func TestAvailableIsTheLeast(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		name               string
		system, soft, want uint64
	}{
		{"known=none", system.Unlimited, system.Unlimited, 0},
		{"known=system", 5, system.Unlimited, 5},
		{"known=soft", system.Unlimited, 7, 7},
		{"known=both", 9, 7, 7},
		{"known=exhausted", 0, system.Unlimited, 1},
	} {
		golden.Equal(t, test.name, test.want, leastOf(test.system, test.soft))
	}
}

func TestSoftLimitLeft(t *testing.T) {
	before := debug.SetMemoryLimit(1<<63 - 1)
	defer debug.SetMemoryLimit(before)
	golden.Equal(t, "left without a limit", system.Unlimited, softLimitLeft())
	debug.SetMemoryLimit(1 << 40)
	if left := softLimitLeft(); left >= 1<<40 || left < 1<<39 {
		t.Errorf("%d left of 2^40", left)
	}
	debug.SetMemoryLimit(1)
	golden.Equal(t, "left of a limit that is exceeded", 0, softLimitLeft())
}
