package record

import (
	"cmp"
	"slices"
	"strconv"
)

// Line is a group of cases that one line of a chart connects.
type Line[C any] struct {
	Axes  Axes // the axes that its cases share
	Cases []C
}

// Lines groups cases into lines. Cases are on one line if they differ only in the axes with the given keys.
// Lines are in the order of their first cases. The function axes returns the axes of a case.
func Lines[C any](cases []C, axes func(C) Axes, along ...string) []Line[C] {
	return joined(cases, func(c C) []Axes { return []Axes{axes(c).Without(along...)} })
}

// joined puts each case on one line for each of the Axes that axes returns for it.
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

// OnSeveralCPUs returns the cases that were measured with several numbers of CPUs. Cases that differ only in
// the numbers of CPUs and workers count as one case that was measured several times. The cases must be of
// one workload and one environment. The function recordOf returns one record of a case.
func OnSeveralCPUs[C any](cases []C, recordOf func(C) *Record) []C {
	name := func(c C) string { return recordOf(c).Coordinates().Without(WorkersKey).Unique() }
	counts := make(map[string]map[int]bool)
	for _, c := range cases {
		if counts[name(c)] == nil {
			counts[name(c)] = make(map[int]bool)
		}
		counts[name(c)][recordOf(c).Processors()] = true
	}
	return slices.DeleteFunc(slices.Clone(cases), func(c C) bool { return len(counts[name(c)]) < 2 })
}

// SameAsCPUs stands for the number of workers on a line of a chart, if each case of the line has as
// many workers as processors.
const SameAsCPUs = "CPUs"

// LinesByCPUs groups cases that differ only in their number of CPUs into lines, each sorted by that number.
// The cases must be of one workload and one environment. The function recordOf returns one record of a case.
//
// The cases that have as many workers as CPUs form another line, whose number of workers is SameAsCPUs.
// LinesByCPUs adds this line only if the cases have several numbers of CPUs, and if at least one number of
// workers occurs only in cases with as many CPUs as workers. A number of workers that also occurs with other
// numbers of CPUs has a line of its own. If a case on such a line has as many workers as CPUs, it is on the
// line SameAsCPUs too.
func LinesByCPUs[C any](cases []C, recordOf func(C) *Record) []Line[C] {
	workers := func(c C) string { v, _ := recordOf(c).Axes.Get(WorkersKey); return v }
	own := func(c C) bool { return workers(c) == strconv.Itoa(recordOf(c).Processors()) }
	elsewhere := make(map[string]bool) // numbers of workers
	counts := make(map[int]bool)
	for _, c := range cases {
		counts[recordOf(c).Processors()] = true
		if !own(c) {
			elsewhere[workers(c)] = true
		}
	}
	follow := len(counts) > 1 && slices.ContainsFunc(cases, func(c C) bool { return !elsewhere[workers(c)] })
	lines := joined(cases, func(c C) (axes []Axes) {
		if !follow || elsewhere[workers(c)] {
			axes = append(axes, recordOf(c).Coordinates())
		}
		if follow && own(c) {
			same := recordOf(c).Coordinates()
			same[slices.IndexFunc(same, func(a Axis) bool { return a.Key == WorkersKey })].Value = SameAsCPUs
			axes = append(axes, same)
		}
		return axes
	})
	for _, l := range lines {
		slices.SortStableFunc(l.Cases, func(a, b C) int { return cmp.Compare(recordOf(a).Processors(), recordOf(b).Processors()) })
	}
	return lines
}
