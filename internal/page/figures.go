package page

import (
	"strings"

	"github.com/zkbench/zkbench/internal/record"
)

// figure is a metric as the page shows it.
type figure struct {
	description
	Unit  string `json:"unit"`
	Exact bool   `json:"exact,omitempty"` // repeats on every machine
}

// description says what a metric means, by its name in the record.
type description struct {
	Name    string `json:"name"`
	Label   string `json:"label"`
	Group   string `json:"group"`
	Column  bool   `json:"column,omitempty"` // stands in the table
	Meaning string `json:"meaning"`
}

// The groups of figures.
const (
	groupLoad    = "Load"
	groupLatency = "Latency"
	groupMemory  = "Memory"
	groupRuntime = "Runtime"
	groupStages  = "Stages"
	groupSizes   = "Sizes and other figures"
)

// known are the figures of the load runner, those of the table first, in its order.
var known = [...]description{
	{record.Throughput, "Throughput", groupLoad, true, "operations that ended well within the window, over its length"},
	{record.OfferedRate, "Offered", groupLoad, true, "arrivals in the window, over its length (open loop)"},
	{record.LatencyP50, "P50", groupLatency, true, "service time: half of the operations took no longer"},
	{record.LatencyP95, "P95", groupLatency, true, "service time: 19 of 20 operations took no longer"},
	{record.LatencyP99, "P99", groupLatency, true, "service time: 99 of 100 operations took no longer"},
	{record.LatencyMean, "Mean", groupLatency, true, "mean service time"},
	{record.ResponseP99, "Response P99", groupLatency, true, "from the intended start (open loop): 99 of 100 operations took no longer"},
	{record.Allocs, "Allocs", groupMemory, true, "allocations per operation"},
	{record.AllocBytes, "Bytes", groupMemory, true, "bytes allocated per operation"},
	{proofSize, "Proof", groupSizes, true, "size of a proof"},
	{record.GCCPUShare, "GC", groupRuntime, true, "garbage collection, of the processor time available"},
	{stagePeak, "Peak memory", groupMemory, true, "greatest resident set of all stages"},
	{record.LeakT, "Leak |t|", groupLoad, true, "Welch's t, fixed against random witnesses; a leak from 4.5 on"},
	{record.Capacity, "Capacity", groupLoad, true, "the highest rate that holds the objective"},

	{record.Duration, "Window", groupLoad, false, "length of the window"},
	{record.PureThroughput, "Pure throughput", groupLoad, false, "workers over mean latency: no gaps between operations"},
	{record.BacklogOldest, "Oldest of the backlog", groupLoad, false, "how long the first arrival that never started had waited"},
	{record.LatencyMin, "Least", groupLatency, false, "fastest operation"},
	{record.LatencyP999, "P99.9", groupLatency, false, "999 of 1000 took no longer"},
	{record.LatencyP9999, "P99.99", groupLatency, false, "9999 of 10000 took no longer"},
	{record.LatencyMax, "Greatest", groupLatency, false, "slowest operation"},
	{record.LatencyMeanErr, "Error of the mean", groupLatency, false, "standard error, autocorrelation counted in"},
	{record.LatencyStdDev, "Standard deviation", groupLatency, false, "of the service time"},
	{record.LatencyIQR, "Interquartile range", groupLatency, false, "P75 − P25"},
	{record.LatencyJitter, "Jitter", groupLatency, false, "mean change between consecutive operations of a worker"},
	{record.ResponseP50, "Response P50", groupLatency, false, "from the intended start: half took no longer"},
	{record.ResponseMean, "Response mean", groupLatency, false, "mean time from the intended start"},
	{record.ResponseP95, "Response P95", groupLatency, false, "from the intended start: 19 of 20 took no longer"},
	{record.ResponseP999, "Response P99.9", groupLatency, false, "from the intended start: 999 of 1000 took no longer"},
	{record.ResponseMax, "Response greatest", groupLatency, false, "greatest time from the intended start"},
	{record.WaitMean, "Wait mean", groupLatency, false, "mean time between intended and actual start"},
	{record.WaitP99, "Wait P99", groupLatency, false, "99 of 100 waited no longer"},
	{record.WaitMax, "Wait greatest", groupLatency, false, "greatest wait"},
	{record.InputMean, "Input mean", groupLatency, false, "building an input, not part of any latency"},
	{record.AllocRate, "Allocation rate", groupMemory, false, "bytes allocated over the window, per second"},
	{record.HeapLive, "Live heap", groupMemory, false, "reachable after the window"},
	{record.RSS, "Resident", groupMemory, false, "resident set when the window closed"},
	{record.RSSAnon, "Resident, anonymous", groupMemory, false, "of it heap, stacks, arena"},
	{record.RSSFile, "Resident, of files", groupMemory, false, "of it backed by files"},
	{record.PeakRSS, "Peak resident", groupMemory, false, "greatest resident set within the window"},
	{record.PeakRSSAnon, "Peak anonymous", groupMemory, false, "greatest that was sampled within the window"},
	{record.PeakRSSFile, "Peak of files", groupMemory, false, "greatest that was sampled within the window"},
	{record.GCAssistShare, "GC assist", groupRuntime, false, "marking by the operations' own goroutines, of the processor time available"},
	{record.GCPauses, "GC pauses", groupRuntime, false, "total time for which collections stopped the world"},
	{record.GCCycles, "GC cycles", groupRuntime, false, "collections in the window"},
	{record.SchedP50, "Scheduling P50", groupRuntime, false, "runnable goroutines' wait for a processor, median"},
	{record.SchedP99, "Scheduling P99", groupRuntime, false, "the same, 99 of 100 waited no longer"},
	{record.MutexWait, "Lock wait", groupRuntime, false, "time blocked on locks, per operation"},
	{record.Goroutines, "Goroutines", groupRuntime, false, "goroutines created per operation"},
	{record.Instructions, "Instructions", groupRuntime, false, "of one operation, by the processor's counters"},
	{record.Cycles, "Cycles", groupRuntime, false, "of one operation, by the processor's counters"},
}

const (
	proofSize = "proof"      // the workloads' metric in B/proof
	stagePeak = "stage-peak" // made here, of a record of stages
)

// figureOf describes a metric. Those that a workload reports of itself stand in the
// table only where the record is one of stages.
func figureOf(m record.Metric, staged bool) figure {
	f := figure{Unit: m.Unit, Exact: m.Kind == record.Exact}
	for _, d := range known {
		if d.Name == m.Name {
			f.description = d
			return f
		}
	}
	stage, isTime := strings.CutPrefix(m.Name, record.StagePrefix)
	switch {
	case isTime:
		f.description = description{m.Name, stage, groupStages, true, "time of this stage"}
	case f.Exact:
		f.description = description{m.Name, m.Name, groupSizes, staged, "exact: repeats on every machine"}
	default:
		f.description = description{m.Name, m.Name, groupSizes, staged, "varies with the machine and the moment"}
	}
	return f
}
