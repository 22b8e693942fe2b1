// Package memory reports how much memory this process may still allocate, so that callers can refuse work that
// does not fit before they allocate anything.
package memory

import (
	"math"
	"runtime/metrics"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/sys/memory/system"
)

// Fits returns a *zkbench.LimitError if need is larger than Available(), both in bytes. The error's text
// contains the string what, which names the thing that needs the bytes, for example "stored points".
func Fits(what string, need uint64) error { return fits(what, need, Available()) }

// FitsOffHeap is like Fits, but for memory outside the garbage collector's heap. It ignores GOMEMLIMIT, which
// does not count such memory.
func FitsOffHeap(what string, need uint64) error {
	_, available := system.Memory()
	return fits(what, need, leastOf(available, system.Unlimited))
}

func fits(what string, need, available uint64) error {
	if available > 0 && need > available {
		return &zkbench.LimitError{What: "bytes of " + what, Estimate: int64(need), Max: int64(available)}
	}
	return nil
}

// Available returns how many bytes this process may still allocate. It is the minimum of three numbers: the
// system's available memory, the bytes that the limits of control groups leave, and the bytes that GOMEMLIMIT
// leaves. Available returns 0 if none of the three is known, and 1 if nothing is left.
func Available() uint64 {
	_, available := system.Memory()
	return leastOf(available, softLimitLeft())
}

func leastOf(a, b uint64) uint64 {
	least := min(a, b)
	if least == system.Unlimited {
		return 0
	}
	return max(least, 1)
}

// softLimitLeft returns how many bytes GOMEMLIMIT leaves. The runtime counts against it all memory that it has
// mapped, except what it has returned to the system.
func softLimitLeft() uint64 {
	samples := []metrics.Sample{
		{Name: "/gc/gomemlimit:bytes"},
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(samples)
	for _, s := range samples {
		if s.Value.Kind() != metrics.KindUint64 {
			return system.Unlimited
		}
	}
	limit := samples[0].Value.Uint64()
	if limit >= math.MaxInt64 {
		return system.Unlimited
	}
	taken := samples[1].Value.Uint64() - samples[2].Value.Uint64()
	return limit - min(limit, taken)
}
