// Package record defines the result record: everything that is known about one measured case, as one line of
// JSON. Text, tables and plots are views of records.
//
// A record has a schema number. Within a schema, fields are only added, and readers ignore fields that they do
// not know. Readers refuse records of another schema, so that no figure is read with the wrong meaning.
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

// Schema is the schema number that this package writes and reads.
const Schema = 1

// Status says how a case ended.
type Status string

// The statuses of a case.
const (
	OK      Status = "ok"      // ran to its end; every operation and check passed
	Failed  Status = "failed"  // an operation, a check or the set-up failed
	Partial Status = "partial" // stopped before its end
)

// Kind separates figures that repeat exactly from those that vary with the machine and from run to run.
type Kind string

// The kinds of figures.
const (
	Exact Kind = "exact"
	Timed Kind = "timed"
)

// Record is the result of measuring one case once. Empty slices are absent in JSON.
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
	Settings   json.RawMessage `json:"settings,omitempty"` // how it was measured: the load runner's settings
	Status     Status          `json:"status"`
	Error      string          `json:"error,omitempty"`
	Metrics    []Metric        `json:"metrics,omitempty"`
	Histograms []Histogram     `json:"histograms,omitempty"`
	Series     []Series        `json:"series,omitempty"`
	Stages     []Stage         `json:"stages,omitempty"`
	Counters   []Counter       `json:"counters,omitempty"`
	Unfinished []Unfinished    `json:"unfinished,omitempty"` // operations that were still running at the end, oldest first
	Findings   []Finding       `json:"findings,omitempty"`
	Output     string          `json:"output,omitempty"`     // figures that a process printed itself, in the Go benchmark format
	Properties *Properties     `json:"properties,omitempty"` // of the proof system that was measured

	// Percentiles names the definition of the percentiles among the metrics (NearestRank). When a record with another
	// definition is read, its percentiles are computed again from its histograms.
	Percentiles string `json:"percentiles,omitempty"`
}

// Process identifies a record's process within a session. The unit of replication of a comparison is the process, not
// the operation.
type Process struct {
	Session string `json:"session,omitempty"`
	Side    string `json:"side,omitempty"`  // side of a comparison
	Index   int    `json:"index,omitempty"` // index of the process within its side
	Plan    Plan   `json:"plan,omitzero"`   // of its session, if one had been made when the process ran
}

// Plan says after how many pairs of processes a session is judged (see stat.Looks). Its zero value is no plan: the session
// is judged once, at its end.
type Plan struct {
	First int `json:"first"` // pairs before it is judged for the first time
	Most  int `json:"most"`  // pairs after which it ends
}

// Metric is one figure. In JSON it is an object with the members "name", "unit", "value", "kind" and "whose".
type Metric struct {
	Quantity
	Value float64
	Kind  Kind
	Whose Whose // whose memory or time it is; empty: not of a process, or from a record of an earlier version
}

// Series holds the values of a figure over the time of the window. Values[i] is for the time from i·Interval to
// (i+1)·Interval after the window opened. The window's end may shorten the last interval; rates then use its actual
// length.
type Series struct {
	Name     string        `json:"name"` // that of the metric, if there is one
	Unit     string        `json:"unit"`
	Interval time.Duration `json:"interval"` // ns
	Values   []float64     `json:"values"`
}

// Stage is the time and memory of a named part of the run, for example set-up or window. Figures that the
// platform does not report are 0.
type Stage struct {
	Name      string        `json:"name"`
	Time      time.Duration `json:"time"`                // ns
	Whose     Whose         `json:"whose,omitempty"`     // the process whose memory it is
	PeakRSS   uint64        `json:"peak-rss,omitempty"`  // B, maximum resident set in the stage
	Allocated uint64        `json:"allocated,omitempty"` // B, allocated on the heap in the stage
	Sizes     []Metric      `json:"sizes,omitempty"`     // sizes of its results, for example B/key

	// Predicted, if set, says from what Time was computed, for a number of processors that did not take part.
	Predicted *Prediction `json:"predicted,omitempty"`
}

