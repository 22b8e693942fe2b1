package resources_test

import (
	"math"
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"sync"
	"testing"

	"github.com/zkbench/zkbench/internal/runner/resources"
	"github.com/zkbench/zkbench/internal/testing/golden"
)

// The sinks keep the compiler from leaving an allocation out.
type sinks struct {
	small *[4]byte
	large []byte
}

// exactly runs up to a few windows until one counts exactly want. None may count less.
// The runtime allocates and starts goroutines of its own at any time, so one window
// with that count is enough.
func exactly(t *testing.T, what string, want uint64, window func() uint64) {
	t.Helper()
	var counts []uint64
	for range 20 {
		n := window()
		if n == want {
			return
		}
		if n < want {
			t.Fatalf("%d %s, want %d", n, what, want)
		}
		counts = append(counts, n)
	}
	t.Errorf("%s: %v in repeated windows, want %d in one of them", what, counts, want)
}

func TestMeterCountsAllocations(t *testing.T) {
	for _, test := range []struct {
		name   string
		n      int
		size   uint64
		allocs func(s *sinks)
	}{
		{"size=4", 10_000, 4, func(s *sinks) { s.small = new([4]byte) }},
		{"size=4096", 10_000, 4096, func(s *sinks) { s.large = make([]byte, 4096) }},
		{"size=none", 10_000, 0, func(*sinks) {}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s, want := new(sinks), uint64(test.n)
			if test.size == 0 {
				want = 0
			}
			exactly(t, "allocations", want, func() uint64 {
				m := resources.Start()
				for range test.n {
					test.allocs(s)
				}
				u := m.Stop()
				// Small objects share blocks of 16 bytes, unless the race detector is on.
				least, most := want*test.size, want*max(test.size, 16)
				golden.Within(t, "bytes", least, u.Bytes, most+most/100+64<<10)
				return u.Allocs
			})
			runtime.KeepAlive(s)
		})
	}
}

func TestMeterCountsGoroutines(t *testing.T) {
	for _, n := range []int{0, 1, 500} {
		exactly(t, "goroutines", uint64(n), func() uint64 {
			m := resources.Start()
			var wg sync.WaitGroup
			for range n {
				wg.Go(func() {})
			}
			wg.Wait()
			return m.Stop().Goroutines
		})
	}
}

// TestMeterGC compares a window that only collects with one that never does, on
// one processor: what marking leaves of it, the caller has for sweeping only.
func TestMeterGC(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	live := make([]*[64]byte, 200_000) // gives a collection something to mark
	for i := range live {
		live[i] = new([64]byte)
	}
	const collections = 20
	m := resources.Start()
	for range collections {
		runtime.GC()
	}
	busy := m.Stop()
	runtime.KeepAlive(live)
	golden.Equal(t, "cycles", collections, busy.GCCycles)
	if busy.GCPauses <= 0 {
		t.Errorf("pauses of %v", busy.GCPauses)
	}
	golden.Within(t, "share of a window that only collects", 0.5, busy.GCCPUShare, 1)
	if busy.GCAssistShare > busy.GCCPUShare/4 {
		t.Errorf("assist share %.3f of a window that allocates nothing", busy.GCAssistShare)
	}
	if busy.HeapLive < 64*uint64(len(live)) {
		t.Errorf("%d bytes live, want at least %d", busy.HeapLive, 64*len(live))
	}

	m = resources.Start()
	x := uint64(1)
	for range 100_000_000 {
		x = x*6364136223846793005 + 1
	}
	idle := m.Stop()
	runtime.KeepAlive(x)
	if idle.GCCycles != 0 || idle.GCPauses != 0 {
		t.Errorf("%d cycles and %v of pauses in a window that allocates nothing", idle.GCCycles, idle.GCPauses)
	}
	if idle.GCCPUShare > busy.GCCPUShare/4 {
		t.Errorf("share %.3f of a window that allocates nothing", idle.GCCPUShare)
	}
}

