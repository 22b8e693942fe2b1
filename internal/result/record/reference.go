package record

// Term is a name that records contain, with its meaning.
type Term struct{ Name, Meaning string }

// Fields returns the fields of a record in the order in which they are written.
func Fields() []Term {
	return []Term{
		{"schema", "version of this form; readers refuse one that they do not know"},
		{"id", "random name of the record"},
		{"time", "when it was made, UTC"},
		{"workload", "name as in BenchmarkNAME"},
		{"case", "values of all axes, key=value/key=value"},
		{"axes", "the same as an object"},
		{"env", "machine and build: processor, cores, arithmetic path, Go version, commit"},
		{"seed", "from which the inputs were drawn"},
		{"process", "session, side of a comparison or part of a study, index of the process, and when a comparison with a gate is judged"},
		{"settings", "how the case was measured: workers, duration, rate, limits; times in ns"},
		{"status", "ok, failed (an operation, a check or the set-up failed), or partial (stopped before its end)"},
		{"error", "why it is not ok"},
		{"metrics", "figures, each with name, unit, value, kind (exact or timed) and whose; see help metrics"},
		{"histograms", "distributions of times in ns, HdrHistogram V2 in base64: latency, response, wait, error, input"},
		{"series", "figures over the window, a value for each interval"},
		{"stages", "named parts of the whole: time in ns, peak memory and allocated memory in bytes, sizes of what was made"},
		{"counters", "counts of operations in the window, listed below"},
		{"unfinished", "operations that still ran at the end: number, age in ns"},
		{"findings", "what a reader of the figures must know; see help findings"},
		{"output", "figures that a process printed itself, in the Go benchmark format"},
		{"properties", "security level, zero knowledge, set-up and audit of a prover, as its file says"},
		{"percentiles", "definition of the percentiles among the metrics"},
	}
}

// Counters returns the counters of a record: offered = started + dropped + never-started, and started = done + failed +
// unfinished.
func Counters() []Term {
	return []Term{
		{CountOffered, "operations whose intended start was in the window"},
		{CountDropped, "of these, arrived when the queue was full"},
		{CountNeverStarted, "of these, still queued when the window closed"},
		{CountStarted, "of these, started"},
		{CountDone, "of these, ended without an error"},
		{CountFailed, "of these, ended with an error"},
		{CountUnfinished, "of these, still running at the end"},
		{CountLate, "of done, ended after the window and within the grace"},
		{CountCarried, "begun before the window and ended within it; they count for throughput only"},
		{CountChecked, "of done, results that were verified after the window"},
		{CountCheckFails, "of checked, wrong results"},
		{CountWarmup, "operations of probe and warm-up that ended before the window"},
		{CountWarmupFailed, "operations begun before the window that failed"},
		{CountWarmupChecked, "results of operations begun before the window that were verified"},
		{CountWarmupBad, "of these, wrong results"},
		{CountLeakFixed, "samples of a leak test with the fixed witness"},
		{CountLeakRandom, "samples of a leak test with random witnesses"},
		{CountArena, "bytes reserved for results that wait for their check"},
	}
}

// Owners returns the values of type Whose. A value says to which process the memory or the processor time in a figure
// belongs.
func Owners() []Term {
	return []Term{
		{string(OfOperations), "the process that ran the operations, with the load runner and the collector in it"},
		{string(OfProverCommand("prove")), "the processes of a prover's command prove (prepare and verify likewise)"},
		{string(OfProver), "the processes of a resident prover"},
		{string(OfServer), "the process of the server that the operations ask, without that of their callers"},
		{string(OfZkbench), "zkbench's own process, which started a prover and waited for it"},
		{string(OfProver.WithZkbench()), "both together; likewise for a server"},
		{string(OfCommand), "the processes of the command of compare --run"},
	}
}

// Explanation says what a finding means and what to do about it. Do is empty if nothing needs to be done.
type Explanation struct{ Name, Meaning, Do string }

// String returns the meaning, and what to do after a colon.
func (e Explanation) String() string {
	if e.Do == "" {
		return e.Meaning
	}
	return e.Meaning + ": " + e.Do
}

// Explain returns the explanation of the finding with the given name. It returns false if this program has no such
// finding.
func Explain(name string) (Explanation, bool) {
	return find(Explanations(), func(e Explanation) bool { return e.Name == name })
}

