// Package record is the result record: everything that one measured case
// leaves behind, as one line of JSON. Text, tables and plots are views of it.
//
// A record carries its schema number. Within a schema fields are only added,
// and a reader ignores fields that it does not know; a record of another schema
// is refused by name, so that a figure is never read with the wrong meaning.
package record

import (
	"crypto/rand"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/zkbench/zkbench"
)

// Schema is the number of the schema that this package writes and reads.
const Schema = 1

// Status says how a case ended.
type Status string

const (
	OK      Status = "ok"      // ran to its end; every operation and check passed
	Failed  Status = "failed"  // an operation, a check or the set-up failed
	Partial Status = "partial" // stopped before its end
)

// Kind separates figures that repeat exactly from those that vary with the
// machine and the moment.
type Kind string

const (
	Exact Kind = "exact"
	Timed Kind = "timed"
)

// Record is one case, measured once. Slices that are empty are absent in JSON.
type Record struct {
	Schema     int             `json:"schema"`
	ID         string          `json:"id"`
	Time       time.Time       `json:"time"`
	Workload   string          `json:"workload"` // name as in Benchmark<name>
	Case       string          `json:"case"`     // axes in one string, key=value/key=value
	Axes       Axes            `json:"axes"`
	Env        Env             `json:"env"`
	Seed       uint64          `json:"seed"`
	Process    Process         `json:"process"`
	Settings   json.RawMessage `json:"settings,omitempty"` // how it was measured, as the load runner was told
	Status     Status          `json:"status"`
	Error      string          `json:"error,omitempty"`
	Metrics    []Metric        `json:"metrics,omitempty"`
	Histograms []Histogram     `json:"histograms,omitempty"`
	Series     []Series        `json:"series,omitempty"`
	Stages     []Stage         `json:"stages,omitempty"`
	Counters   []Counter       `json:"counters,omitempty"`
	Unfinished []Unfinished    `json:"unfinished,omitempty"` // operations that still ran at the end, oldest first
	Findings   []Finding       `json:"findings,omitempty"`
	Output     string          `json:"output,omitempty"`     // what a process printed of its figures itself, in the Go benchmark format
	Properties *Properties     `json:"properties,omitempty"` // of the proof system that was measured

	// Percentiles is the definition of those among the metrics. Reading a record of another
	// one computes them anew from its histograms.
	Percentiles string `json:"percentiles,omitempty"`
}

// Process places a record in its session: which side of a comparison, and the
// how-manieth process of that side. Processes, not operations, are what a
// comparison replicates.
type Process struct {
	Session string `json:"session,omitempty"`
	Side    string `json:"side,omitempty"`
	Index   int    `json:"index,omitempty"`
}

// Metric is one figure. In JSON it is an object of name, unit, value, kind and whose.
type Metric struct {
	Quantity
	Value float64
	Kind  Kind
	Whose Whose // whose memory or time it is; empty: of no process, or a record of an earlier version
}

// Series is a figure over the window: Values[i] belongs to the time from
// i·Interval to (i+1)·Interval after the window opened. The last interval may be
// cut short by the window's end; rates are over the time that it lasted.
type Series struct {
	Name     string        `json:"name"` // that of the metric which it is of, where there is one
	Unit     string        `json:"unit"`
	Interval time.Duration `json:"interval"` // ns
	Values   []float64     `json:"values"`
}

// Stage is a named part of the whole, for example set-up or window: how long it
// took and what memory it needed. What the platform does not tell is 0.
type Stage struct {
	Name      string        `json:"name"`
	Time      time.Duration `json:"time"`                // ns
	Whose     Whose         `json:"whose,omitempty"`     // the process that the memory is of
	PeakRSS   uint64        `json:"peak-rss,omitempty"`  // B, greatest resident set within the stage
	Allocated uint64        `json:"allocated,omitempty"` // B, allocated on the heap within the stage
	Sizes     []Metric      `json:"sizes,omitempty"`     // what it made, for example B/key
}

// Unfinished is an operation that had started and not ended when the run did.
// Its age is a lower bound of its latency.
type Unfinished struct {
	Seq  uint64        `json:"seq"`
	Age  time.Duration `json:"age"`            // ns since it started
	Wait time.Duration `json:"wait,omitempty"` // ns that it had waited before; open loop
}

