package page

import (
	"fmt"
	"hash/fnv"
	"slices"
	"strings"

	"github.com/zkbench/zkbench/internal/result/env"
	"github.com/zkbench/zkbench/internal/result/record"
)

// group is the repetitions of one case.
type group struct {
	id      string
	env     int
	cpus    int
	staged  bool
	all     []*record.Record
	status  record.Status
	counted []*record.Record // those that the figures are of
}

// group puts the records of each case together, in the order of the first ones, and
// lists the environments.
func (v *view) group(records []*record.Record) []*group {
	var groups []*group
	byID := make(map[string]*group)
	var all env.Distinct
	for _, r := range records {
		e := all.Index(r.Env)
		if r.Status == record.Failed {
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

// first stands for the case.
func (g *group) first() *record.Record { return g.counted[0] }

// count takes the case's status, which is the worst of the repetitions', and the
// records that its figures are of: those that ended well or, where none did, those
// that were stopped, or at last those that failed.
func (g *group) count() {
	for _, s := range []record.Status{record.Failed, record.Partial, record.OK} {
		with := slices.DeleteFunc(slices.Clone(g.all), func(r *record.Record) bool { return r.Status != s })
		if len(with) == 0 {
			continue
		}
		if g.status == "" {
			g.status = s
		}
		g.counted = with
	}
	if g.counted == nil { // a status that is not known
		g.status, g.counted = g.all[0].Status, g.all
	}
}

// records names the records that the figures are of.
func (g *group) records() string {
	ids := []string{g.id}
	for _, r := range g.counted {
		ids = append(ids, r.ID)
	}
	return strings.Join(ids, "\x00")
}

// metrics are the record's figures and those that are made of its stages. Memory and processor
// time of one stage are not the case's.
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
