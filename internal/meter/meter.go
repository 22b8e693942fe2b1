// Package meter measures what the Go runtime did between two moments, the
// edges of a measuring window: allocations, garbage collection, goroutines.
package meter

import (
	"runtime"
	"runtime/debug"
	"runtime/metrics"
	"time"
)

// Usage is what the whole process did in the window, in totals.
type Usage struct {
	Allocs     uint64        // heap objects allocated, those of the tiny allocator included, as testing.B counts
	Bytes      uint64        // bytes allocated on the heap
	GCCycles   uint64        // collections completed
	GCPauses   time.Duration // stop-the-world time of these collections
	GCCPUShare float64       // processor time of the collector / processor time available (GOMAXPROCS x wall time), 0..1
	Goroutines uint64        // goroutines created
	HeapLive   uint64        // bytes that the closing collection found reachable
}

// Meter is an open window. All that its readings need is allocated before it
// opens.
type Meter struct {
	gc                        debug.GCStats
	pauses                    time.Duration
	start, end, closed, again reading
}

// Start collects garbage and opens a window.
//
// The runtime brings its processor-time classes up to date only when a
// collection ends, and counts small allocations only when a processor's span
// cache is given back, which a collection does too. Both edges of the window
// therefore force a collection, outside the time that the caller measures.
func Start() *Meter {
	m := &Meter{start: newReading(), end: newReading(), closed: newReading(), again: newReading()}
	// The first reading of a process allocates.
	debug.ReadGCStats(&m.gc)
	m.start.read()

	runtime.GC()
	debug.ReadGCStats(&m.gc)
	m.pauses = m.gc.PauseTotal
	m.start.read()
	return m
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
	debug.ReadGCStats(&m.gc)
	m.end.read()
	runtime.GC()
	m.closed.read()
	runtime.GC()
	m.again.read()

	u := Usage{
		Allocs:     m.closed.allocs() - m.start.allocs(),
		Bytes:      m.closed.uint(allocBytes) - m.start.uint(allocBytes),
		GCCycles:   m.end.uint(cycles) - m.start.uint(cycles),
		GCPauses:   m.gc.PauseTotal - m.pauses,
		Goroutines: m.end.uint(goroutines) - m.start.uint(goroutines),
		HeapLive:   m.closed.uint(heapLive),
	}
	window := func(class int) float64 {
		closing := m.again.float(class) - m.closed.float(class)
		return m.closed.float(class) - m.start.float(class) - closing
	}
	if gc, total := window(cpuGC), window(cpuTotal); gc > 0 && total > 0 {
		u.GCCPUShare = min(gc/total, 1)
	}
	return u
}

// Indices into the samples of a reading.
const (
	cpuGC = iota
	cpuTotal
	allocObjects
	allocTiny
	allocBytes
	cycles
	goroutines
	heapLive
	samples
)

type reading struct{ samples [samples]metrics.Sample }

func newReading() reading {
	var r reading
	for i, name := range [samples]string{
		cpuGC:        "/cpu/classes/gc/total:cpu-seconds",
		cpuTotal:     "/cpu/classes/total:cpu-seconds",
		allocObjects: "/gc/heap/allocs:objects",
		allocTiny:    "/gc/heap/tiny/allocs:objects",
		allocBytes:   "/gc/heap/allocs:bytes",
		cycles:       "/gc/cycles/total:gc-cycles",
		goroutines:   "/sched/goroutines-created:goroutines",
		heapLive:     "/gc/heap/live:bytes",
	} {
		r.samples[i].Name = name
	}
	return r
}

func (r *reading) read() { metrics.Read(r.samples[:]) }

// uint and float return 0 for a metric that a later runtime no longer has.
func (r *reading) uint(i int) uint64 {
	if r.samples[i].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return r.samples[i].Value.Uint64()
}

func (r *reading) float(i int) float64 {
	if r.samples[i].Value.Kind() != metrics.KindFloat64 {
		return 0
	}
	return r.samples[i].Value.Float64()
}

func (r *reading) allocs() uint64 { return r.uint(allocObjects) + r.uint(allocTiny) }
