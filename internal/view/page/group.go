package page

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/zkbench/zkbench/internal/result/env"
	"github.com/zkbench/zkbench/internal/result/record"
)

// group holds the repetitions of one case.
type group struct {
	id      string
	env     int
	cpus    int
	staged  bool
	all     []*record.Record
	status  string           // the worst outcome of the records (record.Outcome)
	counted []*record.Record // the records that the figures are from

	coordinates record.Axes // set by peers: without processors and workers
}

// group groups the records by case, in the order of their first records, and sets
// v.Environments and v.Failed.
func (v *view) group(records []*record.Record) []*group {
	var groups []*group
	byID := make(map[string]*group)
	var all env.Distinct
	for _, r := range records {
		e := all.Index(r.Env)
		if r.Outcome() == record.Outcome(record.Failed) {
			v.Failed++
		}
		id := fnv.New64a()
		fmt.Fprintf(id, "%d\x00%s\x00%s\x00%d\x00%s", e, r.Workload, r.Case, r.Processors(), r.Process.Side)
		key := fmt.Sprintf("%016x", id.Sum64())
		g := byID[key]
		if g == nil {
			g = &group{id: key, env: e, cpus: r.Processors(), staged: r.Staged()}
			byID[key] = g
			groups = append(groups, g)
		}
		g.all = append(g.all, r)
	}
	v.Environments = environments(all)
	for _, g := range groups {
		g.count()
	}
	return groups
}

// first returns the record that represents the case.
func (g *group) first() *record.Record { return g.counted[0] }

// count sets the case's status, which is the worst of its repetitions, and the records
// that its figures are from: those that are ok or, if there are none, the partial
// ones, or else those that were refused or failed.
func (g *group) count() {
	for _, s := range []record.Outcome{
		record.Outcome(record.Failed), record.WasRefused, record.WasTooLarge, record.Outcome(record.Partial), record.Outcome(record.OK),
	} {
		with := slices.DeleteFunc(slices.Clone(g.all), func(r *record.Record) bool { return r.Outcome() != s })
		if len(with) == 0 {
			continue
		}
		if g.status == "" {
			g.status = string(s)
		}
		g.counted = with
	}
	if g.counted == nil { // only unknown statuses
		g.status, g.counted = string(g.all[0].Status), g.all
	}
}

// records returns a key for the set of records that the figures are from.
func (g *group) records() string {
	ids := []string{g.id}
	for _, r := range g.counted {
		ids = append(ids, r.ID)
	}
	return strings.Join(ids, "\x00")
}

// metrics returns the record's finite metrics. For a record of stages it adds the sizes of the
// stages and the peak memory of all, but not the memory and processor time of a single stage.
func metrics(r *record.Record) []record.Metric {
	all := slices.DeleteFunc(slices.Clone(r.Metrics), func(m record.Metric) bool { return !finite(m.Value) })
	if !r.Staged() {
		return all
	}
	has := func(name string) bool {
		return slices.ContainsFunc(all, func(have record.Metric) bool { return have.Name() == name })
	}
	for _, s := range r.Stages {
		for _, m := range s.Sizes {
			if !m.OfAProcess() && !has(m.Name()) && finite(m.Value) {
				all = append(all, m)
			}
		}
	}
	if peak, ok := r.PeakMemory(); ok && !has(peak.Name()) {
		all = append(all, peak)
	}
	return all
}
