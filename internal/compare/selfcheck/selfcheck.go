// Package selfcheck checks that comparisons give right answers. It plants a change: the new side
// does a known amount of additional work, possibly none. It then runs sessions like those of
// `compare --git` and counts the wrong answers.
package selfcheck

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"time"

	"github.com/zkbench/zkbench/internal/compare"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/internal/workload/selfcheck"
)

// The parameters of a session. Sessions are short because there are many.
const (
	blocks = 30 // minimum
	window = 80 * time.Millisecond
	gate   = 0.03
	plain  = 1000 // work on the old side
)

// Answer is what the result of a session says about the planted change.
type Answer string

// The answers.
const (
	False     Answer = "a wrong verdict" // slower although nothing is planted, or faster at all
	Found     Answer = "found"           // slower in some row, faster in none
	Tripped   Answer = "beyond the gate"
	Unchanged Answer = "passed" // no row fails the gate or is too noisy for it
)

// given reports whether the session with this table gives the answer, if the new side does work.
func (a Answer) given(t *compare.Table, work int) bool {
	some := func(is func(r compare.Row) bool) bool { return slices.ContainsFunc(t.Rows, is) }
	gated := compare.DefaultGated()
	timed := func(verdict compare.Verdict) bool {
		return some(func(r compare.Row) bool { return r.Verdict == verdict && slices.Contains(gated, r.Metric) })
	}
	switch a {
	case False:
		return timed(compare.Faster) || work == plain && timed(compare.Slower)
	case Found:
		return timed(compare.Slower) && !timed(compare.Faster)
	case Tripped:
		return some(func(r compare.Row) bool { return r.Tripped })
	default:
		return !some(func(r compare.Row) bool { return r.Tripped || r.Blind })
	}
}

// Bound is a condition on a trial. The condition is Least ≤ n ≤ Most, where n is the number of the
// trial's sessions with the result Answer.
type Bound struct {
	Answer      Answer
	Least, Most int
}

// Trial is a group of sessions with the same planted change.
type Trial struct {
	Planted  float64 // additional work on the new side, relative
	Sessions int
	Bounds   []Bound
}

func (t Trial) String() string { return "planted " + format.Exact(100*t.Planted) + " %" }

// Trials returns the trials that a comparison must pass on a quiet machine or, if load is true, on
// a machine under load. Under load, a change as small as the limit of the gate may stay undetected,
// but a large change must not pass. If quick is true, the trials take a minute and can show only
// gross errors.
func Trials(load, quick bool) []Trial {
	const all = math.MaxInt
	switch {
	case quick:
		return []Trial{
			{0, 3, []Bound{{False, 0, 1}, {Tripped, 0, 0}}},
			{0.1, 2, []Bound{{Unchanged, 0, 0}}},
		}
	case load:
		return []Trial{
			{0, 40, []Bound{{False, 0, 3}, {Tripped, 0, 0}}},
			{0.03, 20, []Bound{{Found, 0, all}}},
			{0.1, 20, []Bound{{Unchanged, 0, 0}}},
		}
	}
	return []Trial{
		{0, 40, []Bound{{False, 0, 3}, {Tripped, 0, 0}, {Unchanged, 0, all}}},
		{0.03, 20, []Bound{{Found, 19, all}}},
		{0.06, 10, []Bound{{Tripped, 9, all}}},
		{0.1, 40, []Bound{{Unchanged, 0, 0}, {Found, 40, all}, {Tripped, 39, all}}},
	}
}

// Check says which trials to run, and how.
type Check struct {
	Trials []Trial
	Budget time.Duration // a session gets no further blocks after this time
	Load   bool          // keep every processor busy half of the time
	Seed   uint64        // of the order of processes; 0: it is drawn
	Run    func(context.Context, measure.Job) *record.Record
	Keep   func(*record.Record) error // receives every record; may be nil
	Log    io.Writer                  // receives a line for each session
}

