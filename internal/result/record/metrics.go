package record

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/zkbench/zkbench"
)

// Quantity is a row of the table of metrics: what a figure is of. Only the variables and
// functions of this file make one, so a metric that is not in the table does not compile.
// Of a metric that was read, and that this version does not know, it is what the file says.
type Quantity struct {
	name, unit     string
	kind           Kind // of its metrics, unless they say otherwise
	better         Direction
	group          Group
	label, meaning string
}

// Direction says which way of a figure is better.
type Direction int

const (
	Lower  Direction = iota // times, sizes
	Higher                  // rates
)

// Group is a heading under which figures stand.
type Group string

const (
	Load    Group = "Load"
	Latency Group = "Latency"
	Memory  Group = "Memory"
	Runtime Group = "Runtime"

	Processes Group = "Processor time and disks"
	Machine   Group = "Machine"

	Stages Group = "Stages"
	Others Group = "Sizes and other figures" // what a workload reports of itself
)

// table holds the rows in the order of their definition.
var table []Quantity

func (g Group) define(name, unit string, kind Kind, better Direction, label, meaning string) Quantity {
	q := Quantity{name, unit, kind, better, g, label, meaning}
	table = append(table, q)
	return q
}

func (g Group) timed(name, unit, label, meaning string) Quantity {
	return g.define(name, unit, Timed, Lower, label, meaning)
}

func (g Group) rate(name, label, meaning string) Quantity {
	return g.define(name, "ops/s", Timed, Higher, label, meaning)
}

// count is an exact figure under its name.
func count(name, unit, meaning string) Quantity {
	return Others.define(name, unit, Exact, Lower, name, meaning)
}

// size is the size of a thing in bytes.
func size(name, label, meaning string) Quantity {
	return Others.define(name, "B/"+strings.ReplaceAll(name, " ", "-"), Exact, Lower, label, meaning)
}

// Statistic is a figure of a distribution.
type Statistic struct {
	suffix         string
	Percentile     float64 // 0: none
	Label, Meaning string
}

// The statistics of a distribution.
var (
	Min   = Statistic{"min", 0, "Min", "Fastest operation"}
	P50   = Statistic{"p50", 50, "P50", "Half of the operations took no longer"}
	Mean  = Statistic{"mean", 0, "Average", "Mean"}
	P95   = Statistic{"p95", 95, "P95", "19 of 20 took no longer"}
	P99   = Statistic{"p99", 99, "P99", "99 of 100 took no longer"}
	P999  = Statistic{"p99.9", 99.9, "P99.9", "999 of 1000 took no longer"}
	P9999 = Statistic{"p99.99", 99.99, "P99.99", "9999 of 10000 took no longer"}
	Max   = Statistic{"max", 0, "Max", "Slowest operation"}
)