// Prediction is what a stage's time on several processors was computed from: a recording of its tasks on one processor.
// All times are in ns.
type Prediction struct {
	CPUs    int           `json:"cpus"`
	Work    time.Duration `json:"work"`    // of all tasks together
	Span    time.Duration `json:"span"`    // of the longest chain of tasks of which each waits for the one before
	Longest time.Duration `json:"longest"` // of the longest task
	Alone   time.Duration `json:"alone"`   // in which one processor was busy and no other
	Places  []Place       `json:"places,omitempty"`
}

// Place is a place of the program at which one processor was busy and no other, and for how long: the places of a
// Prediction with the longest times, the longest first.
type Place struct {
	Function string        `json:"function"`
	Lines    string        `json:"lines"`
	Time     time.Duration `json:"time"` // ns
}

// Unfinished is an operation that was still running when the run ended. Its age is a lower bound of its
// latency.
type Unfinished struct {
	Seq  uint64        `json:"seq"`
	Age  time.Duration `json:"age"`            // ns since it started
	Wait time.Duration `json:"wait,omitempty"` // ns that it waited before it started; open loop
}

// Counter is a count of events in the window, for example operations started.
type Counter struct {
	Name  string `json:"name"`
	Value uint64 `json:"value"`
}

// Finding is an observation that readers of the figures must know, with its evidence.
type Finding struct {
	Name string `json:"name"`
	Text string `json:"text"`
}

// Env describes the machine and the build with which a record was measured. Fields that the platform does not
// report are empty.
type Env struct {
	Host       string            `json:"host,omitempty"` // the user's name for it, in a suite with several hosts; figures of two hosts are never combined
	OS         string            `json:"os"`
	Arch       string            `json:"arch"`
	CPU        string            `json:"cpu,omitempty"`
	Vector     []string          `json:"vector,omitempty"` // vector extensions of the processor
	Path       string            `json:"path"`             // the field arithmetic used: avx512, adx, neon or portable
	Cores      int               `json:"cores"`            // logical processors that the process may use
	GOMAXPROCS int               `json:"gomaxprocs"`
	Quota      float64           `json:"quota,omitempty"` // cgroup limit in processors; 0: none known
	Governor   string            `json:"governor,omitempty"`
	Kernel     string            `json:"kernel,omitempty"`
	Memory     uint64            `json:"memory,omitempty"` // B, the machine's, or the control group's limit if that is less
	Go         string            `json:"go"`
	Modules    map[string]string `json:"modules,omitempty"` // version per module path
	Commit     string            `json:"commit,omitempty"`
	GOGC       int64             `json:"gogc"`       // per cent; -1: off
	GOMEMLIMIT int64             `json:"gomemlimit"` // bytes; -1: none
}

// New returns a record with the current time and a new random id.
func New() *Record {
	return &Record{Schema: Schema, ID: rand.Text(), Time: time.Now().UTC(), Status: OK, Percentiles: NearestRank}
}

// Name returns the workload and the case, joined by a slash.
func (r *Record) Name() string {
	if r.Case == "" {
		return r.Workload
	}
	return r.Workload + "/" + r.Case
}

// find returns the first element of all for which matches is true.
func find[T any](all []T, matches func(T) bool) (found T, ok bool) {
	i := slices.IndexFunc(all, matches)
	if i < 0 {
		return found, false
	}
	return all[i], true
}

// Metric returns the record's metric of a quantity.
func (r *Record) Metric(q Quantity) (Metric, bool) { return r.MetricNamed(q.name) }

// MetricNamed returns the metric with the given name, which may be one that only a newer version or another
// program writes.
func (r *Record) MetricNamed(name string) (Metric, bool) {
	return find(r.Metrics, func(m Metric) bool { return m.name == name })
}

// Value returns the value of the record's metric of a quantity, or 0 if there is none.
func (r *Record) Value(q Quantity) float64 {
	m, _ := r.Metric(q)
	return m.Value
}