// Goroutines that allocate while the collector marks a large heap must help it.
func TestMeterSeesAssists(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(5))
	live := make([]*[64]byte, 300_000)
	for i := range live {
		live[i] = new([64]byte)
	}
	var u resources.Usage
	for range 20 {
		m := resources.Start()
		var wg sync.WaitGroup
		for range 4 * runtime.GOMAXPROCS(0) {
			wg.Go(func() {
				s := new(sinks)
				for range 2000 {
					s.large = make([]byte, 4096)
				}
				runtime.KeepAlive(s)
			})
		}
		wg.Wait()
		if u = m.Stop(); u.GCAssistShare > 0 {
			break
		}
	}
	runtime.KeepAlive(live)
	if u.GCAssistShare <= 0 || u.GCAssistShare > u.GCCPUShare {
		t.Errorf("assist share %v of %v", u.GCAssistShare, u.GCCPUShare)
	}
}

// The runtime times one in eight of the goroutines that wait; a thousand of them
// leave no doubt that it timed some.
func TestMeterSeesWaiting(t *testing.T) {
	const n = 1000
	waiting := []metrics.Sample{{Name: "/sched/goroutines/waiting:goroutines"}}
	m := resources.Start()
	var mu sync.Mutex
	var wg sync.WaitGroup
	mu.Lock()
	for range n {
		wg.Go(func() {
			mu.Lock()
			defer mu.Unlock()
		})
	}
	for metrics.Read(waiting); waiting[0].Value.Uint64() < n; metrics.Read(waiting) {
		runtime.Gosched()
	}
	mu.Unlock()
	wg.Wait()
	u := m.Stop()
	if u.MutexWait <= 0 {
		t.Errorf("%v of waiting for a lock that %d goroutines wanted", u.MutexWait, n)
	}
	if u.SchedP50 <= 0 || u.SchedP99 < u.SchedP50 {
		t.Errorf("scheduling latency: median %v, 99th percentile %v", u.SchedP50, u.SchedP99)
	}
}

func TestSampleCountsSinceStart(t *testing.T) {
	const n, size = 1000, 64 << 10 // of a size that is counted at once
	s := new(sinks)
	m := resources.Start()
	first := m.Sample()
	for range n {
		s.large = make([]byte, size)
	}
	runtime.GC()
	second := m.Sample()
	u := m.Stop()
	runtime.KeepAlive(s)
	if first.Allocs > n/10 || first.Bytes > n*size/10 || first.GCCycles != 0 || first.GCCPU != 0 || first.CPU != 0 {
		t.Errorf("right after the start: %+v", first)
	}
	golden.Within(t, "allocations, up to the window's", n, second.Allocs-first.Allocs, u.Allocs)
	golden.Within(t, "bytes, up to the window's", n*size, second.Bytes-first.Bytes, u.Bytes)
	golden.Within(t, "cycles, up to the window's", 1, second.GCCycles, u.GCCycles)
	if second.GCCPU <= 0 || second.CPU < second.GCCPU || math.IsInf(second.CPU, 0) {
		t.Errorf("collector %v s of %v s", second.GCCPU, second.CPU)
	}
	if second.HeapLive < size {
		t.Errorf("%d bytes live, want at least %d", second.HeapLive, size)
	}
}

func TestSampleAllocatesNothing(t *testing.T) {
	m := resources.Start()
	var s resources.Sample
	golden.Equal(t, "allocations per sample", 0, testing.AllocsPerRun(100, func() { s = m.Sample() }))
	if u := m.Stop(); (u.Memory == nil) != (s.RSS == 0) {
		t.Errorf("memory %+v beside a sample of %+v", u.Memory, s)
	}
}

func BenchmarkSample(b *testing.B) {
	m := resources.Start()
	b.ReportAllocs()
	for b.Loop() {
		m.Sample()
	}
	m.Stop()
}

func BenchmarkStartStop(b *testing.B) {
	for b.Loop() {
		m := resources.Start()
		m.Stop()
	}
}
