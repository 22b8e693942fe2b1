package env

import (
	"math"
	"runtime/metrics"

	"github.com/zkbench/zkbench"
)

// Fits returns a *zkbench.LimitError where something needs more bytes than are available,
// as Available tells it; 0: not known.
func Fits(what string, need, available uint64) error {
	if available > 0 && need > available {
		return &zkbench.LimitError{What: "bytes of " + what, Estimate: int64(need), Max: int64(available)}
	}
	return nil
}

// unlimited stands for a limit that there is not, or that is not known.
const unlimited = math.MaxUint64

// totalMemory returns the machine's memory or the control group's limit where
// that is less, in bytes; 0 where neither is known.
func totalMemory() uint64 {
	total, _ := systemMemory()
	if total == unlimited {
		return 0
	}
	return total
}

// Available returns how many bytes this process may still take: the least of
// what the system has to give, what the control group's limit leaves and what
// GOMEMLIMIT leaves. 0 where none of them is known, 1 where nothing is left.
func Available() uint64 {
	_, available := systemMemory()
	return bounded(available, softLimitLeft())
}

func bounded(system, soft uint64) uint64 {
	least := min(system, soft)
	if least == unlimited {
		return 0
	}
	return max(least, 1)
}

// softLimitLeft returns what GOMEMLIMIT leaves. The runtime counts against it all
// that it has mapped but what it gave back to the system.
func softLimitLeft() uint64 {
	samples := []metrics.Sample{
		{Name: "/gc/gomemlimit:bytes"},
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(samples)
	for _, s := range samples {
		if s.Value.Kind() != metrics.KindUint64 {
			return unlimited
		}
	}
	limit := samples[0].Value.Uint64()
	if limit >= math.MaxInt64 {
		return unlimited
	}
	return less(limit, less(samples[1].Value.Uint64(), samples[2].Value.Uint64()))
}

// less returns a - b, 0 where b is more.
func less(a, b uint64) uint64 { return a - min(a, b) }
