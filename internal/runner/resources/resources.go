// Package resources measures what the process uses between two points in time, the
// edges of a measuring window: allocations, garbage collection, goroutines, waiting
// and memory. It also takes the profiles of a case and labels their phases.
//
// All figures are for the whole process. Figures that the platform or the runtime
// does not report are 0 or absent.
package resources

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"time"
)

// Usage holds the totals of the whole process in a window.
type Usage struct {
	Allocs        uint64        // heap objects allocated, those of the tiny allocator included, as testing.B counts
	Bytes         uint64        // bytes allocated on the heap
	GCCycles      uint64        // collections completed
	GCPauses      time.Duration // stop-the-world time of these collections
	GCCPUShare    float64       // processor time of the collector / processor time available (GOMAXPROCS x wall time), 0..1
	GCAssistShare float64       // the part of GCCPUShare in which allocating goroutines did marking
	Goroutines    uint64        // goroutines created
	SchedP50      time.Duration // median time that a runnable goroutine waited for a processor
	SchedP99      time.Duration // 99th percentile of the same
	Scheduled     uint64        // number of these waits
	MutexWait     time.Duration // time that goroutines were blocked on locks, including the runtime's, summed over goroutines
	HeapLive      uint64        // bytes that the closing collection found reachable
	Memory        *Memory       // nil if the platform does not report it
	Machine       *Machine      // between Start and Stop; nil if the platform does not report it
}

// Memory is the process's physical memory, in bytes.
//
// File counts pages that are backed by a file or by shared memory: the program's text,
// mapped files, tmpfs, System V segments. Anon counts the other pages: heap, stacks,
// the runtime's own structures. RSS is their sum. Swapped-out pages and huge pages of
// hugetlbfs are not counted.
type Memory struct {
	RSS, Anon, File    uint64 // when the window closed, before its closing collection
	Peak               uint64 // maximum RSS within the window
	PeakSampled        bool   // Peak is only the maximum of samples, because the kernel's peak could not be read
	PeakAnon, PeakFile uint64 // maximum of the samples within the window
}

// Sample holds the totals of an open window since Start, and the memory that the
// process holds now.
//
// The runtime counts an allocation of a small object only when the processor's span
// for its size is used up. Allocs and Bytes therefore lag by at most one span per size
// and processor. GCCPU and CPU advance only when a collection ends.
type Sample struct {
	Allocs          uint64
	Bytes           uint64
	GCCycles        uint64
	GCCPU           float64 // processor seconds of the collector
	CPU             float64 // processor seconds available
	HeapLive        uint64  // bytes that the latest collection found reachable
	RSS, Anon, File uint64  // bytes now, as in Memory; 0 if the platform does not report them
}

// Meter measures a window that is open. Before the window opens, Start allocates
// everything that the Meter needs for its readings.
type Meter struct {
	gc                             debug.GCStats
	pauses                         time.Duration
	mem                            runtime.MemStats // read only for its effect (see Start)
	start, now, end, closed, again *reading
	peak                           *Peak
	peakAnon, peakFile             uint64
	opened                         counts
}

// Start collects garbage and opens a window.
//
// The runtime updates its processor-time classes only when a collection ends. Start and
// Stop therefore force a collection at both edges of the window, outside the time that
// the caller measures. The runtime counts small allocations only when processors flush
// their span caches, so Start and Stop call runtime.ReadMemStats, which flushes all of
// them. A collection would flush them too, but it allocates.
//
// Operations of the warm-up may still be running when Start is called. The collection
// then runs beside these operations, and the totals of the window begin when the
// collection ends.
func Start() *Meter {
	m := &Meter{start: newReading(), now: newReading(), end: newReading(), closed: newReading(), again: newReading()}
	// The first reading into each of them allocates.
	debug.ReadGCStats(&m.gc)
	for _, r := range []*reading{m.start, m.now, m.end, m.closed, m.again} {
		r.read()
	}

	runtime.GC()
	m.peak = OpenPeak()
	m.sampleMemory()
	debug.ReadGCStats(&m.gc)
	m.pauses = m.gc.PauseTotal
	m.opened = counted()
	runtime.ReadMemStats(&m.mem)
	m.start.read()
	m.opened.own = ownCounts()
	return m
}

