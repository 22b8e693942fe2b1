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

// Quantity describes what a figure measures: its name, unit, kind and meaning. The table of metrics, which Quantities
// returns, has a row for each quantity that is a variable of this package. Only the variables and functions of this
// package create a Quantity, so code that uses an unknown metric does not compile. If a file has a metric that this
// version does not know, the Quantity of that metric has the name, unit and kind that are in the file.
type Quantity struct {
	name, unit     string
	kind           Kind // of its metrics, unless they have another one
	better         Direction
	group          Group
	label, meaning string
	heading        string // of its column in tables of text
	tables         Tables // that have a column of it
}

// Tables is a bit set. Each bit stands for one of the tables that zkbench writes with a line for each case.
type Tables uint

// The tables of cases.
const (
	ShortTable   Tables = 1 << iota // of `zkbench run`
	ForeignTable                    // of `zkbench run`, for a prover that is another program
	LongTable                       // of `zkbench run -v`
	PageTable                       // of the report's page
	AllTables    = ShortTable | LongTable | PageTable
)

// Direction says whether lower or higher figures are better.
type Direction int

const (
	Lower  Direction = iota // times, sizes
	Higher                  // rates
)

// Group is a heading under which a report shows figures.
type Group string

const (
	Load    Group = "Load"
	Latency Group = "Latency"
	Memory  Group = "Memory"
	Runtime Group = "Runtime"

	Processes Group = "Processor time and disks"
	Machine   Group = "Machine"

	Stages Group = "Stages"
	Others Group = "Sizes and other figures" // figures that a workload reports
)

// table holds the rows in the order of their definition.
var table []Quantity

func (g Group) define(name, unit string, kind Kind, better Direction, label, meaning string) Quantity {
	q := Quantity{name: name, unit: unit, kind: kind, better: better, group: g, label: label, meaning: meaning}
	table = append(table, q)
	return q
}

// column gives the quantity that was defined last a column in these tables.
func (q Quantity) column(heading string, in Tables) Quantity {
	q.heading, q.tables = heading, in
	table[len(table)-1] = q
	return q
}

// TableColumns returns the quantities that have a column in at least one of the given tables, in the order of
// Quantities.
func TableColumns(in Tables) []Quantity {
	return slices.DeleteFunc(Quantities(), func(q Quantity) bool { return q.tables&in == 0 })
}

// Heading returns the heading of the quantity's column in tables of text.
func (q Quantity) Heading() string { return q.heading }

func (g Group) timed(name, unit, label, meaning string) Quantity {
	return g.define(name, unit, Timed, Lower, label, meaning)
}

func (g Group) rate(name, label, meaning string) Quantity {
	return g.define(name, "ops/s", Timed, Higher, label, meaning)
}

// count defines an exact figure whose label is its name.
func count(name, unit, meaning string) Quantity {
	return Others.define(name, unit, Exact, Lower, name, meaning)
}

// size defines the exact size of something, in bytes.
func size(name, label, meaning string) Quantity {
	return Others.define(name, "B/"+strings.ReplaceAll(name, " ", "-"), Exact, Lower, label, meaning)
}

// Statistic describes a statistic of a distribution, for example its median or its maximum.
type Statistic struct {
	suffix         string
	Percentile     float64 // 0: not a percentile
	Label, Meaning string
}

// The statistics of a distribution.
var (
	Min   = Statistic{"min", 0, "Min", "Fastest operation"}
	P50   = Statistic{"p50", 50, "P50", "Half of the operations took no longer"}
	Mean  = Statistic{"mean", 0, "Average", "Mean"}
	P95   = Statistic{"p95", 95, "P95", "95 % of the operations took no longer"}
	P99   = Statistic{"p99", 99, "P99", "99 % of the operations took no longer"}
	P999  = Statistic{"p99.9", 99.9, "P99.9", "99.9 % of the operations took no longer"}
	P9999 = Statistic{"p99.99", 99.99, "P99.99", "99.99 % of the operations took no longer"}
	Max   = Statistic{"max", 0, "Max", "Slowest operation"}
)

