package charts

import (
	"cmp"
	"slices"

	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/view/plot"
)

// maxBars bounds the bars of a chart.
const maxBars = 40

// environmentKey is the key of the axis that tells environments apart.
const environmentKey = "environment"

// sized is a case and the size of its proof.
type sized struct {
	axes  record.Axes
	bytes float64
}

// sizes draws the sizes of proofs, a bar for each case as far as the size depends on it;
// workloads whose proofs are the same share the bars.
func (a *album) sizes(groups []*group) {
	of := make(map[string][]sized)
	var workloads []string
	for _, g := range groups {
		for _, c := range slices.Concat(g.loads, g.stages) {
			i := slices.IndexFunc(c.recs[0].Metrics, func(m record.Metric) bool { return m.Kind == record.Exact && m.Unit() == record.ProofSize.Unit() })
			if i < 0 {
				continue
			}
			if of[g.workload] == nil {
				workloads = append(workloads, g.workload)
			}
			axes := append(slices.Clone(c.axes), record.Axis{Key: environmentKey, Value: cmp.Or(g.env.name, "environment 1")})
			of[g.workload] = append(of[g.workload], sized{axes, c.recs[0].Metrics[i].Value})
		}
	}
	var groupsOf []plot.BarGroup
	var about []string // by the group: what is common to its rows
	for _, name := range workloads {
		rows, common := sizeRows(of[name])
		i := 0
		for i < len(groupsOf) && !(about[i] == common && slices.Equal(groupsOf[i].Rows, rows)) {
			i++
		}
		if i < len(groupsOf) {
			groupsOf[i].Name += ", " + name
			continue
		}
		groupsOf, about = append(groupsOf, plot.BarGroup{Name: name, Rows: rows}), append(about, common)
	}
	for i, common := range about {
		if common != "" {
			groupsOf[i].Name += ": " + common
		}
	}
	pages := paged(groupsOf)
	for i, page := range pages {
		title := part("Sizes of proofs", i, len(pages))
		notes := []string{"exact; what a size does not depend on is not named"}
		a.add(title, &plot.Bars{Title: title, Notes: notes, Unit: "proof (B)", Groups: page})
	}
}

// sizeRows returns a bar for each size, named by the axes that it depends on, and what is
// common to all.
func sizeRows(all []sized) (rows []plot.Bar, common string) {
	keys := []string{record.ExecutorKey, record.WorkersKey, record.StageKey, environmentKey} // no size should depend on these
	ours := len(keys)
	for _, s := range all {
		for _, axis := range s.axes {
			if !slices.Contains(keys, axis.Key) {
				keys = append(keys, axis.Key)
			}
		}
	}
	var same, dropped []string
	for i, key := range keys {
		alike, independent := varies(all, key, dropped)
		switch {
		case alike:
			dropped = append(dropped, key)
			if i >= ours {
				same = append(same, key)
			}
		case independent:
			dropped = append(dropped, key)
		}
	}
	for _, s := range all {
		row := plot.Bar{Name: words(s.axes.Without(dropped...)), Value: s.bytes}
		if !slices.Contains(rows, row) {
			rows = append(rows, row)
		}
	}
	common = words(only(all[0].axes, same...))
	if len(rows) == 1 {
		rows[0].Name, common = common, ""
	}
	return rows, common
}

// varies tells of an axis whether all cases have the same value of it, and whether some
// differ in it alone, beside the axes that are dropped, and none of these in its size.
func varies(all []sized, key string, dropped []string) (alike, independent bool) {
	alike = true
	type rest struct {
		value string
		bytes float64
	}
	first := make(map[string]rest)
	for _, s := range all {
		value, _ := s.axes.Get(key)
		if before, _ := all[0].axes.Get(key); value != before {
			alike = false
		}
		of := s.axes.Without(append(slices.Clone(dropped), key)...).Unique()
		other, ok := first[of]
		switch {
		case !ok:
			first[of] = rest{value, s.bytes}
		case other.bytes != s.bytes:
			return false, false
		case other.value != value:
			independent = true
		}
	}
	return alike, independent
}

// paged divides groups so that no page has more than maxBars bars.
func paged(groups []plot.BarGroup) (pages [][]plot.BarGroup) {
	room := 0
	for _, g := range groups {
		for rows := range slices.Chunk(g.Rows, maxBars) {
			if len(rows) > room {
				pages, room = append(pages, nil), maxBars
			}
			room -= len(rows)
			last := len(pages) - 1
			pages[last] = append(pages[last], plot.BarGroup{Name: g.Name, Rows: rows})
		}
	}
	return pages
}