// FindingNames returns the findings of this program, each with its meaning and what to do about it. A workload that
// is not part of zkbench can have other findings.
func FindingNames() (terms []Term) {
	for _, e := range Explanations() {
		terms = append(terms, Term{e.Name, e.String()})
	}
	return terms
}

// Explanations returns the explanations of all findings of this program, sorted by name.
func Explanations() []Explanation {
	return []Explanation{
		{"any-result", "the check accepts a changed result, in each of four ways", "make it compare something"},
		{"autocorrelation", "neighbouring parts of the window are alike, so the mean rests on fewer independent ones", "measure longer"},
		{"checked", "only some results were verified", "--check all and a larger --arena verify all"},
		{"composed", "the figure was composed of measured parts, because the whole does not fit the memory", "for the whole, measure on a machine with more memory"},
		{"counted only", "constraints were counted and nothing was proved, because the whole does not fit the memory", "for times, measure on a machine with more memory"},
		{Disturbed, "other processes or machines used the processors", "measure on a quiet machine"},
		{"doubted", "the process ended badly after its figures were taken, while its check was tested", "read the error, and correct the check"},
		{"drift", "times rose or fell during the window", "warm up longer, or look for a leak"},
		{"dropped", "operations arrived when the queue was full", "lower the rate or enlarge --queue"},
		{"eager witness", "a circuit is built together with its witness: the stages build and witness are the same", ""},
		{"error", "what an operation failed with, and how often", "read the error, and repeat the case with its command"},
		{IdleProcessors, "fewer processors were used than --cpus gave", "--executor pool, more --workers, or a smaller number"},
		{"input-changed", "operations changed their input, so later ones measured something else", "copy the input first"},
		{"inputs", "each operation built its input within the window: figures of throughput and memory include that", "--samples builds inputs before the window"},
		{"joint keys", "the library makes proving and verifying key in one call: the stage keys is both", ""},
		{"late", "operations ended after the window: they count for latency and not for throughput", "measure longer if they are many"},
		{"leak", "which cropped part of the samples shows the greatest |t|", ""},
		{"left behind", "the prover left processes behind, which were killed", "have the prover wait for its processes"},
		{"measured again", "the case was disturbed and measured once more", ""},
		{"memory grows", "the memory of a resident prover grows from operation to operation", "look for a leak in the prover"},
		{"never-started", "operations were still queued when the window closed: the rate is above the capacity", "lower the rate"},
		{"not finite", "a figure was infinite or no number, and was left out", "correct the workload that reports it"},
		{FindingUnpredicted, "the stage's work is not in tasks of its executor, so its time on more processors cannot be computed", "measure it with --cpus"},
		{PeakSampled, "the peak of memory is the maximum of samples, because the kernel's mark could not be reset", "read it as a lower bound"},
		{FindingPredicted, "times were computed from tasks recorded on one processor; how processors share memory and caches, the collector, clocks and waking up are not in them", "measure on a machine with as many processors"},
		{"profiled", "profiles were taken in the window and cost time", "do not compare these figures"},
		{"proofs of each layer", "how many proofs the layers of an aggregation have", ""},
		{"proved bits", "soundness that is proved, and the round with the largest error", ""},
		{"reference string", "where the reference string is from", ""},
		{Refused, "the case was not accepted as it was asked for, and nothing was measured", "change the case as its error says, or leave it out"},
		{"restarted", "a resident prover ended and was started again", "read why it ended in its messages"},
		{"solving", "the library solves the constraints when it proves: the stage prove contains that", ""},
		{"threshold", "a bound of --fail-if cannot be kept any more, so the case ended early", "without --fail-if the case runs to its end"},
		{"timer", "the operating system's timer started operations late", "--starts spin avoids that"},
		{"tried again", "the case failed once, and was measured again in a new process", "read its first error: it may come back"},
		{"unchecked", "the prover's file has neither verify nor must: nothing says whether its results are right", "add one of them to the file"},
		{"undoubted", "the verifier was not tested with a changed proof", "give the prover's file a verify command that a changed proof fails"},
		{"unfinished", "operations still ran at the end, so latencies are missing", "use a longer --duration or --grace"},
		{"warm-up", "the times did not settle before the warm-up's limit", "set a longer --warmup, or look for a leak"},
	}
}