// Counter returns the counter with the given name.
func (r *Record) Counter(name string) (Counter, bool) {
	return find(r.Counters, func(c Counter) bool { return c.Name == name })
}

// Count returns the value of the counter with the given name, or 0 if there is none.
func (r *Record) Count(name string) uint64 {
	c, _ := r.Counter(name)
	return c.Value
}

// Refused reports whether the runner refused the case. If it did, running the case again with the same settings does
// not help.
func (r *Record) Refused() bool { return r.Found(Refused) }

// TooLarge reports whether the case was refused because of its size. Such a case needs more memory than there is, or
// a domain of more than srs.MaxSize points.
func (r *Record) TooLarge() bool {
	limit := zkbench.ErrLimit.Error()
	return r.Status == Failed && (strings.Contains(r.Error, limit+": bytes of memory") || strings.Contains(r.Error, limit+": points of the domain"))
}

// Outcome says how a case ended, in more words than Status: a case that was refused did not fail.
type Outcome string

// The outcomes of cases that were refused. Other cases have their Status as the outcome.
const (
	WasRefused  Outcome = "refused"   // its settings do not go together
	WasTooLarge Outcome = "too large" // it needs more than this machine or a limit allows
)

// Outcome returns how the case ended: WasTooLarge or WasRefused if it was refused, else its status.
func (r *Record) Outcome() Outcome {
	switch {
	case r.TooLarge():
		return WasTooLarge
	case r.Status == Failed && r.Refused():
		return WasRefused
	}
	return Outcome(r.Status)
}

// OnPurpose reports whether the outcome is a refusal, which is not a failure.
func (o Outcome) OnPurpose() bool { return o == WasRefused || o == WasTooLarge }

// Found reports whether the record has a finding with the given name.
func (r *Record) Found(name string) bool {
	return slices.ContainsFunc(r.Findings, func(f Finding) bool { return f.Name == name })
}

// Disturbance returns a sentence that says how many of the records did not have the machine to themselves, with the
// evidence of the first of these records. It returns "" if every record had the machine to itself.
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

// WorkloadID converts the name of a workload to the name that it has on the command line, in kebab case. For example,
// it returns "transfer-proof-generation" for "TransferProofGeneration".
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

// Histogram returns the histogram with the given name.
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
	SideKey     = "side"    // side of a comparison, or part of a study; Coordinates adds it
)

// Values of the axis ExecutorKey.
const (
	Serial = "serial" // each operation runs on one goroutine
	Pool   = "pool"   // the pieces of an operation run on all processors

	// Predicted: the pieces were recorded on one processor, and the times are computed for the number in the axis CPUsKey.
	Predicted = "predicted"
)

// Measured returns the records whose times were measured, and the number of the others, whose times were predicted.
func Measured(recs []*Record) (measured []*Record, predicted int) {
	for _, r := range recs {
		if exec, _ := r.Axes.Get(ExecutorKey); exec != Predicted {
			measured = append(measured, r)
		}
	}
	return measured, len(recs) - len(measured)
}

// Processors returns the number of processors that the case could use: the value of its axis CPUsKey, or GOMAXPROCS
// if the case has no such axis.
func (r *Record) Processors() int {
	if text, ok := r.Axes.Get(CPUsKey); ok {
		if n, err := strconv.Atoi(text); err == nil {
			return n
		}
	}
	return r.Env.GOMAXPROCS
}

// Coordinates returns the axes of the case except the number of processors. If the record belongs to a comparison,
// Coordinates appends an axis that says which side of the comparison it is, for example side=old.
func (r *Record) Coordinates() Axes {
	axes := r.Axes.Without(CPUsKey)
	if r.Process.Side != "" {
		axes = append(axes, Axis{SideKey, r.Process.Side})
	}
	return axes
}

// Staged reports whether the record is of a case with stages, and not of a load test. The record of a case with
// stages has no throughput, and its settings have no workers.
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

