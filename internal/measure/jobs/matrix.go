// Package jobs knows the flags that ask for a measurement, both ways: it makes the jobs of a
// command line's flags, and the command line that measures a record again.
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

// MainJob is what run does when no workload is named, all processors at work.
type MainJob struct {
	Workloads []string          // their names
	Axes      map[string]string // values by the axis' key
}

// Plans returns the matrices of the main job. typed, by the axis' key, takes
// precedence.
func (m *MainJob) Plans(defs []workload.Def, typed map[string]string) ([]workload.Plan, error) {
	lists := maps.Clone(m.Axes)
	maps.Copy(lists, typed)
	return Plans(defs, m.Workloads, lists)
}

// Plans returns the matrices of the named workloads. lists holds values by the
// axis' key. An axis that a workload lacks does not concern it; one that all of
// them lack is refused.
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
	if err := concerned(defs, named, lists); err != nil {
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

// SmallPlans is Plans with one small value for every axis that is not named.
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

// concerned refuses an axis in lists that none of the named workloads has, in
// the words of the flags.
func concerned(defs, named []workload.Def, lists map[string]string) error {
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

// DefineAxes defines the flags of the axes of defs, by the axis' key.
func DefineAxes(flags *pflag.FlagSet, defs []workload.Def, prefix string) map[string]*argument.Option {
	axes := make(map[string]*argument.Option)
	for _, def := range defs {
		for _, a := range def.Axes {
			if axes[a.Key] == nil {
				axes[a.Key] = argument.Define(flags, a.Long(), argument.KindList, "", a.Accepted, prefix+a.Usage+": "+a.Accepted)
			}
		}
	}
	return axes
}

// TypedAxes returns what was typed, by the axis' key.
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

// ProcessorsAxis is the number of processors that a case may use.
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

// ParseProcessors reads a list of numbers of processors.
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
