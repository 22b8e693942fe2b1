package charts

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/zkbench/zkbench/internal/result/env"
	"github.com/zkbench/zkbench/internal/result/format"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/view/plot"
)

// group are the cases of a workload in one environment.
type group struct {
	workload      string
	env           *environment
	loads, stages []*cell
	processes     int
	failed        int // of processes
}

// environment is a machine and a build.
type environment struct {
	record.Env
	number  int      // from 1
	name    string   // as in suite.Results
	differs []string // in what it is unlike the first
}

// cell is a case at a number of CPUs, and its repetitions.
type cell struct {
	axes record.Axes // without that of the CPUs
	cpus int
	recs []*record.Record
}

// gather groups records; the order is that of the first of each.
func gather(recs []*record.Record) []*group {
	var groups []*group
	var all env.Distinct
	var environments []*environment // as many
	cells := make(map[string]*cell)
	for _, r := range recs {
		i := all.Index(r.Env)
		if i == len(environments) {
			environments = append(environments, newEnvironment(all, i))
		}
		g := groupOf(&groups, r.Workload, environments[i])
		g.processes++
		staged := slices.ContainsFunc(r.Metrics, func(m record.Metric) bool { return m.Group() == record.Stages })
		_, loaded := r.Metric(record.Throughput)
		if r.Status != record.OK {
			g.failed++
			continue
		}
		if !staged && !loaded {
			continue
		}
		axes := r.Coordinates()
		key := fmt.Sprintf("%q %d %t %s %d", g.workload, g.env.number, loaded, axes.Unique(), r.Processors())
		c := cells[key]
		if c == nil {
			c = &cell{axes: axes, cpus: r.Processors()}
			cells[key] = c
			if loaded {
				g.loads = append(g.loads, c)
			} else {
				g.stages = append(g.stages, c)
			}
		}
		c.recs = append(c.recs, r)
	}
	return groups
}

// groupOf returns the group of a workload in an environment, a new one where there is
// none.
func groupOf(groups *[]*group, workload string, e *environment) *group {
	for _, g := range *groups {
		if g.workload == workload && g.env == e {
			return g
		}
	}
	fresh := &group{workload: workload, env: e}
	*groups = append(*groups, fresh)
	return fresh
}

// newEnvironment is environment i of all, and in what it is unlike the first.
func newEnvironment(all env.Distinct, i int) *environment {
	first, e := all[0], all[i]
	fresh := &environment{Env: e, number: i + 1, name: all.Name(i)}
	first.Commit, e.Commit = format.Commit(first.Commit), format.Commit(e.Commit)
	fresh.differs = env.AllDifferences(first, e)
	return fresh
}

// only returns the axes with these keys, in their order.
func only(axes record.Axes, keys ...string) (some record.Axes) {
	for _, key := range keys {
		if v, ok := axes.Get(key); ok {
			some = append(some, record.Axis{Key: key, Value: v})
		}
	}
	return some
}

// first stands for the cell where a record of it is asked for.
func (c *cell) first() *record.Record { return c.recs[0] }

func (c *cell) coordinates() record.Axes { return c.axes }

// values are those of a metric in the repetitions that have it, in units of 1/scale.
func (c *cell) values(metric record.Quantity, scale float64) (all []float64) {
	for _, r := range c.recs {
		if m, ok := r.Metric(metric); ok {
			all = append(all, m.Value*scale)
		}
	}
	return all
}

// extent is what values lie within; none where there are less than two.
func extent(values []float64) plot.Interval {
	if len(values) < 2 {
		return plot.Interval{}
	}
	return plot.Interval{Least: slices.Min(values), Most: slices.Max(values)}
}

// keys returns the keys of all axes, those in which cases differ and the others.
func keys[C any](cases []C, axes func(C) record.Axes) (differ, same []string) {
	var all []string
	for _, c := range cases {
		for _, a := range axes(c) {
			if !slices.Contains(all, a.Key) {
				all = append(all, a.Key)
			}
		}
	}
	for _, key := range all {
		first, had := axes(cases[0]).Get(key)
		if slices.ContainsFunc(cases, func(c C) bool { v, has := axes(c).Get(key); return v != first || has != had }) {
			differ = append(differ, key)
		} else {
			same = append(same, key)
		}
	}
	return differ, same
}

// words names a case by some of its axes: numbers with the axis' key, names by themselves.
func words(axes record.Axes) string {
	parts := make([]string, len(axes))
	for i, a := range axes {
		switch a.Key {
		case record.CPUsKey:
			parts[i] = cpus(number(a.Value))
		case record.WorkersKey:
			parts[i] = a.Value
			if n, err := strconv.Atoi(a.Value); err == nil {
				parts[i] = format.Plural(n, "worker")
			} else if a.Value == record.SameAsCPUs {
				parts[i] = "as many workers as CPUs"
			}
		default:
			parts[i] = a.Key + " " + cmp.Or(a.Value, "without value")
			if isName(a.Value) {
				parts[i] = a.Value
			}
		}
	}
	return strings.Join(parts, ", ")
}

// isName reports whether a value says by itself what it is: it begins with a letter, is longer than one, and is not true or
// false.
func isName(value string) bool {
	first, size := utf8.DecodeRuneInString(value)
	return unicode.IsLetter(first) && len(value) > size && value != "true" && value != "false"
}

func cpus(n int) string { return format.Plural(n, "CPU") }

// title names a chart of a group: what it shows, and of which cases.
func (g *group) title(shows string, of record.Axes) string {
	title := g.workload + ": " + shows
	if len(of) > 0 {
		title += ", " + words(of)
	}
	if g.env.name != "" {
		title += ", " + g.env.name
	}
	return title
}

// notes say what is common to the cells and not in the title, where they were measured,
// and how often.
func (g *group) notes(common record.Axes, cells []*cell, more string) []string {
	var all []string
	if len(common) > 0 {
		all = append(all, words(common))
	}
	all = append(all, format.Build(g.env.Env))
	for _, d := range g.env.differs {
		all = append(all, "unlike environment 1 in "+d)
	}
	least, most := len(cells[0].recs), 0
	for _, c := range cells {
		least, most = min(least, len(c.recs)), max(most, len(c.recs))
	}
	counted := format.Plural(most, "repetition")
	if least < most {
		counted = fmt.Sprintf("%d to %s", least, counted)
	}
	if most > 1 {
		counted = "median of " + counted + more
	}
	if g.failed > 0 {
		counted += fmt.Sprintf("; %d of the workload's %d processes failed and are left out", g.failed, g.processes)
	}
	return append(all, counted)
}
