package record

import (
	"cmp"
	"slices"
	"strconv"
)

// Line is what one line of a chart joins.
type Line[C any] struct {
	Axes  Axes // which its cases share
	Cases []C
}

// Lines joins the cases that differ in nothing but the axes along, in the order of the
// first of each line.
func Lines[C any](cases []C, axes func(C) Axes, along ...string) []Line[C] {
	return joined(cases, func(c C) []Axes { return []Axes{axes(c).Without(along...)} })
}

// joined puts each case on the lines that have one of its axes.
func joined[C any](cases []C, axes func(C) []Axes) (lines []Line[C]) {
	index := make(map[string]int)
	for _, c := range cases {
		for _, shared := range axes(c) {
			i, ok := index[shared.Unique()]
			if !ok {
				i = len(lines)
				index[shared.Unique()], lines = i, append(lines, Line[C]{Axes: shared})
			}
			lines[i].Cases = append(lines[i].Cases, c)
		}
	}
	return lines
}

// OnSeveralCPUs returns those of a workload's cases in an environment, each given by one of
// its records, that were measured with several numbers of CPUs, whatever the workers.
func OnSeveralCPUs[C any](cases []C, of func(C) *Record) []C {
	name := func(c C) string { return of(c).Coordinates().Without(WorkersKey).Unique() }
	counts := make(map[string]map[int]bool)
	for _, c := range cases {
		if counts[name(c)] == nil {
			counts[name(c)] = make(map[int]bool)
		}
		counts[name(c)][of(c).Processors()] = true
	}
	return slices.DeleteFunc(slices.Clone(cases), func(c C) bool { return len(counts[name(c)]) < 2 })
}

// SameAsCPUs is the number of workers of a line whose cases have as many as CPUs.
const SameAsCPUs = "CPUs"

// LinesByCPUs joins a workload's cases in an environment that differ in their CPUs only, in
// the order of these. Those of as many workers as CPUs are one line too. Which were meant so
// is seen where a number of workers occurs at its own number of CPUs alone; where one
// occurs elsewhere as well, its case at its own number is on both lines.
func LinesByCPUs[C any](cases []C, of func(C) *Record) []Line[C] {
	workers := func(c C) string { v, _ := of(c).Axes.Get(WorkersKey); return v }
	own := func(c C) bool { return workers(c) == strconv.Itoa(of(c).Processors()) }
	elsewhere := make(map[string]bool) // numbers of workers
	counts := make(map[int]bool)
	for _, c := range cases {
		counts[of(c).Processors()] = true
		if !own(c) {
			elsewhere[workers(c)] = true
		}
	}
	follow := len(counts) > 1 && slices.ContainsFunc(cases, func(c C) bool { return !elsewhere[workers(c)] })
	lines := joined(cases, func(c C) (axes []Axes) {
		if !follow || elsewhere[workers(c)] {
			axes = append(axes, of(c).Coordinates())
		}
		if follow && own(c) {
			same := of(c).Coordinates()
			same[slices.IndexFunc(same, func(a Axis) bool { return a.Key == WorkersKey })].Value = SameAsCPUs
			axes = append(axes, same)
		}
		return axes
	})
	for _, l := range lines {
		slices.SortStableFunc(l.Cases, func(a, b C) int { return cmp.Compare(of(a).Processors(), of(b).Processors()) })
	}
	return lines
}