// The figures of a load. Every operation has an intended start: its arrival in an open loop, and the moment
// when a worker becomes free in a closed loop. Response is the time from the intended start to the end. Service
// is the time from the actual start to the end, and wait is the difference. A closed loop has no wait, so
// response equals service, and the histograms and metrics of response and wait are absent.
var (
	Throughput     = Load.rate("throughput", "Throughput", "Successful operations that ended in the window, per second").column("ops/s", AllTables) // done and carried
	OfferedRate    = Load.rate("offered-rate", "Offered Rate", "Operations that arrived in the window, per second").column("offered/s", AllTables)  // open loop
	PureThroughput = Load.rate("pure-throughput", "Pure Throughput", "Workers divided by mean latency: the rate without gaps between operations")
	RunTime        = Load.timed("time", "ns", "Time", "Time from the start of a command to its end, with everything that it waits for")
	Duration       = Load.timed("duration", "s", "Duration", "Length of the window")
	BacklogOldest  = Load.timed("backlog-oldest", "ns", "Oldest of the Backlog", "How long the oldest operation that never started had waited")

	LatencyMin     = statistic(HistLatency, Min)
	LatencyP50     = statistic(HistLatency, P50).column("P50", AllTables)
	LatencyMean    = statistic(HistLatency, Mean).column("mean", PageTable)
	LatencyP95     = statistic(HistLatency, P95).column("P95", LongTable|PageTable)
	LatencyP99     = statistic(HistLatency, P99).column("P99", AllTables)
	LatencyP999    = statistic(HistLatency, P999)
	LatencyP9999   = statistic(HistLatency, P9999)
	LatencyMax     = statistic(HistLatency, Max).column("max", LongTable)
	LatencyMeanErr = Latency.timed("latency-mean-se", "ns", "Error of the Mean", "Standard error of the mean, with autocorrelation taken into account")
	LatencyStdDev  = Latency.timed("latency-stddev", "ns", "Std Dev", "Standard deviation of the service time")
	LatencyIQR     = Latency.timed("latency-iqr", "ns", "IQR", "Interquartile range: P75 - P25")
	LatencyJitter  = Latency.timed("latency-jitter", "ns", "Jitter", "Mean difference between consecutive operations of a worker")
	ResponseP50    = statistic(HistResponse, P50)
	ResponseMean   = statistic(HistResponse, Mean)
	ResponseP95    = statistic(HistResponse, P95)
	ResponseP99    = statistic(HistResponse, P99).column("resp P99", AllTables)
	ResponseP999   = statistic(HistResponse, P999)
	ResponseMax    = statistic(HistResponse, Max)
	WaitMean       = statistic(HistWait, Mean)
	WaitP99        = statistic(HistWait, P99)
	WaitMax        = statistic(HistWait, Max)
	StartLate      = Latency.timed("start-late", "ns", "Start, Late", "Mean delay of the start of operations that found an idle worker")
	StartSpin      = Latency.timed("start-spin", "%", "Start, Awake", "Time that workers spent awake before starts, as a share of one processor's time")
	InputMean      = statistic(HistInput, Mean)

	// Figures of the memory that an operation allocates, without the memory for building its input. The figures are
	// absent if the operation's memory cannot be separated from the input's. They are exact if nothing else ran at
	// the same time.
	AllocBytes = Memory.timed("alloc-bytes", "B/op", "Memory", "Allocated bytes per operation").column("B/op", LongTable|PageTable)
	Allocs     = Memory.timed("allocs", "allocs/op", "Allocs", "Allocations per operation").column("allocs/op", AllTables)

	AllocRate   = Memory.timed("alloc-rate", "B/s", "Alloc Rate", "Bytes allocated per second in the window")
	HeapLive    = Memory.timed("heap-live", "B", "Heap Live", "Heap memory that is reachable after the window")
	RSS         = Memory.timed("rss", "B", "RSS", "Resident memory when the window closed")
	RSSAnon     = Memory.timed("rss-anon", "B", "RSS, Anonymous", "Resident memory of heap, stacks and arena")
	RSSFile     = Memory.timed("rss-file", "B", "RSS, Files", "Resident memory that is backed by files")
	PeakRSS     = Memory.timed("peak-rss", "B", "Peak memory", "Maximum resident memory in the window or the stage").column("peak", ForeignTable|LongTable|PageTable) // from the kernel
	PeakRSSAnon = Memory.timed("peak-rss-anon", "B", "Peak memory, Anonymous", "Largest sample in the window: heap, stacks and arena")
	PeakRSSFile = Memory.timed("peak-rss-file", "B", "Peak memory, Files", "Largest sample in the window: memory backed by files")
	GroupPeak   = Memory.timed("group-peak", "B", "Peak, All Processes", "Maximum memory of all processes together, including the page cache, from their control group")

	GCCPUShare    = Runtime.timed("gc-cpu", "%", "GC CPU", "Share of the available processor time that garbage collection used").column("GC CPU", LongTable|PageTable)
	GCAssistShare = Runtime.timed("gc-assist", "%", "GC Assist", "Share of the available processor time that the operations' own goroutines spent marking")
	GCPauses      = Runtime.timed("gc-pauses", "ns", "GC Pause", "Total stop-the-world time of collections")
	GCCycles      = Runtime.timed("gc-cycles", "cycles", "GC Cycles", "Collections in the window")
	SchedP50      = Runtime.timed("sched-p50", "ns", "Sched P50", "Median time that runnable goroutines waited for a processor")
	SchedP99      = Runtime.timed("sched-p99", "ns", "Sched P99", "99 % of the runnable goroutines waited no longer for a processor")
	MutexWait     = Runtime.timed("mutex-wait", "ns/op", "Mutex Wait", "Time blocked on locks, per operation")
	Goroutines    = Runtime.timed("goroutines", "goroutines/op", "Goroutines", "Goroutines created per operation")

	// Processor time and disk use of the process in the window. Processor time does not grow while the process waits
	// for a processor, so a busy machine disturbs it less than wall time. Shared caches and clock rates still affect
	// it. CPUUser and CPUSystem are the two parts of CPUTime, for the same process and the same operations.
	CPUTime     = Processes.timed("cpu", "ns/op", "CPU Time", "Processor time per operation, user and system").column("CPU/op", ForeignTable|LongTable)
	CPUUser     = Processes.timed("cpu-user", "ns/op", "CPU Time, User", "Processor time per operation in user mode")
	CPUSystem   = Processes.timed("cpu-system", "ns/op", "CPU Time, System", "Processor time per operation in the kernel")
	Processors  = Processes.timed("processors", "processors", "Processors", "Processor time divided by the window's length")
	ProcessWait = Processes.timed("processor-wait", "%", "Processor Wait", "Time that threads waited for a processor, as a share of waiting and running time")
	Preempted   = Processes.timed("preempted", "switches", "Preempted", "How often a thread lost its processor")
	DiskRead    = Processes.timed("disk-read", "B/op", "Read from Disks", "Bytes read per operation")
	DiskWritten = Processes.timed("disk-written", "B/op", "Written to Disks", "Bytes written per operation")

	// Figures that say how busy the machine is with anything but the measured process.
	OthersShare = Machine.timed("others", "%", "Other Processes", "Share of the machine's processor time that other processes used")
	StolenShare = Machine.timed("stolen", "%", "Stolen", "Share of the processor time that the hypervisor gave to other machines")
	Pressure    = Machine.timed("pressure", "%", "Pressure", "Share of the time in which a thread on the machine waited for a processor (PSI)")
	LoadAverage = Machine.timed("load-average", "threads", "Load Average", "Load average of the last minute, when the window closed")

	// Errors and Backlog occur only as series. All other series have the names of metrics.
	Errors  = Load.timed("errors", "ops/s", "Errors", "Operations that failed, per second")
	Backlog = Load.timed("backlog", "tickets", "Backlog", "Operations that were waiting at the end of the interval") // open loop
)

