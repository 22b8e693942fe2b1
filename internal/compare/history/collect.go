package history

import (
	"fmt"
	"slices"
	"time"

	"github.com/zkbench/zkbench/internal/result/env"
	"github.com/zkbench/zkbench/internal/result/record"
)

// build identifies what a session measured. A session of a comparison has two builds, and a record
// without a session is a session of its own.
type build struct {
	session, commit, golang, modules string
	side                             string // side of a comparison whose commits are not known
	alone                            *record.Record
}

func buildOf(r *record.Record) build {
	// Maps are printed in the order of their keys.
	b := build{session: r.Process.Session, commit: r.Env.Commit, golang: r.Env.Go, modules: fmt.Sprint(r.Env.Modules)}
	if b.commit == "" {
		b.side = r.Process.Side
	}
	if b.session == "" {
		b.alone = r
	}
	return b
}

// beginnings returns when each session began to measure each build. The records must be in order of
// time.
func beginnings(recs []*record.Record) map[build]time.Time {
	begun := make(map[build]time.Time)
	for _, r := range recs {
		if _, known := begun[buildOf(r)]; !known {
			begun[buildOf(r)] = r.Time
		}
	}
	return begun
}

// collect returns the lines of a metric, without their steps.
func collect(recs []*record.Record, metric string, begun map[build]time.Time) []Line {
	type subject struct{ workload, name, unit string }
	type place struct {
		line  *Line
		build build
	}
	lines := make(map[subject][]*Line) // one for each environment
	points := make(map[place]int)
	var order []subject
	for _, r := range recs {
		m, ok := r.MetricNamed(metric)
		if !ok {
			continue
		}
		s := subject{r.Workload, r.Case, m.Unit()}
		if lines[s] == nil {
			order = append(order, s)
		}
		i := slices.IndexFunc(lines[s], func(l *Line) bool { return len(env.Differences(l.Env, r.Env)) == 0 })
		if i < 0 {
			i = len(lines[s])
			lines[s] = append(lines[s], &Line{
				Workload: r.Workload, Case: r.Case, Env: r.Env, Metric: metric, Unit: m.Unit(), Exact: true, Better: m.Better(),
			})
		}
		l := lines[s][i]
		l.Exact = l.Exact && m.Kind == record.Exact
		at := place{l, buildOf(r)}
		p, known := points[at]
		if !known {
			p = len(l.Points)
			points[at] = p
			l.Points = append(l.Points, Point{Time: begun[at.build], Commit: r.Env.Commit, Go: r.Env.Go, Modules: r.Env.Modules})
		}
		l.Points[p].Values = append(l.Points[p].Values, m.Value)
	}
	var all []Line
	for _, s := range order {
		for _, l := range lines[s] {
			for _, p := range l.Points {
				slices.Sort(p.Values)
			}
			slices.SortStableFunc(l.Points, func(a, b Point) int { return a.Time.Compare(b.Time) })
			all = append(all, *l)
		}
	}
	return all
}