// The figures of a load. Every operation has a ticket with an intended start: the moment
// at which it arrives in an open loop, at which a worker is free in a closed one. Response
// is the time from the intended start to the end, service that from the actual start, wait
// the difference. In a closed loop there is no wait, so response is service, and the
// histograms and metrics of response and wait are absent.
var (
	Throughput     = Load.rate("throughput", "Throughput", "Operations that ended well within the window, over its length") // done and carried
	OfferedRate    = Load.rate("offered-rate", "Offered Rate", "Arrivals in the window over its length")                    // open loop
	PureThroughput = Load.rate("pure-throughput", "Pure Throughput", "Workers over mean latency: no gaps between operations")
	RunTime        = Load.timed("time", "ns", "Time", "From start to end of a command, with all that it waits for")
	Duration       = Load.timed("duration", "s", "Duration", "Length of the window")
	BacklogOldest  = Load.timed("backlog-oldest", "ns", "Oldest of the Backlog", "How long the first arrival that never started had waited")

	LatencyMin     = statistic(HistLatency, Min)
	LatencyP50     = statistic(HistLatency, P50)
	LatencyMean    = statistic(HistLatency, Mean)
	LatencyP95     = statistic(HistLatency, P95)
	LatencyP99     = statistic(HistLatency, P99)
	LatencyP999    = statistic(HistLatency, P999)
	LatencyP9999   = statistic(HistLatency, P9999)
	LatencyMax     = statistic(HistLatency, Max)
	LatencyMeanErr = Latency.timed("latency-mean-se", "ns", "Error of the Mean", "Standard error of the mean, autocorrelation counted in")
	LatencyStdDev  = Latency.timed("latency-stddev", "ns", "Std Dev", "Standard deviation of the service time")
	LatencyIQR     = Latency.timed("latency-iqr", "ns", "IQR", "Interquartile range: P75 - P25")
	LatencyJitter  = Latency.timed("latency-jitter", "ns", "Jitter", "Mean change between consecutive operations of a worker")
	ResponseP50    = statistic(HistResponse, P50)
	ResponseMean   = statistic(HistResponse, Mean)
	ResponseP95    = statistic(HistResponse, P95)
	ResponseP99    = statistic(HistResponse, P99)
	ResponseP999   = statistic(HistResponse, P999)
	ResponseMax    = statistic(HistResponse, Max)
	WaitMean       = statistic(HistWait, Mean)
	WaitP99        = statistic(HistWait, P99)
	WaitMax        = statistic(HistWait, Max)
	StartLate      = Latency.timed("start-late", "ns", "Start, Late", "How much later than intended operations started that found an idle worker, mean")
	StartSpin      = Latency.timed("start-spin", "%", "Start, Awake", "Time that workers were awake for starts, of one processor's")
	InputMean      = statistic(HistInput, Mean)

	// Of an operation, where they could be told from its input's; exact where nothing ran
	// beside the operation.
	AllocBytes = Memory.timed("alloc-bytes", "B/op", "Memory", "Allocated bytes per operation")
	Allocs     = Memory.timed("allocs", "allocs/op", "Allocs", "Allocations per operation")

	AllocRate   = Memory.timed("alloc-rate", "B/s", "Alloc Rate", "Bytes allocated over the window")
	HeapLive    = Memory.timed("heap-live", "B", "Heap Live", "Reachable after the window")
	RSS         = Memory.timed("rss", "B", "RSS", "Resident when the window closed")
	RSSAnon     = Memory.timed("rss-anon", "B", "RSS, Anonymous", "Of it heap, stacks, arena")
	RSSFile     = Memory.timed("rss-file", "B", "RSS, Files", "Of it backed by files")
	PeakRSS     = Memory.timed("peak-rss", "B", "Peak memory", "Greatest resident set, within the window or the stage") // as the kernel saw it
	PeakRSSAnon = Memory.timed("peak-rss-anon", "B", "Peak memory, Anonymous", "Greatest that was sampled within the window")
	PeakRSSFile = Memory.timed("peak-rss-file", "B", "Peak memory, Files", "Greatest that was sampled within the window")
	GroupPeak   = Memory.timed("group-peak", "B", "Peak, All Processes", "Greatest of all processes together, files in the page cache included, by their control group")

	GCCPUShare    = Runtime.timed("gc-cpu", "%", "GC CPU", "GC CPU time, of the processor time available")
	GCAssistShare = Runtime.timed("gc-assist", "%", "GC Assist", "Of the same: marking done by the operations' own goroutines")
	GCPauses      = Runtime.timed("gc-pauses", "ns", "GC Pause", "Total stop-the-world time of collections")
	GCCycles      = Runtime.timed("gc-cycles", "cycles", "GC Cycles", "Collections in the window")
	SchedP50      = Runtime.timed("sched-p50", "ns", "Sched P50", "Runnable goroutines' wait for a processor, median")
	SchedP99      = Runtime.timed("sched-p99", "ns", "Sched P99", "The same, 99 of 100 waited no longer")
	MutexWait     = Runtime.timed("mutex-wait", "ns/op", "Mutex Wait", "Time blocked on locks, per operation")
	Goroutines    = Runtime.timed("goroutines", "goroutines/op", "Goroutines", "Goroutines created per operation")

	// What the process had of the processors in the window. Processor time does not grow while
	// the process waits its turn, so it stands a busy machine better than wall time; caches and
	// clocks it shares all the same. User and system are the two parts of cpu, of the same
	// process and the same operations.
	CPUTime     = Processes.timed("cpu", "ns/op", "CPU Time", "Processor time per operation, user and system")
	CPUUser     = Processes.timed("cpu-user", "ns/op", "CPU Time, User", "Of CPU Time, in user mode")
	CPUSystem   = Processes.timed("cpu-system", "ns/op", "CPU Time, System", "Of CPU Time, in the kernel")
	Processors  = Processes.timed("processors", "processors", "Processors", "Processor time over the window's time")
	ProcessWait = Processes.timed("processor-wait", "%", "Processor Wait", "Time that its threads waited for a processor, of that and their processor time")
	Preempted   = Processes.timed("preempted", "switches", "Preempted", "Times that a thread lost its processor")
	DiskRead    = Processes.timed("disk-read", "B/op", "Read from Disks", "Bytes read per operation")
	DiskWritten = Processes.timed("disk-written", "B/op", "Written to Disks", "Bytes written per operation")

	// What else happened on the machine.
	OthersShare = Machine.timed("others", "%", "Other Processes", "Processor time that other processes used, of the machine's")
	StolenShare = Machine.timed("stolen", "%", "Stolen", "Processor time that the hypervisor gave to other machines")
	Pressure    = Machine.timed("pressure", "%", "Pressure", "Time in which some thread of the machine waited for a processor (PSI)")
	LoadAverage = Machine.timed("load-average", "threads", "Load Average", "Of the last minute, when the window closed")

	// Of series only; the other series of the window are of metrics.
	Errors  = Load.timed("errors", "ops/s", "Errors", "Operations that failed, over time")
	Backlog = Load.timed("backlog", "tickets", "Backlog", "Tickets that waited at the interval's end") // open loop
)

