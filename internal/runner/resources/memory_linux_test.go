package resources_test

import (
	"os"
	"runtime"
	"runtime/debug"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/zkbench/zkbench/internal/runner/resources"
	"github.com/zkbench/zkbench/internal/testing/golden"
	"github.com/zkbench/zkbench/internal/testing/must"
)

const (
	large = 96 << 20
	// The rest of the process may grow and shrink beside by this much.
	slack = large / 4
)

// hold makes large bytes resident, calls during, and gives them back. Memory
// that the runtime does not know cannot be reused for something else.
func hold(t *testing.T, during func(), fd, flags int) {
	t.Helper()
	held := must.Get(unix.Mmap(fd, 0, large, unix.PROT_READ|unix.PROT_WRITE, flags))(t)
	for i := 0; i < len(held); i += os.Getpagesize() {
		held[i] = 1
	}
	during()
	must.Do(t, unix.Munmap(held))
}

func holdAnon(t *testing.T, during func()) {
	t.Helper()
	hold(t, during, -1, unix.MAP_PRIVATE|unix.MAP_ANON)
}

func holdFile(t *testing.T, during func()) {
	t.Helper()
	fd, err := unix.MemfdCreate("resources", unix.MFD_CLOEXEC)
	if err != nil {
		t.Skipf("no file in memory: %v", err)
	}
	defer unix.Close(fd)
	must.Do(t, unix.Ftruncate(fd, large))
	hold(t, during, fd, unix.MAP_SHARED)
}

// needReset skips the test if the kernel's mark cannot be reset.
func needReset(t *testing.T) {
	t.Helper()
	f, err := os.OpenFile("/proc/self/clear_refs", os.O_WRONLY, 0)
	if err != nil {
		t.Skipf("the high-water mark cannot be reset: %v", err)
	}
	f.Close()
}

// The peak is what the kernel saw, between samples too; its parts are what was
// sampled.
func TestMemoryOfWindow(t *testing.T) {
	needReset(t)
	debug.FreeOSMemory()
	m := resources.Start()
	base := m.Sample()
	holdAnon(t, func() {}) // nobody samples
	unseen := m.Stop().Memory

	m = resources.Start()
	var anon, file resources.Sample
	holdAnon(t, func() { anon = m.Sample() })
	holdFile(t, func() { file = m.Sample() })
	seen := m.Stop().Memory

	if unseen == nil || seen == nil {
		t.Fatal("no memory told")
	}
	for _, memory := range []*resources.Memory{unseen, seen} {
		if memory.PeakSampled || memory.Peak < base.RSS+large-slack || memory.Peak > base.RSS+large+slack {
			t.Errorf("%+v: want a peak of %d above %d", memory, large, base.RSS)
		}
		if memory.RSS > base.RSS+slack || memory.RSS != memory.Anon+memory.File {
			t.Errorf("%+v: want about %d when the window closes", memory, base.RSS)
		}
	}
	if unseen.PeakAnon > base.Anon+slack || unseen.PeakFile > base.File+slack {
		t.Errorf("%+v: parts that nobody sampled", unseen)
	}
	if seen.PeakAnon < anon.Anon || seen.PeakFile < file.File {
		t.Errorf("%+v: parts below the samples %+v and %+v", seen, anon, file)
	}
	if anon.Anon < base.Anon+large-slack || anon.File > base.File+slack {
		t.Errorf("%+v while anonymous memory was held, %+v before", anon, base)
	}
	if file.File < base.File+large-slack || file.Anon > base.Anon+slack {
		t.Errorf("%+v while shared memory was held, %+v before", file, base)
	}
	golden.Equal(t, "sum of the parts", anon.Anon+anon.File, anon.RSS)
	runtime.KeepAlive(m)
}

// A window within a peak, and one after what the other peak saw.
func TestPeakAroundWindow(t *testing.T) {
	needReset(t)
	debug.FreeOSMemory()
	outer := resources.OpenPeak()
	holdAnon(t, func() {})
	m := resources.Start()
	base := m.Sample()
	inner := m.Stop().Memory
	if rss, exact := outer.Close(); !exact || rss < base.RSS+large-slack {
		t.Errorf("outer peak %d, exact %v; want %d above %d", rss, exact, large, base.RSS)
	}
	if inner == nil || inner.PeakSampled || inner.Peak > base.RSS+slack {
		t.Errorf("%+v: want a peak of about %d", inner, base.RSS)
	}
}
