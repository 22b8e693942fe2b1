package compare

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/result/stat"
)

// Gate is a rule that says which rows of a table fail: those whose figure has become worse by more
// than Limit. Exact figures are always judged, and fail if they grow at all. The counts of what an
// operation executes (see Executed) are an exception: they change with every edit of the code, so
// they may grow up to Limit. Other figures are judged if DefaultGated or Metrics contains their
// metric.
type Gate struct {
	Limit      float64      // relative: 0.03 is 3 %
	Metrics    []string     // metrics to gate in addition to DefaultGated
	Only       string       // the only metric to gate; empty: those above
	AllowBlind bool         // underpowered rows (Row.Blind) pass, and the table says so
	Accepted   []Acceptance // growth of exact rows that passes, and the table says so
}

// GateAccepted tells the user which texts ParseLimit accepts.
const GateAccepted = "a change in per cent or as a fraction, for example 3% or 0.03, from 0 to 100%"

// ParseLimit parses a limit such as 3% or 0.03. It returns an *argument.ValueError if text is not a
// limit.
func ParseLimit(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	limit, err := strconv.ParseFloat(strings.TrimSpace(number), 64)
	if percent {
		limit /= 100
	}
	if err != nil || !(limit >= 0 && limit <= 1) {
		return 0, &argument.ValueError{Field: "gate", Value: text, Accepted: GateAccepted}
	}
	return limit, nil
}

// DefaultGated returns the names of the timed metrics that every gate judges. For the output of
// `go test -bench`, the metrics are units, such as ns/op; a gate also judges the time of an operation
// in another unit, such as s/op.
func DefaultGated() []string {
	return []string{
		record.LatencyMin.Name(), record.LatencyMean.Name(), record.LatencyP50.Name(), record.Throughput.Name(), record.CPUTime.Name(), record.RunTime.Name(),
		"ns/op", "ops/s",
	}
}

// timeOfOperation reports whether a metric of benchmark output, whose name is its unit, is the time of an operation in
// any unit of time, for example s/op.
func timeOfOperation(metric string) bool {
	_, per, isTime := record.TimeUnit(metric)
	return isTime && per == "/op" && !strings.Contains(metric, "-")
}

// Outcome is the result of applying a gate.
type Outcome struct {
	Tripped []Row  // rows that fail the gate
	Timed   []Row  // rows that the gate judges by their intervals
	Blind   []Row  // gated rows that are underpowered (Row.Blind)
	Lost    []Only // cases and gated metrics that the new side lacks
}

// Apply judges the rows of t. It sets Row.Tripped in rows that fail the gate, and Row.Blind in rows
// that are too noisy to be judged. A gate without anything to judge would always pass. Therefore
// Apply returns an *argument.ValueError if g names a metric that no row has, and zkbench.ErrEnv if
// t has rows but g judges none of them.
func (g Gate) Apply(t *Table) (Outcome, error) {
	metrics, flag := g.Metrics, "gate-metrics"
	if g.Only != "" {
		metrics, flag = []string{g.Only}, "metric"
	}
	for _, name := range metrics {
		var names []string
		for _, r := range t.Rows {
			if !slices.Contains(names, r.Metric) {
				names = append(names, r.Metric)
			}
		}
		if !slices.Contains(names, name) {
			return Outcome{}, &argument.ValueError{Field: flag, Value: name, Near: argument.Near(name, names), Accepted: strings.Join(names, ", ")}
		}
	}
	t.Gate = &g
	gated := append(DefaultGated(), g.Metrics...)
	if g.Only != "" {
		gated = metrics
	}
	var out Outcome
	judged := 0
	for i := range t.Rows {
		r := &t.Rows[i]
		switch {
		case g.Only != "" && r.Metric != g.Only:
			continue
		case r.Exact:
			i := slices.IndexFunc(g.Accepted, func(a Acceptance) bool { return a.accepts(r) })
			some := Executed(r.Metric) || g.Only != "" // growth up to the limit passes
			worse := r.worse() && (!some || math.Abs(r.Change) > g.Limit)
			if r.Tripped = worse && i < 0; worse && i >= 0 {
				r.Accepted = g.Accepted[i].Reason
			}
		case !r.gated && !slices.Contains(gated, r.Metric) && (g.Only != "" || !timeOfOperation(r.Metric)):
			continue
		default:
			out.Timed = append(out.Timed, *r)
			r.Tripped = stat.Tripped(r.Effect, r.Floor, g.Limit, r.Better)
			r.Blind = stat.Underpowered(r.Effect, r.Floor, g.Limit, r.Better)
		}
		judged++
		r.judged = true
		if r.Tripped {
			out.Tripped = append(out.Tripped, *r)
		}
		if r.Blind {
			out.Blind = append(out.Blind, *r)
		}
	}
	for _, o := range t.Only {
		isGated := g.Only == "" && (o.Metric == "" || o.exact || timeOfOperation(o.Metric)) || slices.Contains(gated, o.Metric)
		if o.Side == stat.Old && isGated {
			out.Lost = append(out.Lost, o)
		}
	}
	t.lost = len(out.Lost) > 0
	if judged == 0 && len(t.Rows) > 0 { // if everything is new, no row is gated
		return out, fmt.Errorf("%w: the gate has no row to judge; accepted: exact metrics, %s, another time per operation such as s/op, or --gate-metrics",
			zkbench.ErrEnv, strings.Join(DefaultGated(), ", "))
	}
	return out, nil
}

// Percent returns the limit as a percentage, for example "3 %".
func (g Gate) Percent() string { return format.Exact(100*g.Limit) + " %" }

// atLeast says by how much a figure that fails the gate is worse, for a sentence.
func (g Gate) atLeast() string {
	if g.Limit == 0 {
		return ""
	}
	return " by " + g.Percent() + " or more"
}

// Name returns the row's metric and its change. If the verdict is Unknown, Name returns the metric
// and the reason. If the relative change is infinite, Name returns the metric and both values.
func (r Row) Name() string {
	switch {
	case r.Verdict == Unknown:
		return fmt.Sprintf("%s (%s)", r.Metric, r.Why)
	case math.IsInf(r.Change, 0):
		return fmt.Sprintf("%s from %s to %s", r.Metric, format.Exact(r.Old), format.Exact(r.New))
	}
	return r.Metric + " " + format.Change(r.Change)
}
