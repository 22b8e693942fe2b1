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

// Gate is the largest change for the worse that is let pass. Exact figures are
// always held against it: any growth trips it, but of the counts of what an operation
// executes, which move with every edit, only growth beyond the limit. Of the others, those
// of DefaultGated are held against it, and those that Metrics names.
type Gate struct {
	Limit      float64      // relative: 0.03 is 3 %
	Metrics    []string     // beyond the default ones
	Only       string       // the one metric that is held against the gate; empty: those above
	AllowBlind bool         // rows that could not have shown such a change pass, and the table says so
	Accepted   []Acceptance // growth of exact rows that passes, and the table says so
}

// GateAccepted says in words what ParseLimit takes.
const GateAccepted = "a change in per cent or as a fraction, for example 3% or 0.03, from 0 to 100%"

// ParseLimit reads 3% or 0.03. The error is a *argument.ValueError.
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

// DefaultGated are the timed metrics that a gate always judges: of records, and
// by their units of benchmark output.
func DefaultGated() []string {
	return []string{
		record.LatencyMin.Name(), record.LatencyMean.Name(), record.LatencyP50.Name(), record.Throughput.Name(), record.CPUTime.Name(), record.RunTime.Name(),
		"ns/op", "ops/s",
	}
}

// Outcome is what a gate found.
type Outcome struct {
	Tripped []Row  // for the worse, beyond the gate
	Blind   []Row  // held against the gate, and could not have shown a change as large
	Lost    []Only // cases, and metrics that would be held, that the new side lacks
}

// Apply holds the gate against the rows, and marks those that trip it and those that are
// too noisy to be judged. A gate that
// nothing is held against would always stand open: a metric in Metrics that no
// row has is a *argument.ValueError, a table without a row to hold a
// zkbench.ErrEnv.
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
			return Outcome{}, &argument.ValueError{Field: flag, Value: name, Accepted: strings.Join(names, ", ")}
		}
	}
	t.Gate = &g
	gated := append(DefaultGated(), g.Metrics...)
	if g.Only != "" {
		gated = metrics
	}
	var out Outcome
	held := 0
	for i := range t.Rows {
		r := &t.Rows[i]
		switch {
		case g.Only != "" && r.Metric != g.Only:
			continue
		case r.Exact:
			i := slices.IndexFunc(g.Accepted, func(a Acceptance) bool { return a.accepts(r) })
			some := Executed(r.Metric) || g.Only != "" // growth that passes
			worse := r.worse() && (!some || math.Abs(r.Change) > g.Limit)
			if r.Tripped = worse && i < 0; worse && i >= 0 {
				r.Accepted = g.Accepted[i].Reason
			}
		case !r.held && !slices.Contains(gated, r.Metric):
			continue
		default:
			r.Tripped = stat.Tripped(r.Effect, r.Floor, g.Limit, r.Better)
			r.Blind = stat.Underpowered(r.Effect, r.Floor, g.Limit, r.Better)
		}
		held++
		if r.Tripped {
			out.Tripped = append(out.Tripped, *r)
		}
		if r.Blind {
			out.Blind = append(out.Blind, *r)
		}
	}
	for _, o := range t.Only {
		held := o.Metric == "" && g.Only == "" || o.exact && g.Only == "" || slices.Contains(gated, o.Metric)
		if o.Side == stat.Old && held {
			out.Lost = append(out.Lost, o)
		}
	}
	if held == 0 && len(t.Rows) > 0 { // where all is new there is none to hold
		return out, fmt.Errorf("%w: no row to hold against the gate; accepted: exact metrics, %s, or --gate-metrics",
			zkbench.ErrEnv, strings.Join(DefaultGated(), ", "))
	}
	return out, nil
}

// Percent is the limit in words.
func (g Gate) Percent() string { return format.Exact(100*g.Limit) + " %" }

// Name is the row's metric and what it shows.
func (r Row) Name() string {
	switch {
	case r.Verdict == Unknown:
		return fmt.Sprintf("%s (%s)", r.Metric, r.Why)
	case math.IsInf(r.Change, 0):
		return fmt.Sprintf("%s from %s to %s", r.Metric, format.Exact(r.Old), format.Exact(r.New))
	}
	return r.Metric + " " + format.Change(r.Change)
}