// Sample returns the totals of the window so far. It takes a sample of the memory too,
// for the peaks in Memory. A call takes microseconds and does not allocate. Only one
// goroutine at a time may call it, and not after Stop.
func (m *Meter) Sample() Sample {
	m.now.readSampled()
	now := m.sampleMemory()
	return Sample{
		Allocs:   m.now.allocs() - m.start.allocs(),
		Bytes:    m.now.uint(allocBytes) - m.start.uint(allocBytes),
		GCCycles: m.now.uint(cycles) - m.start.uint(cycles),
		GCCPU:    m.now.float(cpuGC) - m.start.float(cpuGC),
		CPU:      m.now.float(cpuTotal) - m.start.float(cpuTotal),
		HeapLive: m.now.uint(heapLive),
		RSS:      now.rss(), Anon: now.anon, File: now.file,
	}
}

func (m *Meter) sampleMemory() resident {
	now := process.sample()
	m.peakAnon, m.peakFile = max(m.peakAnon, now.anon), max(m.peakFile, now.file)
	return now
}

// Stop closes the window and returns its usage. It must be called once, right after the
// operations have ended, because everything that the caller allocates before the call is
// counted.
//
// The collection that closes the window is not caused by the operations, but its
// processor time counts in the window's classes. Stop measures a second collection of
// the same heap right after and subtracts its cost. GCCPUShare includes the idle
// workers of the collector, which use processors that are otherwise idle.
func (m *Meter) Stop() Usage {
	closed := ownCounts()
	runtime.ReadMemStats(&m.mem)
	debug.ReadGCStats(&m.gc)
	m.end.read()
	machine := counted()
	machine.own = closed
	last := m.sampleMemory()
	peak, exact := m.peak.Close()
	runtime.GC()
	m.closed.read()
	runtime.GC()
	m.again.read()

	u := Usage{
		Allocs:     m.end.allocs() - m.start.allocs(),
		Bytes:      m.end.uint(allocBytes) - m.start.uint(allocBytes),
		GCCycles:   m.end.uint(cycles) - m.start.uint(cycles),
		GCPauses:   m.gc.PauseTotal - m.pauses,
		Goroutines: m.end.uint(goroutines) - m.start.uint(goroutines),
		MutexWait:  seconds(m.end.float(mutexWait) - m.start.float(mutexWait)),
		HeapLive:   m.closed.uint(heapLive),
		Machine:    machine.since(m.opened),
	}
	before, after := m.start.histogram(schedLatencies), m.end.histogram(schedLatencies)
	u.Scheduled = latencies(before, after)
	u.SchedP50, u.SchedP99 = latencyQuantile(0.50, before, after), latencyQuantile(0.99, before, after)
	window := func(class int) float64 {
		closing := m.again.float(class) - m.closed.float(class)
		return m.closed.float(class) - m.start.float(class) - closing
	}
	if total := window(cpuTotal); total > 0 {
		u.GCCPUShare = min(max(window(cpuGC)/total, 0), 1)
		u.GCAssistShare = min(max(window(cpuAssist)/total, 0), u.GCCPUShare)
	}
	if last != (resident{}) {
		u.Memory = &Memory{
			RSS: last.rss(), Anon: last.anon, File: last.file,
			Peak: peak, PeakSampled: !exact, PeakAnon: m.peakAnon, PeakFile: m.peakFile,
		}
	}
	return u
}

// Phase begins a phase of a case, for example set-up or window. It gives the calling
// goroutine the labels of ctx and the label phase=name, and returns ctx with these
// labels. Goroutines that the calling goroutine starts inherit them, and the samples of a
// CPU profile carry them.
func Phase(ctx context.Context, name string) context.Context {
	ctx = Labelled(ctx, name)
	pprof.SetGoroutineLabels(ctx)
	return ctx
}

// Labelled returns ctx with a label that has the key "phase" and the given phase as its
// value. A goroutine gets the label when it calls pprof.SetGoroutineLabels with the
// context.
func Labelled(ctx context.Context, phase string) context.Context {
	return pprof.WithLabels(ctx, pprof.Labels("phase", phase))
}
