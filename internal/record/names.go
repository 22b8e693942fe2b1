package record

// Names of what the load runner writes beside metrics.
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

	// Refused is the finding of a case that the runner did not accept as it was asked
	// for: a user's error, not the operation's.
	Refused = "refused"
)
