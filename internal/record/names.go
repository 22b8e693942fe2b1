package record

// Names of what the load runner writes. A workload adds sizes of its own.
const (
	// Histograms, in ns.
	HistLatency = "latency" // one value per successful operation
	HistInput   = "input"   // one value per input that an operation built for itself

	// Counters, in operations: started = done + failed + unfinished.
	CountStarted    = "started"
	CountDone       = "done"
	CountFailed     = "failed"
	CountUnfinished = "unfinished"
	CountWarmup     = "warmup"       // done before the window
	CountChecked    = "checked"      // results checked after the window, of done
	CountCheckFails = "check-failed" // of checked

	// Metrics.
	Duration       = "duration"        // s: the window, from the first start to the last counted end
	Throughput     = "throughput"      // ops/s: done / duration
	PureThroughput = "pure-throughput" // ops/s: workers / mean latency, what no gap between operations would give
	LatencyMin     = "latency-min"     // ns, as all of latency
	LatencyP50     = "latency-p50"
	LatencyMean    = "latency-mean"
	LatencyP95     = "latency-p95"
	LatencyP99     = "latency-p99"
	LatencyP999    = "latency-p99.9"
	LatencyMax     = "latency-max"
	LatencyStdDev  = "latency-stddev"
	LatencyIQR     = "latency-iqr"    // P75 - P25
	LatencyJitter  = "latency-jitter" // mean |change| between consecutive operations of one worker
	InputMean      = "input-mean"     // ns
	AllocBytes     = "alloc-bytes"    // B/op
	Allocs         = "allocs"         // allocs/op
	AllocRate      = "alloc-rate"     // B/s
	GCCPUShare     = "gc-cpu"         // % of the processor time available
	GCPauses       = "gc-pauses"      // ns, total
	GCCycles       = "gc-cycles"      // collections
	Goroutines     = "goroutines"     // goroutines/op created
	HeapLive       = "heap-live"      // B after the window
)