// Result is the result of all trials of a Check.
type Result struct {
	Machine string        `json:"machine"`
	Load    bool          `json:"load"`
	Busy    string        `json:"disturbed,omitempty"` // says how many processes shared the machine with other work
	Counted bool          `json:"counted"`             // the platform reports the load of other processes
	Trials  []TrialResult `json:"trials"`
	// Spreads has, for each session, the relative standard deviation of the mean latency
	// between processes of the old program.
	Spreads []float64 `json:"spreads"`
}

// TrialResult is the result of a trial's sessions.
type TrialResult struct {
	Planted  float64       `json:"planted"` // relative
	Sessions []Session     `json:"sessions"`
	Counts   []AnswerCount `json:"counts"`
}

// Session is the result of one session: the change of each timed metric.
type Session struct {
	Processes int                `json:"processes"`
	Changes   map[string]float64 `json:"changes"` // by metric, relative
	Sees      map[string]float64 `json:"sees"`    // minimum detectable effect by metric; absent: none
}

// AnswerCount says how many sessions of a trial had the result Answer, and how many may have it if
// the comparison works.
type AnswerCount struct {
	Answer Answer `json:"answer"`
	Count  int    `json:"count"`
	Bound  string `json:"bound,omitempty"`
	Missed bool   `json:"missed"`
}

// Measure runs the trials. It returns an error if ctx ends, if a session fails, or if c.Keep
// returns an error.
func (c *Check) Measure(ctx context.Context) (*Result, error) {
	if c.Load {
		stop := burn()
		defer stop()
	}
	res := &Result{Load: c.Load}
	var all []*record.Record
	for _, trial := range c.Trials {
		result := TrialResult{Planted: trial.Planted, Sessions: []Session{}}
		counts := make([]int, len(trial.Bounds))
		for i := range trial.Sessions {
			recs, table, err := c.session(ctx, trial, c.seed(len(all)))
			if ctx.Err() != nil {
				return nil, fmt.Errorf("session %d of %d of %s: %w", i+1, trial.Sessions, trial, ctx.Err())
			}
			if err != nil {
				return nil, fmt.Errorf("%s: %w", trial, err)
			}
			all = append(all, recs...)
			res.Spreads = append(res.Spreads, spread(recs))
			s := Session{Processes: len(recs), Changes: make(map[string]float64), Sees: make(map[string]float64)}
			for _, r := range table.Rows {
				if sees := r.Detectable(r.Floor); !r.Exact {
					s.Changes[r.Metric] = r.Change
					if !math.IsInf(sees, 0) {
						s.Sees[r.Metric] = sees
					}
				}
			}
			result.Sessions = append(result.Sessions, s)
			var given []Answer
			for j, b := range trial.Bounds {
				if b.Answer.given(table, trial.work()) {
					counts[j]++
					given = append(given, b.Answer)
				}
			}
			p50 := record.LatencyP50.Name()
			fmt.Fprintf(c.Log, "%s %d/%d: %d processes, P50 %s, sees %s: %v\n", trial, i+1, trial.Sessions, len(recs), format.Change(s.Changes[p50]), format.Change(s.Sees[p50]), given)
		}
		for j, b := range trial.Bounds {
			result.Counts = append(result.Counts, b.count(counts[j]))
		}
		res.Trials = append(res.Trials, result)
	}
	res.Busy = record.Disturbance(all)
	res.Counted = slices.ContainsFunc(all, func(r *record.Record) bool { _, counted := r.Metric(record.OthersShare); return counted })
	if len(all) > 0 {
		res.Machine = format.Machine(all[0].Env)
	}
	return res, nil
}

// count checks a number of answers against the bound.
func (b Bound) count(n int) AnswerCount {
	c := AnswerCount{Answer: b.Answer, Count: n, Missed: n < b.Least || n > b.Most}
	switch {
	case b.Least > 0:
		c.Bound = fmt.Sprintf("at least %d", b.Least)
	case b.Most < math.MaxInt:
		c.Bound = fmt.Sprintf("at most %d", b.Most)
	}
	return c
}

func (t Trial) work() int { return plain + int(math.Round(plain*t.Planted)) }