// Figures that a workload reports.
var (
	Capacity     = Others.rate("capacity", "Capacity", "The highest rate that meets the objective").column("capacity", PageTable)
	CapacityLow  = Others.rate("capacity-low", "Capacity, Low", "Lower end of the capacity's confidence interval")
	CapacityHigh = Others.rate("capacity-high", "Capacity, High", "Upper end of the capacity's confidence interval")
	LeakT        = Others.timed("leak-t", "t", "Leak |t|", "Welch's t of a fixed witness against random ones; more than 4.5 shows a leak").column("leak |t|", PageTable)
	Instructions = Others.timed("instructions", "instructions/op", "Instructions", "Instructions of one operation on its thread, from hardware counters")
	Cycles       = Others.timed("cycles", "cycles/op", "Cycles", "Processor cycles of one operation on its thread, from hardware counters")

	ProofSize        = size("proof", "Proof", "Size of a proof").column("proof", PageTable)
	ActionSize       = size("action", "action", "Size of an encoded action, with proof, tokens, ids and owners")
	RequestSize      = size("request", "request", "Size of a request")
	TableSize        = size("table", "table", "Size of the stored multiples of the generators")
	SRSSize          = size("srs", "srs", "Size of the reference string")
	ProvingKeySize   = size("proving key", "proving key", "Size of the proving key")
	VerifyingKeySize = size("verifying key", "verifying key", "Size of the verifying key")
	TreeSize         = size("tree", "tree", "Size of a Merkle tree")
	PathSize         = size("path", "path", "Size of an inclusion path")
	HashSize         = size("hash", "hash", "Size of a digest")
	ProofPoints      = count("proof-points", "points/proof", "Points in a proof")
	Multiplications  = count("multiplications", "multiplications/proof", "Points that are multiplied by scalars in the commitments of a proof")
	Constraints      = count("constraints", "constraints", "Constraints in the circuit")
	Domain           = count("domain", "points", "Points in the circuit's domain")
	Columns          = count("columns", "columns", "Columns in the circuit")
	Cells            = count("cells", "cells", "Cells in the traces, rows times columns")
	ProvedBits       = Others.define("proved-bits", "bits", Exact, Higher, "proved-bits", "Proved soundness: the better of unique decoding and the Johnson radius")
	Blocks           = count("blocks", "blocks", "Blocks that the hash processes")
	BlocksNeeded     = count("blocks-needed", "blocks-needed", "Blocks that the message alone needs")
	Requests         = count("requests", "requests/op", "Requests per operation")
	Permutations     = count("permutations", "permutations/op", "Permutations per operation")
	Elements         = count("elements", "elements/op", "Field elements that an operation transforms")
	Coefficients     = count("coefficients", "coefficients/op", "Coefficients that an operation evaluates")
	FieldMuls        = count("field-multiplications", "field-multiplications/op", "Field multiplications and squarings per operation, in portable code")
	GroupOps         = count("group-operations", "group-operations/op", "Additions and doublings of points per operation, in portable code")
	Statements       = count("statements", "statements/op", "Statements executed per operation, in portable code")
	Units            = count("units", "units/op", "Field operations per operation")
	GuestCycles      = count("guest-cycles", "guest-cycles/op", "Instructions that a guest retires, including the start of its language runtime")
	WorkCycles       = count("work-cycles", "work-cycles/op", "Instructions that a guest retires in its measured work")
	GuestPages       = count("guest-pages", "guest-pages", "Maximum number of 4,096-byte pages that a guest had at once")
	GuestTouches     = count("guest-touches", "guest-touches/op", "How often a page of the guest was created")
	CycleCells       = count("cells-per-cycle", "cells/cycle", "Cells of a proof's tables for each instruction that the program retires: traces, sums and quotients, with the rows that pad them")
	InLoop           = count("in-loop", "instructions/op", "Instructions per operation of the kind that the loop measures")
)