// Names of histograms, counters and findings that the load runner writes beside metrics.
const (
	// Names of histograms, whose values are in ns.
	HistLatency  = "latency"  // service time, one value per successful operation
	HistResponse = "response" // the same operations from their intended start; open loop
	HistWait     = "wait"     // the time between both starts; open loop
	HistError    = "error"    // service time of failed operations
	HistInput    = "input"    // one value per input that an operation built for itself
	// HistClassPrefix is the prefix of a histogram's name. Each class of a mix of operations has a histogram with the
	// name latency/<class>.
	HistClassPrefix = HistLatency + "/"

	// Names of counters, in operations. offered = started + dropped + never-started, and
	// started = done + failed + unfinished.
	CountOffered      = "offered"       // operations whose intended start was in the window
	CountDropped      = "dropped"       // arrived when the queue was full
	CountNeverStarted = "never-started" // still queued when the window closed
	CountStarted      = "started"
	CountDone         = "done"
	CountFailed       = "failed"
	CountUnfinished   = "unfinished"
	CountLate         = "late"         // part of done: ended after the window, within the grace period
	CountCarried      = "carried"      // of the warm-up: begun or due before the window, and successfully ended in it; counts only for throughput
	CountChecked      = "checked"      // part of done: results checked after the window
	CountCheckFails   = "check-failed" // part of checked
	CountLeakFixed    = "leak-fixed"   // samples of a leak test with the fixed witness
	CountLeakRandom   = "leak-random"  // and with random ones
	CountArena        = "arena"        // B, reserved for results that wait for their check

	// Names of counters of the operations that the probe and the warm-up began.
	CountWarmup        = "warmup"              // ended before the window
	CountWarmupFailed  = "warmup-failed"       // failed, whenever they ended
	CountWarmupChecked = "warmup-checked"      // results checked after the window
	CountWarmupBad     = "warmup-check-failed" // part of warmup-checked

	// Refused is the finding for a case that the runner refused because its settings are wrong. This is the
	// user's error, not the operation's.
	Refused = "refused"
	// PeakSampled is the finding for a memory peak that is only the largest of several samples.
	PeakSampled = "peak-sampled"
	// Disturbed is the finding for a case that did not have the machine to itself.
	Disturbed = "disturbed"

	// IdleProcessors is the finding for a case whose operations used fewer processors than it had.
	IdleProcessors = "idle processors"

	// FindingPredicted is the finding for a case whose times were computed, for processors that did not take part.
	FindingPredicted = "predicted"
)

// FindingUnpredicted is the finding for a stage whose time could not be computed from its tasks.
const FindingUnpredicted = "not predicted"

// OperationStage is the stage of a record of predicted times that has the workload's operation.
const OperationStage = "operation"

// Histogram is an HDR histogram in its compressed encoding V2, as base64. HdrHistogram libraries of all
// languages read this encoding.
type Histogram struct {
	Name string `json:"name"`
	Unit string `json:"unit"`
	HDR  string `json:"hdr"`

	// Parts has the same values in one histogram for each interval of the window, if they were recorded in this way.
	// Interval is the length of an interval. The part of an interval without values is "".
	Interval time.Duration `json:"interval,omitempty"` // ns
	Parts    []string      `json:"parts,omitempty"`
}

// EncodeHistogram returns h in its encoded form. The parameter unit is the unit of the values in h.
func EncodeHistogram(name, unit string, h *hdrhistogram.Histogram) (Histogram, error) {
	encoded, err := h.Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil {
		return Histogram{}, fmt.Errorf("encode histogram %s: %w", name, err)
	}
	return Histogram{Name: name, Unit: unit, HDR: string(encoded)}, nil
}

// Decode decodes the histogram. It returns a *zkbench.DecodeError if the encoding is malformed.
func (h Histogram) Decode() (*hdrhistogram.Histogram, error) {
	decoded, err := hdrhistogram.Decode([]byte(h.HDR))
	if err != nil {
		return nil, &zkbench.DecodeError{Path: "histograms." + h.Name, Reason: err.Error()}
	}
	return decoded, nil
}