// Counter is a count of events in the window, for example operations started.
type Counter struct {
	Name  string `json:"name"`
	Value uint64 `json:"value"`
}

// Finding is an observation that a reader of the figures must know, with the
// evidence that raised it.
type Finding struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Env is the machine and the build that a record was measured with. Fields that
// the platform does not tell are empty.
type Env struct {
	Host       string            `json:"host,omitempty"` // as the user calls it, where a suite has several; figures of two are never put together
	OS         string            `json:"os"`
	Arch       string            `json:"arch"`
	CPU        string            `json:"cpu,omitempty"`
	Vector     []string          `json:"vector,omitempty"` // vector extensions of the processor
	Path       string            `json:"path"`             // field arithmetic that runs: avx512, adx, neon or portable
	Cores      int               `json:"cores"`            // logical processors that the process may use
	GOMAXPROCS int               `json:"gomaxprocs"`
	Quota      float64           `json:"quota,omitempty"` // cgroup limit in processors; 0: none known
	Governor   string            `json:"governor,omitempty"`
	Kernel     string            `json:"kernel,omitempty"`
	Memory     uint64            `json:"memory,omitempty"` // B, the machine's, or the control group's limit where that is less
	Go         string            `json:"go"`
	Modules    map[string]string `json:"modules,omitempty"` // version per module path
	Commit     string            `json:"commit,omitempty"`
	GOGC       int64             `json:"gogc"`       // per cent; -1: off
	GOMEMLIMIT int64             `json:"gomemlimit"` // bytes; -1: none
}

// New returns a record of the present moment with a fresh random id.
func New() *Record {
	return &Record{Schema: Schema, ID: rand.Text(), Time: time.Now().UTC(), Status: OK, Percentiles: NearestRank}
}

// Name is the workload with the case.
func (r *Record) Name() string {
	if r.Case == "" {
		return r.Workload
	}
	return r.Workload + "/" + r.Case
}

// find returns the first of all that is.
func find[T any](all []T, is func(T) bool) (found T, ok bool) {
	i := slices.IndexFunc(all, is)
	if i < 0 {
		return found, false
	}
	return all[i], true
}

// Metric returns the record's metric of a quantity.
func (r *Record) Metric(q Quantity) (Metric, bool) { return r.MetricNamed(q.name) }

// MetricNamed returns the metric of that name, which a newer or another program may have
// written.
func (r *Record) MetricNamed(name string) (Metric, bool) {
	return find(r.Metrics, func(m Metric) bool { return m.name == name })
}

// Value returns the value of the metric of a quantity, 0 where there is none.
func (r *Record) Value(q Quantity) float64 {
	m, _ := r.Metric(q)
	return m.Value
}

// Counter returns the counter of that name.
func (r *Record) Counter(name string) (Counter, bool) {
	return find(r.Counters, func(c Counter) bool { return c.Name == name })
}

// Count returns the count of that name, 0 where there is none.
func (r *Record) Count(name string) uint64 {
	c, _ := r.Counter(name)
	return c.Value
}

// Refused tells whether the runner did not accept the case, which trying again does not mend.
func (r *Record) Refused() bool { return r.Found(Refused) }

// TooLarge reports whether the case was refused because it needs more memory than there is, or a larger domain.
func (r *Record) TooLarge() bool {
	limit := zkbench.ErrLimit.Error()
	return r.Status == Failed && (strings.Contains(r.Error, limit+": bytes of memory") || strings.Contains(r.Error, limit+": points of the domain"))
}

// Found tells whether the record has a finding of that name.
func (r *Record) Found(name string) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Name == name })
}

// Disturbance says how many of the records did not have the machine to themselves, and what
// the first of them saw; empty where none was.
func Disturbance(recs []*Record) string {
	count, first := 0, ""
	for _, r := range recs {
		f, found := find(r.Findings, func(f Finding) bool { return f.Name == Disturbed })
		if !found {
			continue
		}
		if count++; first == "" {
			first = f.Text
		}
	}
	if count == 0 {
		return ""
	}
	return fmt.Sprintf("%d of %d processes were disturbed: %s", count, len(recs), first)
}