// WorkClass returns the Quantity for the number of instructions of the given class that the guest program of a zkVM
// retires in its measured work.
func WorkClass(class string) Quantity {
	return Quantity{name: "work-" + class, unit: "work-" + class + "/op", kind: Exact, group: Others, label: "work-" + class, meaning: "Instructions of this class in the guest's measured work"}
}

// PrecompileCalls returns the Quantity for the calls that the guest program of a zkVM makes to the given precompile.
func PrecompileCalls(precompile string) Quantity {
	return Quantity{name: precompile, unit: precompile + "/op", kind: Exact, group: Others, label: precompile, meaning: "Calls to this precompile"}
}

// stagePrefix is the prefix of the names of stage times.
const stagePrefix = "stage "

// StageTime returns the Quantity for the time of a stage, in cases with stages. The parameter stage is the stage's
// name.
func StageTime(stage string) Quantity {
	return Quantity{name: stagePrefix + stage, unit: "s", kind: Timed, group: Stages, label: stage, meaning: "Time of this stage"}
}

// Stage returns the name of the stage if q is the time of a stage; otherwise ok is false.
func (q Quantity) Stage() (name string, ok bool) { return strings.CutPrefix(q.name, stagePrefix) }

// statistic adds a statistic of a histogram to the table.
func statistic(histogram string, s Statistic) Quantity {
	q := StatisticOf(histogram, s)
	table = append(table, q)
	return q
}

