package workload

import (
	"slices"
	"strings"
)

// DistinctAxes returns the axes of all workloads in the order of their first appearance. Axes with the same key are
// listed separately if their meanings, accepted values or defaults differ. The texts of their accepted values then
// name the workloads.
func DistinctAxes(defs []Def) []Axis {
	same := func(a, b Axis) bool {
		return a.Key == b.Key && a.Usage == b.Usage && a.Accepted == b.Accepted && a.Depends == b.Depends && a.Smoke == b.Smoke && slices.Equal(a.Default, b.Default)
	}
	var axes []Axis
	var users [][]string // ids of the workloads that have each axis
	for _, def := range defs {
		for _, a := range def.Axes {
			i := slices.IndexFunc(axes, func(b Axis) bool { return same(a, b) })
			if i < 0 {
				i = len(axes)
				axes, users = append(axes, a), append(users, nil)
			}
			users[i] = append(users[i], def.ID())
		}
	}
	shown := slices.Clone(axes)
	for i, a := range axes {
		if slices.ContainsFunc(axes, func(b Axis) bool { return a.Key == b.Key && !same(a, b) }) {
			shown[i].Accepted += " (of " + strings.Join(users[i], ", ") + ")"
		}
	}
	return shown
}

// Small returns the case that the command measures if no flag of an axis is given: every axis has its small value
// (Axis.Smoke).
func (d Def) Small() (Case, error) {
	lists := make(map[string]string, len(d.Axes))
	for _, a := range d.Axes {
		lists[a.Key] = a.Smoke
	}
	cases, err := Cases(d, lists)
	if err != nil || len(cases) == 0 {
		return Case{}, err
	}
	return cases[0], nil
}