// WorkloadID returns the name on the command line of the workload with this name, in kebab case: transfer-proof-generation of
// TransferProofGeneration.
func WorkloadID(workload string) string {
	var b strings.Builder
	name := []rune(workload)
	for i, c := range name {
		startsWord := i > 0 && unicode.IsUpper(c) &&
			(!unicode.IsUpper(name[i-1]) || i+1 < len(name) && unicode.IsLower(name[i+1]))
		if startsWord {
			b.WriteByte('-')
		}
		b.WriteRune(unicode.ToLower(c))
	}
	return b.String()
}

// SeriesOf returns the series of a quantity.
func (r *Record) SeriesOf(q Quantity) (Series, bool) {
	return find(r.Series, func(s Series) bool { return s.Name == q.name })
}

// Histogram returns the histogram of that name.
func (r *Record) Histogram(name string) (Histogram, bool) {
	return find(r.Histograms, func(h Histogram) bool { return h.Name == name })
}

// Keys of the axes that mean the same in every workload, so that views and comparisons know them. All other axes are known to
// their workload only.
const (
	CPUsKey     = "cpus"    // processors that the case was given
	WorkersKey  = "workers" // workers of a load
	RateKey     = "rate"    // arrivals per second in an open loop
	ExecutorKey = "exec"    // how the pieces of one operation are scheduled
	StageKey    = "stage"   // of workloads whose operation is one stage of several
)

// Serial is the value of the axis ExecutorKey whose operations run on one goroutine.
const Serial = "serial"

// Processors is the number of processors that the case could use.
func (r *Record) Processors() int {
	if text, ok := r.Axes.Get(CPUsKey); ok {
		if n, err := strconv.Atoi(text); err == nil {
			return n
		}
	}
	return r.Env.GOMAXPROCS
}

// Coordinates returns what tells the case from others beside its number of processors: its
// other axes, and the side of a comparison.
func (r *Record) Coordinates() Axes {
	axes := r.Axes.Without(CPUsKey)
	if r.Process.Side != "" {
		axes = append(axes, Axis{"side", r.Process.Side})
	}
	return axes
}

// Staged tells a record of stages, which has no settings with workers, from one of a load.
func (r *Record) Staged() bool {
	var s struct {
		Workers int `json:"workers"`
	}
	if len(r.Settings) > 0 && json.Unmarshal(r.Settings, &s) != nil {
		return false
	}
	_, loaded := r.Metric(Throughput)
	return s.Workers == 0 && !loaded
}

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
	CountChecked      = "checked"      // results checked after the window, of done
	CountCheckFails   = "check-failed" // of checked
	CountLeakFixed    = "leak-fixed"   // samples of a leak test with the fixed witness
	CountLeakRandom   = "leak-random"  // and with random ones
	CountArena        = "arena"        // B, reserved for results that wait for their check

	// Of the operations that the probe and the warm-up began.
	CountWarmup        = "warmup"              // ended before the window
	CountWarmupFailed  = "warmup-failed"       // whenever they ended
	CountWarmupChecked = "warmup-checked"      // their results, after the window
	CountWarmupBad     = "warmup-check-failed" // of those

	// Refused is the finding of a case that the runner did not accept as it was asked
	// for: a user's error, not the operation's.
	Refused = "refused"
	// PeakSampled is the finding of a peak of memory that is the greatest of samples.
	PeakSampled = "peak-sampled"
	// Disturbed is the finding of a case that did not have the machine to itself.
	Disturbed = "disturbed"
)

// Histogram is an HDR histogram in its V2 compressed encoding, base64, which
// the HdrHistogram tools of every language read.
type Histogram struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
	HDR  string `json:"hdr"`

	// The same values interval by interval of the window, where they were kept so;
	// an interval without values is empty.
	Interval time.Duration `json:"interval,omitempty"` // ns
	Parts    []string      `json:"parts,omitempty"`
}

// EncodeHistogram encodes h, whose values are in unit.
func EncodeHistogram(name, unit string, h *hdrhistogram.Histogram) (Histogram, error) {
	encoded, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return Histogram{}, fmt.Errorf("encode histogram %s: %w", name, err)
	}
	return Histogram{Name: name, Unit: unit, HDR: string(encoded)}, nil
}

// Decode returns the histogram, or a *zkbench.DecodeError.
func (h Histogram) Decode() (*hdrhistogram.Histogram, error) {
	decoded, err := hdrhistogram.Decode([]byte(h.HDR))
	if err != nil {
		return nil, &zkbench.DecodeError{Path: "histograms." + h.Name, Reason: err.Error()}
	}
	return decoded, nil
}
