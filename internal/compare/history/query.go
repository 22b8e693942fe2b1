package history

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/result/record"
)

// Query says which metric to show, and which records to use.
type Query struct {
	Metric    string
	Workloads []string    // ids or names; none: all
	Case      record.Axes // values that a case must have; cpus is GOMAXPROCS if the case has no such axis
	Since     time.Time   // leave out sessions that began earlier
	Level     float64     // level of stat.Steps
}

const dateForm = "2006-01-02"

// Lines returns the lines that the query asks for, in the order in which their cases were first
// measured. It uses only records with status "ok", and uses a record once even if recs has it
// several times. It returns zkbench.ErrParams if no record has that status. If there are such
// records but none of them has the workload, case, metric or date that q asks for, Lines returns an
// *argument.ValueError that says which ones the records have.
func (q Query) Lines(recs []*record.Record) ([]Line, error) {
	ok := distinct(recs)
	if len(ok) == 0 {
		return nil, fmt.Errorf("%w: none of %d records is ok", zkbench.ErrParams, len(recs))
	}
	chosen, err := q.choose(ok)
	if err != nil {
		return nil, err
	}
	lines := collect(chosen, q.Metric, beginnings(ok))
	if len(lines) == 0 {
		return nil, &argument.ValueError{Field: "metric", Value: q.Metric, Accepted: listed(chosen, metrics)}
	}
	var last time.Time
	for i := range lines {
		l := &lines[i]
		if newest := l.Points[len(l.Points)-1].Time; newest.After(last) {
			last = newest
		}
		l.Points = slices.DeleteFunc(l.Points, func(p Point) bool { return p.Time.Before(q.Since) })
		l.findSteps(q.Level)
	}
	lines = slices.DeleteFunc(lines, func(l Line) bool { return len(l.Points) == 0 })
	if len(lines) == 0 {
		return nil, &argument.ValueError{Field: "since", Value: q.Since.Format(dateForm), Accepted: "dates up to " + last.UTC().Format(dateForm) + ", of the last session"}
	}
	return lines, nil
}

// distinct returns the records that are ok in order of time, each id once.
func distinct(recs []*record.Record) []*record.Record {
	var ok []*record.Record
	seen := make(map[string]bool)
	for _, r := range recs {
		if r.Status != record.OK || r.ID != "" && seen[r.ID] {
			continue
		}
		seen[r.ID] = true
		ok = append(ok, r)
	}
	slices.SortStableFunc(ok, func(a, b *record.Record) int { return a.Time.Compare(b.Time) })
	return ok
}

// choose returns the records of the workloads and cases that q asks for.
func (q Query) choose(recs []*record.Record) ([]*record.Record, error) {
	for _, w := range q.Workloads {
		if !slices.ContainsFunc(recs, func(r *record.Record) bool { return r.Workload == w || id(r) == w }) {
			return nil, &argument.ValueError{Field: "workload", Value: w, Accepted: listed(recs, func(r *record.Record) []string { return []string{id(r)} })}
		}
	}
	if len(q.Workloads) > 0 {
		recs = kept(recs, func(r *record.Record) bool {
			return slices.Contains(q.Workloads, r.Workload) || slices.Contains(q.Workloads, id(r))
		})
	}
	for _, x := range q.Case {
		matching := kept(recs, func(r *record.Record) bool { return coordinate(r, x.Key) == x.Value })
		if len(matching) == 0 {
			return nil, &argument.ValueError{Field: "case", Value: x.Key + "=" + x.Value, Accepted: coordinates(recs, x.Key)}
		}
		recs = matching
	}
	return recs, nil
}

// id returns the name of the record's workload on the command line.
func id(r *record.Record) string { return record.WorkloadID(r.Workload) }

func kept(recs []*record.Record, keep func(*record.Record) bool) []*record.Record {
	return slices.DeleteFunc(slices.Clone(recs), func(r *record.Record) bool { return !keep(r) })
}

func coordinate(r *record.Record, key string) string {
	v, ok := r.Axes.Get(key)
	if !ok && key == record.CPUsKey {
		return strconv.Itoa(r.Env.GOMAXPROCS)
	}
	return v
}

// coordinates lists the values of key or, if no record has key, the keys.
func coordinates(recs []*record.Record, key string) string {
	if values := listed(recs, func(r *record.Record) []string { return []string{coordinate(r, key)} }); values != "" {
		return key + " of " + values
	}
	return "key=value with a key of " + listed(recs, func(r *record.Record) []string {
		keys := []string{record.CPUsKey}
		for _, x := range r.Axes {
			keys = append(keys, x.Key)
		}
		return keys
	})
}

// listed joins the names that records have, each once and without the empty one.
func listed(recs []*record.Record, names func(*record.Record) []string) string {
	all := make(map[string]bool)
	for _, r := range recs {
		for _, name := range names(r) {
			all[name] = true
		}
	}
	delete(all, "")
	return strings.Join(slices.Sorted(maps.Keys(all)), ", ")
}

func metrics(r *record.Record) (names []string) {
	for _, m := range r.Metrics {
		names = append(names, m.Name())
	}
	return names
}
