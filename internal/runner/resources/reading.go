package resources

import (
	"math"
	"runtime/metrics"
	"time"
)

// Indices into the metrics of a reading. Those of a Sample come first.
const (
	allocObjects = iota
	allocTiny
	allocBytes
	cycles
	cpuGC
	cpuTotal
	heapLive
	sampled // number of the metrics above

	cpuAssist = iota - 1
	goroutines
	schedLatencies
	mutexWait
	all // number of all metrics
)

// reading holds the runtime's metrics at one point in time. The first call of read
// allocates the histogram; later calls do not allocate.
type reading struct{ metrics [all]metrics.Sample }

func newReading() *reading {
	r := new(reading)
	for i, name := range [all]string{
		allocObjects:   "/gc/heap/allocs:objects",
		allocTiny:      "/gc/heap/tiny/allocs:objects",
		allocBytes:     "/gc/heap/allocs:bytes",
		cycles:         "/gc/cycles/total:gc-cycles",
		cpuGC:          "/cpu/classes/gc/total:cpu-seconds",
		cpuTotal:       "/cpu/classes/total:cpu-seconds",
		heapLive:       "/gc/heap/live:bytes",
		cpuAssist:      "/cpu/classes/gc/mark/assist:cpu-seconds",
		goroutines:     "/sched/goroutines-created:goroutines",
		schedLatencies: "/sched/latencies:seconds",
		mutexWait:      "/sync/mutex/wait/total:seconds",
	} {
		r.metrics[i].Name = name
	}
	return r
}

func (r *reading) read()        { metrics.Read(r.metrics[:]) }
func (r *reading) readSampled() { metrics.Read(r.metrics[:sampled]) }

// uint, float and histogram return 0 or nil for a metric that a later runtime no
// longer has.
func (r *reading) uint(i int) uint64 {
	if r.metrics[i].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return r.metrics[i].Value.Uint64()
}

func (r *reading) float(i int) float64 {
	if r.metrics[i].Value.Kind() != metrics.KindFloat64 {
		return 0
	}
	return r.metrics[i].Value.Float64()
}

func (r *reading) histogram(i int) *metrics.Float64Histogram {
	if r.metrics[i].Value.Kind() != metrics.KindFloat64Histogram {
		return nil
	}
	return r.metrics[i].Value.Float64Histogram()
}

func (r *reading) allocs() uint64 { return r.uint(allocObjects) + r.uint(allocTiny) }

// latencies returns the number of latencies that were added between two readings.
func latencies(before, after *metrics.Float64Histogram) (n uint64) {
	if before == nil || after == nil || len(before.Counts) != len(after.Counts) {
		return 0
	}
	for i := range after.Counts {
		n += after.Counts[i] - before.Counts[i]
	}
	return n
}

// latencyQuantile returns the q-quantile (0 < q <= 1) of the values, in seconds, that
// were added to a histogram between two readings, or 0 if none were. It is the upper
// bound of the quantile's bucket, in the runtime's histograms at most a quarter more
// than the value. For the last bucket, which has no upper bound, it is the lower one.
func latencyQuantile(q float64, before, after *metrics.Float64Histogram) time.Duration {
	rank, seen := uint64(math.Ceil(q*float64(latencies(before, after)))), uint64(0)
	if rank == 0 {
		return 0
	}
	for i, n := range after.Counts {
		if seen += n - before.Counts[i]; seen >= rank {
			bound := after.Buckets[i+1]
			if math.IsInf(bound, 1) {
				bound = after.Buckets[i]
			}
			return seconds(bound)
		}
	}
	return 0
}

func seconds(s float64) time.Duration { return time.Duration(math.Round(s * float64(time.Second))) }
