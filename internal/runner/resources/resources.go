// Package resources measures what the process did between two moments, the edges of
// a measuring window: allocations, garbage collection, goroutines, waiting,
// memory. It also takes the profiles of a case and labels their phases.
//
// All figures are of the whole process. What a platform or a later runtime does
// not tell is 0 or absent.
package resources

import (
	"context"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"time"
)

// Usage is what the whole process did in the window, in totals.
type Usage struct {
	Allocs        uint64        // heap objects allocated, those of the tiny allocator included, as testing.B counts
	Bytes         uint64        // bytes allocated on the heap
	GCCycles      uint64        // collections completed
	GCPauses      time.Duration // stop-the-world time of these collections
	GCCPUShare    float64       // processor time of the collector / processor time available (GOMAXPROCS x wall time), 0..1
	GCAssistShare float64       // the part of GCCPUShare that allocating goroutines spent on marking
	Goroutines    uint64        // goroutines created
	SchedP50      time.Duration // median time that a runnable goroutine waited for a processor
	SchedP99      time.Duration // 99th percentile of the same
	Scheduled     uint64        // how often that was
	MutexWait     time.Duration // time that goroutines were blocked on locks, the runtime's own included, summed over them
	HeapLive      uint64        // bytes that the closing collection found reachable
	Memory        *Memory       // nil where the platform does not tell
	Machine       *Machine      // of the time between Start and Stop; nil where the platform does not tell
}

// Memory is what of the process lay in physical memory, in bytes.
//
// File counts pages that a file or shared memory backs: the program's text,
// mapped files, tmpfs, System V segments. Anon counts the others: heap, stacks,
// the runtime's own structures. RSS is their sum; huge pages of hugetlbfs and
// what was swapped out are in none.
type Memory struct {
	RSS, Anon, File    uint64 // when the window closed, before its closing collection
	Peak               uint64 // greatest RSS within the window
	PeakSampled        bool   // Peak is only the greatest RSS that was sampled: the kernel's mark could not be had
	PeakAnon, PeakFile uint64 // greatest that was sampled within the window
}

// Sample is what an open window has used so far, in totals since Start, and
// what the process holds now.
//
// The runtime counts an allocation of a small object when the processor's span
// of its size is used up, so Allocs and Bytes lag by at most a span per size and
// processor. GCCPU and CPU advance when a collection ends: two samples with no
// collection's end in between are equal in both.
type Sample struct {
	Allocs          uint64
	Bytes           uint64
	GCCycles        uint64
	GCCPU           float64 // processor seconds of the collector
	CPU             float64 // processor seconds available
	HeapLive        uint64  // bytes that the latest collection found reachable
	RSS, Anon, File uint64  // bytes now, as in Memory; 0 where the platform does not tell
}

// Meter is an open window. All that its readings need is allocated before it
// opens.
type Meter struct {
	gc                             debug.GCStats
	pauses                         time.Duration
	mem                            runtime.MemStats // read for its effect, not its figures
	start, now, end, closed, again *reading
	peak                           *Peak
	peakAnon, peakFile             uint64
	opened                         counts
}

// Start collects garbage and opens a window.
//
// The runtime brings its processor-time classes up to date only when a
// collection ends. Both edges of the window therefore force one, outside the
// time that the caller measures. It counts small allocations only when a
// processor hands in its span cache, which runtime.ReadMemStats makes them all
// do; a collection would too, but allocates for itself.
//
// Operations may be running: a load that is handed over from its warm-up is not
// drained. The collection then runs beside them and the window's totals begin
// where it ends.
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

// Sample tells what the window has used so far. It takes microseconds and
// allocates nothing, and it is what the sampled peaks are made of. One goroutine
// at a time may call it, before Stop.
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

// Stop closes the window and returns its usage. It must be called once, right
// after the operations have ended: what the caller allocates before is counted.
//
// The collection that closes the window is work that the operations did not
// ask for, but its processor time falls into the window's classes. A second
// collection of the same heap right after tells what one costs, and is
// subtracted. The collector's idle workers, which use processors that nothing
// else wants, are part of the share.
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

// Phase begins a phase of a case, for example set-up or window: it gives the
// calling goroutine the labels of ctx and phase=name, which the goroutines that
// it starts inherit, and returns ctx with them. A CPU profile tells its samples
// apart by them.
func Phase(ctx context.Context, name string) context.Context {
	ctx = Labelled(ctx, name)
	pprof.SetGoroutineLabels(ctx)
	return ctx
}

// Labelled returns ctx with the label of a phase, which a goroutine takes over later.
func Labelled(ctx context.Context, phase string) context.Context {
	return pprof.WithLabels(ctx, pprof.Labels("phase", phase))
}