// What a workload reports of itself.
var (
	Capacity     = Others.rate("capacity", "Capacity", "The highest rate that holds the objective")
	CapacityLow  = Others.rate("capacity-low", "Capacity, Low", "The lower end of its interval")
	CapacityHigh = Others.rate("capacity-high", "Capacity, High", "The upper end of its interval")
	LeakT        = Others.timed("leak-t", "t", "Leak |t|", "Welch's t, fixed against random witnesses; a leak from 4.5 on")
	Instructions = Others.timed("instructions", "instructions/op", "Instructions", "Of one operation on its thread, by the processor's counters")
	Cycles       = Others.timed("cycles", "cycles/op", "Cycles", "Of one operation on its thread, by the processor's counters")

	ProofSize        = size("proof", "Proof", "Size of a proof")
	ActionSize       = size("action", "action", "Size of an encoded action: its proof, tokens, ids and owners")
	RequestSize      = size("request", "request", "Size of a request")
	TableSize        = size("table", "table", "Multiples of the generators that are kept")
	SRSSize          = size("srs", "srs", "Size of the reference string")
	ProvingKeySize   = size("proving key", "proving key", "Size of the proving key")
	VerifyingKeySize = size("verifying key", "verifying key", "Size of the verifying key")
	TreeSize         = size("tree", "tree", "Size of a Merkle tree")
	PathSize         = size("path", "path", "Size of an inclusion path")
	HashSize         = size("hash", "hash", "Size of a digest")
	ProofPoints      = count("proof-points", "points/proof", "Points of a proof")
	Multiplications  = count("multiplications", "multiplications/proof", "Points by which a proof commits, each times a scalar")
	Constraints      = count("constraints", "constraints", "Constraints of the circuit")
	Domain           = count("domain", "points", "Points of the circuit's domain")
	Columns          = count("columns", "columns", "Columns of the circuit")
	Cells            = count("cells", "cells", "Cells of the traces, rows times columns")
	ProvedBits       = Others.define("proved-bits", "bits", Exact, Higher, "proved-bits", "Soundness that is proved, by the better of unique decoding and the Johnson radius")
	Blocks           = count("blocks", "blocks", "Blocks of the hash")
	BlocksNeeded     = count("blocks-needed", "blocks-needed", "Blocks that the message alone needs")
	Requests         = count("requests", "requests/op", "Requests of an operation")
	Permutations     = count("permutations", "permutations/op", "Permutations of an operation")
	Elements         = count("elements", "elements/op", "Field elements that an operation transforms")
	Coefficients     = count("coefficients", "coefficients/op", "Coefficients that an operation evaluates")
	FieldMuls        = count("field-multiplications", "field-multiplications/op", "Field multiplications and squarings of an operation, in portable code")
	GroupOps         = count("group-operations", "group-operations/op", "Additions and doublings of points in an operation, in portable code")
	Statements       = count("statements", "statements/op", "Statements that an operation executes, in portable code")
	Units            = count("units", "units/op", "Field operations of an operation")
	GuestCycles      = count("guest-cycles", "guest-cycles/op", "Instructions that a guest retires, its language's start included")
	WorkCycles       = count("work-cycles", "work-cycles/op", "Of them those of the work that the guest is for")
	GuestPages       = count("guest-pages", "guest-pages", "Pages of 4,096 bytes that a guest had at once, at most")
	GuestTouches     = count("guest-touches", "guest-touches/op", "How often one of a guest's pages came into being")
	InLoop           = count("in-loop", "instructions/op", "Instructions of the loop's kind in an operation")
)

