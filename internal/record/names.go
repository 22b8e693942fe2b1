package record

// Names of what the load runner writes. A workload adds sizes of its own.
//
// Every operation has a ticket with an intended start: the moment at which it
// arrives in an open loop, at which a worker is free in a closed one. Response
// is the time from the intended start to the end, service that from the actual
// start, wait the difference. In a closed loop there is no wait, so response is
// service, and the histograms and metrics of response and wait are absent.
const (
	// Histograms, in ns.
	HistLatency  = "latency"  // service time, one value per successful operation
	HistResponse = "response" // the same operations from their intended start; open loop
	HistWait     = "wait"     // what lies between; open loop
	HistError    = "error"    // service time of failed operations
	HistInput    = "input"    // one value per input that an operation built for itself
	// Of a mix, each class has a histogram besides: latency/<class>.
	HistClassPrefix = HistLatency + "/"

	// Counters, in operations: offered = started + dropped + never-started,
	// started = done + failed + unfinished.
	CountOffered      = "offered"       // tickets whose intended start lay in the window
	CountDropped      = "dropped"       // arrived when the queue was full
	CountNeverStarted = "never-started" // still queued when the window closed
	CountStarted      = "started"
	CountDone         = "done"
	CountFailed       = "failed"
	CountUnfinished   = "unfinished"
	CountLate         = "late"         // of done: ended after the window, within the grace
	CountCarried      = "carried"      // of the warm-up, begun or due before the window, ended well within it: part of throughput, of nothing else
	CountWarmup       = "warmup"       // ended before the window
	CountChecked      = "checked"      // results checked after the window, of done
	CountCheckFails   = "check-failed" // of checked
	CountLeakFixed    = "leak-fixed"   // samples of a leak test with the fixed witness
	CountLeakRandom   = "leak-random"  // and with random ones
	CountArena        = "arena"        // B, reserved for results that wait for their check

	// Metrics.
	Duration       = "duration"        // s: length of the window
	Throughput     = "throughput"      // ops/s: operations that ended well within the window, done and carried / duration
	OfferedRate    = "offered-rate"    // ops/s: offered / duration; open loop
	PureThroughput = "pure-throughput" // ops/s: workers / mean latency, what no gap between operations would give
	LatencyMin     = "latency-min"     // ns, as all of latency, response and wait
	LatencyP50     = "latency-p50"
	LatencyMean    = "latency-mean"
	LatencyP95     = "latency-p95"
	LatencyP99     = "latency-p99"
	LatencyP999    = "latency-p99.9"  // from 1000 operations on
	LatencyP9999   = "latency-p99.99" // from 10000 operations on
	LatencyMax     = "latency-max"
	LatencyStdDev  = "latency-stddev"
	LatencyIQR     = "latency-iqr"     // P75 - P25
	LatencyJitter  = "latency-jitter"  // mean |change| between consecutive operations of one worker
	LatencyMeanErr = "latency-mean-se" // standard error of the mean, autocorrelation counted in
	ResponseP50    = "response-p50"
	ResponseMean   = "response-mean"
	ResponseP95    = "response-p95"
	ResponseP99    = "response-p99"
	ResponseP999   = "response-p99.9"
	ResponseMax    = "response-max"
	WaitMean       = "wait-mean"
	WaitP99        = "wait-p99"
	WaitMax        = "wait-max"
	BacklogOldest  = "backlog-oldest" // ns: how long the first ticket that never started had waited
	InputMean      = "input-mean"     // ns
	AllocBytes     = "alloc-bytes"    // B/op
	Allocs         = "allocs"         // allocs/op
	AllocRate      = "alloc-rate"     // B/s
	GCCPUShare     = "gc-cpu"         // % of the processor time available
	GCAssistShare  = "gc-assist"      // % of the processor time available, spent by the operations' own goroutines on marking
	GCPauses       = "gc-pauses"      // ns, total
	GCCycles       = "gc-cycles"      // collections
	SchedP50       = "sched-p50"      // ns: how long runnable goroutines waited for a processor
	SchedP99       = "sched-p99"      // ns
	MutexWait      = "mutex-wait"     // ns/op: goroutines blocked on locks
	Goroutines     = "goroutines"     // goroutines/op created
	HeapLive       = "heap-live"      // B after the window
	RSS            = "rss"            // B, resident when the window closed
	RSSAnon        = "rss-anon"       // B, of these: heap, stacks, arena
	RSSFile        = "rss-file"       // B, of these: backed by files
	PeakRSS        = "peak-rss"       // B, greatest within the window, as the kernel saw it
	PeakRSSAnon    = "peak-rss-anon"  // B, greatest that was sampled within the window
	PeakRSSFile    = "peak-rss-file"  // B, likewise
	Instructions   = "instructions"   // instructions/op: of one operation on its thread, by the processor's counters
	Cycles         = "cycles"         // cycles/op, likewise

	StagePrefix = "stage " // and the stage's name: s, how long the stage took, of a case that goes through stages

	Capacity = "capacity" // ops/s: the highest rate that holds an objective
	LeakT    = "leak-t"   // t: Welch's statistic of a timing leak test

	// Refused is the finding of a case that the runner did not accept as it was asked
	// for: a user's error, not the operation's.
	Refused = "refused"

	// Series of the window; the others have the name of their metric
	// (throughput, latency-p50, latency-p99, response-p99, gc-cpu, heap-live, rss).
	SeriesErrors  = "errors"  // ops/s that failed
	SeriesBacklog = "backlog" // tickets that waited at the interval's end; open loop
)