// seed returns the seed of a session that begins after the given number of records, or 0.
func (c *Check) seed(records int) uint64 {
	if c.Seed == 0 {
		return 0
	}
	return c.Seed + uint64(records)
}

// session runs and judges a session as compare --git does. The records of its new side, with the
// planted work, have the old side's case.
func (c *Check) session(ctx context.Context, trial Trial, seed uint64) ([]*record.Record, *compare.Table, error) {
	old, planted := job(plain), job(trial.work())
	session := compare.Session{
		Seed: seed,
		Run: func(ctx context.Context, side stat.Side) *record.Record {
			if side != stat.New {
				return c.Run(ctx, old)
			}
			rec := c.Run(ctx, planted)
			named := old.Case.With(measure.WorkersAxis().Key, strconv.Itoa(old.Settings.Workers))
			rec.Case, rec.Axes = named.String(), named.Axes()
			return rec
		},
		Each: c.Keep,
	}
	limit := compare.Gate{Limit: gate}
	recs, err := session.Judge(ctx, compare.Judging{Blocks: blocks, Gate: limit, Budget: c.Budget, Log: func(string) {}})
	if err != nil {
		return nil, nil, err
	}
	sides, err := compare.Split("session", recs)
	if err != nil {
		return nil, nil, err
	}
	table, err := compare.Compare(sides, false)
	if err == nil {
		_, err = limit.Apply(table)
	}
	return recs, table, err
}

func job(work int) measure.Job {
	c := workload.NewCase(record.Axis{Key: selfcheck.AxisKey, Value: strconv.Itoa(work)})
	return compare.NewJob(selfcheck.Def().Name, c, 1, window)
}

// spread returns the relative standard deviation of the mean latency between the old program's
// processes.
func spread(recs []*record.Record) float64 {
	var logs []float64
	for _, rec := range recs {
		if rec.Process.Side != string(stat.New) {
			logs = append(logs, math.Log(rec.Value(record.LatencyMean)))
		}
	}
	return stat.Deviation(logs)
}

// Text writes the result as a few lines of text and marks the bounds that were missed.
func (r *Result) Text(w io.Writer) error {
	fmt.Fprintf(w, "%s; %s\n", r.Machine, r.load())
	fmt.Fprintf(w, "sessions of %d blocks of 3 processes and more, windows of %v, intervals at %g %%\n", blocks, window, 100*compare.Confidence)
	for _, t := range r.Trials {
		for _, c := range t.Counts {
			bound := ""
			if c.Bound != "" {
				bound = " (" + c.Bound + ")"
			}
			if c.Missed {
				bound += ": MISSED"
			}
			fmt.Fprintf(w, "%-12s %2d of %d %s%s\n", Trial{Planted: t.Planted}, c.Count, len(t.Sessions), c.Answer, bound)
		}
	}
	_, err := fmt.Fprintf(w, "between processes of one program: standard deviation %.2f %% (median of %d sessions; %.2f to %.2f)\n",
		100*stat.Median(r.Spreads), len(r.Spreads), 100*slices.Min(r.Spreads), 100*slices.Max(r.Spreads))
	return err
}

// load says what else worked on the machine, as far as that was seen.
func (r *Result) load() string {
	load := "no load was added"
	if r.Load {
		load = "under load: every processor is kept busy half of the time"
	}
	switch {
	case r.Busy != "":
		return load + "; " + r.Busy
	case r.Counted:
		return load + ", and no process was disturbed"
	}
	return load + "; this platform does not report what else ran"
}

// JSON writes the result as one JSON object.
func (r *Result) JSON(w io.Writer) error {
	enc := json.NewEncoder(w)
	enc.SetIndent("", "  ")
	return enc.Encode(r)
}

// Missed returns a text for each bound that was missed.
func (r *Result) Missed() (missed []string) {
	for _, t := range r.Trials {
		for _, c := range t.Counts {
			if c.Missed {
				missed = append(missed, fmt.Sprintf("%s: %d of %d %s, %s needed", Trial{Planted: t.Planted}, c.Count, len(t.Sessions), c.Answer, c.Bound))
			}
		}
	}
	return missed
}