// WorkClass is the instructions of a class that a guest retires in its work.
func WorkClass(class string) Quantity {
	return Quantity{"work-" + class, "work-" + class + "/op", Exact, Lower, Others, "work-" + class, "Of the work's instructions those of this class"}
}

// PrecompileCalls is how often a guest calls a precompile.
func PrecompileCalls(precompile string) Quantity {
	return Quantity{precompile, precompile + "/op", Exact, Lower, Others, precompile, "Calls of this precompile"}
}

// stagePrefix begins the names of the times of stages.
const stagePrefix = "stage "

// StageTime is how long a stage took, of a case that goes through stages.
func StageTime(stage string) Quantity {
	return Quantity{stagePrefix + stage, "s", Timed, Lower, Stages, stage, "Time of this stage"}
}

// Stage returns the stage whose time this is, if it is one.
func (q Quantity) Stage() (name string, ok bool) { return strings.CutPrefix(q.name, stagePrefix) }

// statistic defines a row of the family.
func statistic(histogram string, s Statistic) Quantity {
	q := StatisticOf(histogram, s)
	table = append(table, q)
	return q
}

// StatisticOf is a statistic of a histogram of that name, in ns.
func StatisticOf(histogram string, s Statistic) Quantity {
	q := Quantity{histogram + "-" + s.suffix, "ns", Timed, Lower, Latency, s.Label, s.Meaning}
	switch histogram {
	case HistLatency:
		q.meaning = "Service time: " + lowered(s.Meaning)
	case HistResponse:
		q.label, q.meaning = "Response "+s.Label, "From the intended start (open loop): "+lowered(s.Meaning)
	case HistWait:
		q.label, q.meaning = "Wait "+s.Label, "Between intended and actual start (open loop): "+lowered(s.Meaning)
	default:
		q.label = histogram + " " + s.Label
	}
	return q
}

func lowered(sentence string) string { return strings.ToLower(sentence[:1]) + sentence[1:] }

// InClass is the metric of one class of a mix, which stands in its name and unit.
func (m Metric) InClass(class string) Metric {
	m.name, m.label = class+"-"+m.name, class+" "+m.label
	if quantity, per, ok := strings.Cut(m.unit, "/"); ok {
		m.unit = quantity + "/" + class + "-" + per
	}
	return m
}

// Name is that of the metric in records.
func (q Quantity) Name() string { return q.name }

// Unit is that of the values.
func (q Quantity) Unit() string { return q.unit }

// Better says which way is better.
func (q Quantity) Better() Direction { return q.better }

// Group is the heading under which the figure stands.
func (q Quantity) Group() Group { return q.group }

// Label is what the figure is called where people read it.
func (q Quantity) Label() string { return q.label }

// Meaning says what the figure is.
func (q Quantity) Meaning() string { return q.meaning }

func (q Quantity) String() string { return q.name }

// Metric is a figure of this quantity.
func (q Quantity) Metric(v float64) Metric { return Metric{Quantity: q, Value: v, Kind: q.kind} }

// Exact is a figure of this quantity that was counted exactly.
func (q Quantity) Exact(v float64) Metric { return Metric{Quantity: q, Value: v, Kind: Exact} }

// Series are values of this quantity, interval by interval.
func (q Quantity) Series(interval time.Duration, values []float64) Series {
	return Series{Name: q.name, Unit: q.unit, Interval: interval, Values: values}
}

// UnitOf is the unit of the row of that name; where there is none, the name.
func UnitOf(name string) string {
	if i := slices.IndexFunc(table, func(row Quantity) bool { return row.name == name }); i >= 0 {
		return table[i].unit
	}
	return name
}