// StatisticOf returns the Quantity of a statistic of the histogram with the given name. The unit of the Quantity is
// ns.
func StatisticOf(histogram string, s Statistic) Quantity {
	q := Quantity{name: histogram + "-" + s.suffix, unit: "ns", kind: Timed, group: Latency, label: s.Label, meaning: s.Meaning}
	switch histogram {
	case HistLatency:
		q.meaning = "Service time: " + lowered(s.Meaning)
	case HistResponse:
		q.label, q.meaning = "Response "+s.Label, "Time from the intended start (open loop): "+lowered(s.Meaning)
	case HistWait:
		q.label, q.meaning = "Wait "+s.Label, "Time from the intended to the actual start (open loop): "+lowered(s.Meaning)
	default:
		q.label, q.meaning = histogram+" "+s.Label, fmt.Sprintf("Times in the histogram %s: %s", histogram, lowered(s.Meaning))
	}
	return q
}

func lowered(sentence string) string { return strings.ToLower(sentence[:1]) + sentence[1:] }

// InClass returns m as a metric of one class of a mix of operations. The result has the class in its name, label and
// unit.
func (m Metric) InClass(class string) Metric {
	m.name, m.label = class+"-"+m.name, class+" "+m.label
	if quantity, per, ok := strings.Cut(m.unit, "/"); ok {
		m.unit = quantity + "/" + class + "-" + per
	}
	return m
}

// Name returns the name of the metric in records.
func (q Quantity) Name() string { return q.name }

// Unit returns the unit of the values.
func (q Quantity) Unit() string { return q.unit }

// Better reports whether lower or higher values are better.
func (q Quantity) Better() Direction { return q.better }

// Group returns the heading under which a report shows the figure.
func (q Quantity) Group() Group { return q.group }

// Label returns the name of the figure in reports.
func (q Quantity) Label() string { return q.label }

// Meaning returns a phrase that explains the figure, for readers of reports.
func (q Quantity) Meaning() string { return q.meaning }

func (q Quantity) String() string { return q.name }

// Metric returns a figure of this quantity with the value v and the quantity's kind.
func (q Quantity) Metric(v float64) Metric { return Metric{Quantity: q, Value: v, Kind: q.kind} }

// Exact returns a figure of this quantity with the value v, which was counted exactly.
func (q Quantity) Exact(v float64) Metric { return Metric{Quantity: q, Value: v, Kind: Exact} }

// Series returns a series of this quantity: one value for each interval.
func (q Quantity) Series(interval time.Duration, values []float64) Series {
	return Series{Name: q.name, Unit: q.unit, Interval: interval, Values: values}
}

// UnitOf returns the unit of the metric with the given name. If Quantities has no such metric, UnitOf returns the
// name.
func UnitOf(name string) string {
	if i := slices.IndexFunc(table, func(row Quantity) bool { return row.name == name }); i >= 0 {
		return table[i].unit
	}
	return name
}

