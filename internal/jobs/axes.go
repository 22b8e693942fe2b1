package jobs

import (
	"errors"
	"strconv"

	"github.com/spf13/pflag"

	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/usage"
	"github.com/zkbench/zkbench/internal/workload"
)

// DefineAxes defines the flags of the axes of defs, by the axis' key.
func DefineAxes(flags *pflag.FlagSet, defs []workload.Def, prefix string) map[string]*usage.Option {
	axes := make(map[string]*usage.Option)
	for _, def := range defs {
		for _, a := range def.Axes {
			if axes[a.Key] == nil {
				axes[a.Key] = usage.Define(flags, a.Long(), usage.KindList, "", a.Accepted, prefix+a.Usage+": "+a.Accepted)
			}
		}
	}
	return axes
}

// TypedAxes returns what was typed, by the axis' key.
func TypedAxes(axes map[string]*usage.Option) map[string]string {
	typed := make(map[string]string)
	for key, o := range axes {
		if o.Given {
			typed[key] = o.Text
		}
	}
	return typed
}

// ProcessorsAxis is the number of processors that a case may use.
func ProcessorsAxis() workload.Axis {
	a := measure.WorkersAxis()
	a.Name, a.Key, a.Flag, a.Usage = "processors", "cpus", "cpus", "numbers of processors"
	numbers := a.Parse
	a.Parse = func(list string) ([]string, error) {
		values, err := numbers(list)
		if wrong, ok := errors.AsType[*usage.ValueError](err); ok {
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