// Quantities returns the rows of the table, in its order.
func Quantities() []Quantity { return slices.Clone(table) }

// Place is where a quantity stands in the table: the times of stages before what workloads
// report of themselves, and what is not in it after all others.
func (q Quantity) Place() int {
	if q.group == Stages {
		return slices.IndexFunc(table, func(row Quantity) bool { return row.group == Others })
	}
	if i := slices.IndexFunc(table, func(row Quantity) bool { return row.name == q.name }); i >= 0 {
		return i
	}
	return len(table)
}

// BetterOf says which way is better of figures in a unit of which nothing else is known,
// such as those of go test -bench: of rates more, of all else less.
func BetterOf(unit string) Direction {
	if IsRate(unit) {
		return Higher
	}
	return Lower
}

// IsRate tells whether figures of this unit are by time.
func IsRate(unit string) bool { return strings.HasSuffix(unit, "/s") }

// metricJSON is the form of a metric in the file.
type metricJSON struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Value float64 `json:"value"`
	Kind  Kind    `json:"kind"`
	Whose Whose   `json:"whose,omitempty"`
}

// MarshalJSON writes name, unit, value, kind and whose.
func (m Metric) MarshalJSON() ([]byte, error) {
	return json.Marshal(metricJSON{m.name, m.unit, m.Value, m.Kind, m.Whose})
}

// UnmarshalJSON reads what MarshalJSON writes, of this version or another: a metric that
// is not in the table is known by what the file says alone.
func (m *Metric) UnmarshalJSON(data []byte) error {
	var f metricJSON
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	*m = Reported(f.Name, f.Unit, f.Value, f.Kind).Of(f.Whose)
	return nil
}

// measured tells whether zkbench itself writes figures of this quantity, whatever the workload.
func (q Quantity) measured() bool {
	commands := []Quantity{Capacity, CapacityLow, CapacityHigh, LeakT, FieldMuls, GroupOps, Statements}
	return q.group != Others || slices.Contains(commands, q)
}

// printable tells whether a text can be a name or a unit.
func printable(text string) bool {
	return text != "" && len(text) <= 100 && utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// CheckStage refuses the name of a stage that nobody can read. The error is a zkbench.ErrParams.
func CheckStage(name string) error {
	if !printable(name) {
		return fmt.Errorf("%w: stage %q: accepted: a name that can be printed, of up to 100 bytes", zkbench.ErrParams, name)
	}
	return nil
}

// CheckReported refuses what a workload from outside may not report: figures that are not finite, and
// names that nobody can read or that are of what is measured here. The error is a
// zkbench.ErrParams.
func CheckReported(name, unit string, v float64) error {
	i := slices.IndexFunc(table, func(row Quantity) bool { return row.name == name })
	switch {
	case !printable(name) || !printable(unit):
		return fmt.Errorf("%w: figure %q in %q: accepted: a name and a unit that can be printed, of up to 100 bytes", zkbench.ErrParams, name, unit)
	case i >= 0 && table[i].measured(), strings.HasPrefix(name, stagePrefix):
		return fmt.Errorf("%w: figure %s: measured here; accepted: another name", zkbench.ErrParams, name)
	case math.IsNaN(v) || math.IsInf(v, 0):
		return fmt.Errorf("%w: figure %s: %v is not accepted; accepted: a number", zkbench.ErrParams, name, v)
	}
	return nil
}

// Reported is a figure of which no more is known than this: of another program, or of a workload
// from outside. One that is in the table is the table's, in that unit.
func Reported(name, unit string, v float64, kind Kind) Metric {
	m := Metric{Value: v, Kind: kind}
	stage, isStage := strings.CutPrefix(name, stagePrefix)
	i := slices.IndexFunc(table, func(row Quantity) bool { return row.name == name })
	switch {
	case isStage:
		m.Quantity = StageTime(stage)
	case i >= 0:
		m.Quantity = table[i]
	default:
		meaning := "Varies with the machine and the moment"
		if kind == Exact {
			meaning = "Exact: repeats on every machine"
		}
		m.Quantity = Quantity{name, unit, kind, BetterOf(unit), Others, name, meaning}
	}
	m.unit = unit
	return m
}
