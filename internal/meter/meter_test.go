package meter_test

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"testing"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/meter"
)

// The sinks keep the compiler from leaving an allocation out.
type sinks struct {
	small *[4]byte
	large []byte
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
	} {
		t.Run(test.name, func(t *testing.T) {
			s := new(sinks)
			m := meter.Start()
			for range test.n {
				test.allocs(s)
			}
			u := m.Stop()
			runtime.KeepAlive(s)
			// What the runtime itself allocates beside is a matter of tens.
			if n := uint64(test.n); u.Allocs < n || u.Allocs > n+n/100 {
				t.Errorf("%d allocations, want %d and at most 1 %% more", u.Allocs, n)
			}
			// Small objects share blocks of 16 bytes, unless the race detector is on.
			least, most := uint64(test.n)*test.size, uint64(test.n)*max(test.size, 16)
			if u.Bytes < least || u.Bytes > most+most/100 {
				t.Errorf("%d bytes, want %d to %d", u.Bytes, least, most)
			}
		})
	}
}

func TestMeterCountsGoroutines(t *testing.T) {
	const n = 500
	m := meter.Start()
	var wg sync.WaitGroup
	for range n {
		wg.Go(func() {})
	}
	wg.Wait()
	if u := m.Stop(); u.Goroutines < n || u.Goroutines > n+n/20 {
		t.Errorf("%d goroutines, want %d", u.Goroutines, n)
	}
}

// TestMeterGC compares a window that only collects with one that never does.
func TestMeterGC(t *testing.T) {
	live := make([]*[64]byte, 200_000) // gives a collection something to mark
	for i := range live {
		live[i] = new([64]byte)
	}
	const collections = 20
	m := meter.Start()
	for range collections {
		runtime.GC()
	}
	busy := m.Stop()
	runtime.KeepAlive(live)
	if busy.GCCycles != collections {
		t.Errorf("%d cycles, want %d", busy.GCCycles, collections)
	}
	if busy.GCPauses <= 0 {
		t.Errorf("pauses of %v", busy.GCPauses)
	}
	if busy.GCCPUShare < 0.05 || busy.GCCPUShare > 1 {
		t.Errorf("share %.3f of a window that only collects", busy.GCCPUShare)
	}
	if busy.HeapLive < 64*uint64(len(live)) {
		t.Errorf("%d bytes live, want at least %d", busy.HeapLive, 64*len(live))
	}

	m = meter.Start()
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

func TestProfileWritesEachKind(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "a", "b")
	stop, err := meter.Profile(dir, meter.ProfileKinds())
	if err != nil {
		t.Fatal(err)
	}
	if err := stop(); err != nil {
		t.Fatal(err)
	}
	for _, kind := range meter.ProfileKinds() {
		if info, err := os.Stat(filepath.Join(dir, kind+".pprof")); err != nil || info.Size() == 0 {
			t.Errorf("kind=%s: %v", kind, err)
		}
	}
}

func TestProfileRefusesUnknownKind(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	if _, err := meter.Profile(dir, []string{"cpu", "gpu"}); !errors.Is(err, zkbench.ErrParams) {
		t.Errorf("error %v, want ErrParams", err)
	}
	if _, err := os.Stat(dir); err == nil {
		t.Error("the directory was made all the same")
	}
}