// Quantities returns the table of metrics, in the order in which this package defines them. Quantities of stages, of
// classes of instructions and of precompiles are not in the table.
func Quantities() []Quantity { return slices.Clone(table) }

// Position returns the position of a quantity in the order of Quantities, for sorting. The times of stages come
// before the figures that workloads report. All other quantities that Quantities does not have come last.
func (q Quantity) Position() int {
	if q.group == Stages {
		return slices.IndexFunc(table, func(row Quantity) bool { return row.group == Others })
	}
	if i := slices.IndexFunc(table, func(row Quantity) bool { return row.name == q.name }); i >= 0 {
		return i
	}
	return len(table)
}

// metricJSON is the form of a metric in a file.
type metricJSON struct {
	Name  string  `json:"name"`
	Unit  string  `json:"unit"`
	Value float64 `json:"value"`
	Kind  Kind    `json:"kind"`
	Whose Whose   `json:"whose,omitempty"`
}

// MarshalJSON writes an object with the members "name", "unit", "value", "kind" and "whose".
func (m Metric) MarshalJSON() ([]byte, error) {
	return json.Marshal(metricJSON{m.name, m.unit, m.Value, m.Kind, m.Whose})
}

// UnmarshalJSON reads what MarshalJSON of this or another version writes. If Quantities does not have the metric, the
// Quantity of m has only what the JSON object says.
func (m *Metric) UnmarshalJSON(data []byte) error {
	var f metricJSON
	if err := json.Unmarshal(data, &f); err != nil {
		return err
	}
	*m = Reported(f.Name, f.Unit, f.Value, f.Kind).WithWhose(f.Whose)
	return nil
}

// measured reports whether zkbench itself writes figures of this quantity, whatever the workload is.
func (q Quantity) measured() bool {
	commands := []Quantity{Capacity, CapacityLow, CapacityHigh, LeakT, FieldMuls, GroupOps, Statements}
	return q.group != Others || slices.Contains(commands, q)
}

// printable reports whether text can be a name or a unit.
func printable(text string) bool {
	return text != "" && len(text) <= 100 && utf8.ValidString(text) && !strings.ContainsFunc(text, func(r rune) bool { return !unicode.IsPrint(r) })
}

// CheckStage returns zkbench.ErrParams if the name of a stage is empty, longer than 100 bytes, or not printable.
func CheckStage(name string) error {
	if !printable(name) {
		return fmt.Errorf("%w: stage %q; accepted: a printable name of up to 100 bytes", zkbench.ErrParams, name)
	}
	return nil
}

// CheckReported checks a figure that an external workload reports. It returns zkbench.ErrParams if v is not finite,
// if zkbench measures a figure with that name itself, or if the name or the unit is empty, longer than 100 bytes, or
// not printable.
func CheckReported(name, unit string, v float64) error {
	i := slices.IndexFunc(table, func(row Quantity) bool { return row.name == name })
	switch {
	case !printable(name) || !printable(unit):
		return fmt.Errorf("%w: figure %q in %q; accepted: a printable name and unit, of up to 100 bytes each", zkbench.ErrParams, name, unit)
	case i >= 0 && table[i].measured(), strings.HasPrefix(name, stagePrefix):
		return fmt.Errorf("%w: figure %s: zkbench measures it itself; accepted: another name", zkbench.ErrParams, name)
	case math.IsNaN(v) || math.IsInf(v, 0):
		return fmt.Errorf("%w: figure %s: %v is not accepted; accepted: a number", zkbench.ErrParams, name, v)
	}
	return nil
}

// Reported returns a figure that another program or an external workload has reported. If Quantities has a metric
// with that name, the figure belongs to that quantity, but is in the given unit.
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
		meaning := "Varies with the machine and from run to run"
		if kind == Exact {
			meaning = "Exact: the same on every machine"
		}
		m.Quantity = Quantity{name: name, unit: unit, kind: kind, better: BetterOf(unit), group: Others, label: name, meaning: meaning}
	}
	m.unit = unit
	return m
}
