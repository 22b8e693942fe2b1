package bench

import (
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"sync"

	"github.com/zkbench/zkbench"
	"github.com/zkbench/zkbench/internal/cli"
	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/workload"
)

// Case is one point of a workload's axes. An axis reads its value.
type Case struct{ c workload.Case }

// String is the case's name, bytes=64/curve=BN254.
func (c Case) String() string { return c.c.String() }

// Axis is one dimension of a workload: Ints or Names.
type Axis interface {
	axis() (workload.Axis, error)
}

// axes are these as the instruments take them.
func axes(of []Axis) (all []workload.Axis, err error) {
	for i, a := range of {
		if a == nil {
			return nil, fmt.Errorf("%w: axis %d is nil; accepted: Ints, Names", zkbench.ErrParams, i+1)
		}
		one, err := a.axis()
		if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
	return all, nil
}

// IntAxis is an axis of whole numbers.
type IntAxis struct {
	of          workload.Axis
	least, most int
	values      []int
}

// Ints is an axis of whole numbers from least to most. Values are those of benchmarks and of run
// --matrix study; the first is the one of a run in which the flag is not given, and there is at
// least one. The name is the axis' in cases and of its flag.
func Ints(name, usage string, least, most int, values ...int) IntAxis {
	a := workload.Axis{Name: name, Usage: usage}
	if len(values) > 0 {
		a.Smoke = strconv.Itoa(values[0])
	}
	return IntAxis{workload.IntAxis(a, least, most, values...), least, most, values}
}

// Of is the axis' value in a case of a workload that has the axis.
func (a IntAxis) Of(c Case) int {
	n, err := a.of.Int(c.c)
	if err != nil {
		panic(fmt.Sprintf("bench: case %s of axis %s: %v", c, a.of.Key, err)) // of a workload without it
	}
	return n
}

func (a IntAxis) axis() (workload.Axis, error) {
	for _, v := range a.values {
		if v < a.least || v > a.most {
			return a.of, fmt.Errorf("%w: axis %s: value %d; accepted: %d to %d", zkbench.ErrParams, a.of.Name, v, a.least, a.most)
		}
	}
	return a.of, sound(a.of)
}

// NameAxis is an axis of names.
type NameAxis struct{ of workload.Axis }

// Names is an axis of names. The first is the one of a run in which the flag is not given, all
// are those of benchmarks.
func Names(name, usage string, accepted ...string) NameAxis {
	return NameAxis{workload.NameAxis(workload.Axis{Name: name, Usage: usage}, accepted, accepted)}
}

// Of is the axis' value in a case of a workload that has the axis.
func (a NameAxis) Of(c Case) string {
	name := c.c.Get(a.of.Key)
	if name == "" {
		panic(fmt.Sprintf("bench: case %s has no axis %s", c, a.of.Key)) // of a workload without it
	}
	return name
}

func (a NameAxis) axis() (workload.Axis, error) {
	for _, v := range a.of.Default {
		if !word.MatchString(v) {
			return a.of, fmt.Errorf("%w: axis %s: value %q; accepted: letters, digits, dots, dashes and underscores", zkbench.ErrParams, a.of.Name, v)
		}
	}
	return a.of, sound(a.of)
}

var (
	key  = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	word = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)
)

// reserved are the names that the commands' flags and the coordinates of a measurement have.
var reserved = sync.OnceValue(func() []string {
	return append(append(new(cli.Program).FlagNames(), measure.Coordinates()...), workload.MixKey, "side")
})

// sound refuses axes that could not be typed, or told from what a measurement adds.
func sound(a workload.Axis) error {
	switch {
	case !key.MatchString(a.Name):
		return fmt.Errorf("%w: axis %q: accepted as a name: small letters, digits and underscores, a letter first", zkbench.ErrParams, a.Name)
	case slices.Contains(reserved(), a.Long()):
		return fmt.Errorf("%w: axis %s: the name is taken by a flag or a coordinate of run; accepted: another", zkbench.ErrParams, a.Name)
	case len(slices.Compact(slices.Sorted(slices.Values(a.Default)))) < len(a.Default):
		return fmt.Errorf("%w: axis %s: a value stands twice; accepted: each once", zkbench.ErrParams, a.Name)
	case len(a.Default) == 0:
		return fmt.Errorf("%w: axis %s: no values; accepted: one or more", zkbench.ErrParams, a.Name)
	}
	return nil
}
