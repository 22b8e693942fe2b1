// Package jobs translates between command lines and measurements. From the flags of a command line
// it makes the jobs that they ask for. From a record it makes the command line that repeats the
// record's measurement.
package jobs

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/zkbench/zkbench/internal/input/argument"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/result/record"
	"github.com/zkbench/zkbench/internal/runner"
	"github.com/zkbench/zkbench/internal/workload"
)

// MainJob is the list of cases that the run command measures if its command line names no workload.
// The run command measures these cases on all processors.
type MainJob struct {
	Workloads []string          // names
	Axes      map[string]string // lists of values by the axis' key
}

// Plans returns the workloads of the main job with their cases. The map typed maps the key of an
// axis to the list of values that the user gave for it. Such a list replaces the axis' list in
// m.Axes.
func (m *MainJob) Plans(defs []workload.Def, typed map[string]string) ([]workload.Plan, error) {
	lists := maps.Clone(m.Axes)
	maps.Copy(lists, typed)
	return Plans(defs, m.Workloads, lists)
}

// Plans returns the workloads of defs with the given names, and the cases of each of them. The map
// lists maps the keys of some axes to lists of values. A workload that does not have an axis
// ignores the values for it. Plans returns an *argument.ValueError if the map lists has values for
// an axis that none of the named workloads has, but another workload in defs has.
func Plans(defs []workload.Def, names []string, lists map[string]string) ([]workload.Plan, error) {
	var named []workload.Def
	for _, name := range names {
		def, err := workload.Find(defs, name)
		if err != nil {
			return nil, err
		}
		if !slices.ContainsFunc(named, func(d workload.Def) bool { return d.Name == def.Name }) {
			named = append(named, def)
		}
	}
	if err := checkAxes(defs, named, lists); err != nil {
		return nil, err
	}
	var all []workload.Plan
	for _, def := range named {
		cases, err := workload.Cases(def, lists)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", def.ID(), err)
		}
		all = append(all, workload.Plan{Def: def, Cases: cases})
	}
	return all, nil
}

// SmallPlans is like Plans. The map typed maps the keys of axes to lists of values. For every
// axis that is not in the map, SmallPlans uses one small value instead of the defaults.
func SmallPlans(defs []workload.Def, names []string, typed map[string]string) ([]workload.Plan, error) {
	lists := make(map[string]string)
	for _, name := range names {
		def, err := workload.Find(defs, name)
		if err != nil {
			return nil, err
		}
		for _, a := range def.Axes {
			lists[a.Key] = a.Smoke
		}
	}
	maps.Copy(lists, typed)
	return Plans(defs, names, lists)
}

// checkAxes returns an error that names the flags if lists has an axis that none of the named
// workloads has.
func checkAxes(defs, named []workload.Def, lists map[string]string) error {
	var ids, accepted []string
	for _, def := range named {
		ids = append(ids, def.ID())
		for _, a := range def.Axes {
			if flag := "--" + a.Long(); !slices.Contains(accepted, flag) {
				accepted = append(accepted, flag)
			}
		}
	}
	for _, def := range defs {
		for _, a := range def.Axes {
			if _, typed := lists[a.Key]; typed && !slices.Contains(accepted, "--"+a.Long()) {
				return &argument.ValueError{Field: "flag of " + strings.Join(ids, ", "), Value: "--" + a.Long(), Accepted: strings.Join(accepted, ", ")}
			}
		}
	}
	return nil
}

// AxesGroup is the title of the flags of axes (argument.Group). The help text of a command shows only the axes of
// those workloads that the command line names.
const AxesGroup = "Axes"

// DefineAxes adds a flag to a flag set for each axis of the workloads defs. It returns a map from
// the key of each axis to the axis' flag.
func DefineAxes(flags *pflag.FlagSet, defs []workload.Def) map[string]*argument.Option {
	axes := make(map[string]*argument.Option)
	accepted := make(map[string][]string)
	for _, def := range defs {
		for _, a := range def.Axes {
			if axes[a.Key] == nil {
				axes[a.Key] = argument.Define(flags, a.Long(), argument.KindList, "", "", a.Usage)
				argument.Group(flags, AxesGroup, a.Long())
			}
			if !slices.Contains(accepted[a.Key], a.Accepted) {
				accepted[a.Key] = append(accepted[a.Key], a.Accepted)
			}
		}
	}
	for key, o := range axes {
		o.Accepted = strings.Join(accepted[key], "; ")
	}
	return axes
}

// TypedAxes returns the texts of the flags that the user gave. The result maps the key of an axis
// to the text of the axis' flag. The parameter axes is a result of DefineAxes.
func TypedAxes(axes map[string]*argument.Option) map[string]string {
	typed := make(map[string]string)
	for key, o := range axes {
		if o.Given {
			typed[key] = o.Text
		}
	}
	return typed
}

// MaxProcessors is the largest number of processors that a case can ask for.
const MaxProcessors = runner.MaxWorkers

// ProcessorsAxis returns the axis (parameter of a case) for the number of processors that a case
// may use.
func ProcessorsAxis() workload.Axis {
	a := measure.WorkersAxis()
	a.Name, a.Key, a.Flag, a.Usage = "processors", record.CPUsKey, record.CPUsKey, "numbers of processors"
	numbers := a.Parse
	a.Parse = func(list string) ([]string, error) {
		values, err := numbers(list)
		if wrong, ok := errors.AsType[*argument.ValueError](err); ok {
			wrong.Field = a.Flag
		}
		return values, err
	}
	return a
}

// ParseProcessors parses a comma-separated list of numbers of processors.
func ParseProcessors(list string) (counts []int, err error) {
	values, err := ProcessorsAxis().Parse(list)
	if err != nil {
		return nil, err
	}
	for _, v := range values {
		n, err := strconv.Atoi(v)
		if err != nil {
			return nil, err
		}
		counts = append(counts, n)
	}
	return counts, nil
}
