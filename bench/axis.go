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

// Case is one combination of values, one for each axis of a workload. The Value method of an
// axis returns the axis' value in a Case.
type Case struct{ c workload.Case }

// String returns the case's name, for example "bytes=64/curve=BN254".
func (c Case) String() string { return c.c.String() }

// Axis is one parameter of a workload, with the values that it may have. Use Ints or Names to make
// one. Other packages cannot implement Axis.
type Axis interface {
	axis() (workload.Axis, error)
}

// axes converts axes to those of package workload.
func axes(list []Axis) (all []workload.Axis, err error) {
	for i, a := range list {
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

// IntAxis is an axis whose values are integers. Ints makes one.
type IntAxis struct {
	inner       workload.Axis
	least, most int
	values      []int
}

// Ints returns an axis whose values are the integers from least to most. The parameter name is the
// axis' name in the names of cases and on the command line, where the axis has a flag. It consists
// of lower-case letters, digits and underscores, and starts with a letter. The parameter usage is
// the flag's help text. Benchmarks and the command "run --matrix study" measure the given values.
// There must be at least one value. A run without the flag measures the first of them.
func Ints(name, usage string, least, most int, values ...int) IntAxis {
	a := workload.Axis{Name: name, Usage: usage}
	if len(values) > 0 {
		a.Smoke = strconv.Itoa(values[0])
	}
	return IntAxis{workload.IntAxis(a, least, most, values...), least, most, values}
}

// Value returns the axis' value in c. It panics if the workload of c does not have the axis.
func (a IntAxis) Value(c Case) int {
	n, err := a.inner.Int(c.c)
	if err != nil {
		panic(fmt.Sprintf("bench: case %s of axis %s: %v", c, a.inner.Key, err))
	}
	return n
}

func (a IntAxis) axis() (workload.Axis, error) {
	for _, v := range a.values {
		if v < a.least || v > a.most {
			return a.inner, fmt.Errorf("%w: axis %s: value %d; accepted: %d to %d", zkbench.ErrParams, a.inner.Name, v, a.least, a.most)
		}
	}
	return a.inner, sound(a.inner)
}

// NameAxis is an axis whose values are names. Names makes one.
type NameAxis struct{ inner workload.Axis }

// Names returns an axis whose values are the accepted names. Benchmarks measure all of them; a run
// without the axis' flag measures the first. The parameters name and usage mean the same as in
// Ints.
func Names(name, usage string, accepted ...string) NameAxis {
	return NameAxis{workload.NameAxis(workload.Axis{Name: name, Usage: usage}, accepted, accepted)}
}

// Value returns the axis' value in c. It panics if the workload of c does not have the axis.
func (a NameAxis) Value(c Case) string {
	name := c.c.Get(a.inner.Key)
	if name == "" {
		panic(fmt.Sprintf("bench: case %s has no axis %s", c, a.inner.Key))
	}
	return name
}

func (a NameAxis) axis() (workload.Axis, error) {
	for _, v := range a.inner.Default {
		if !word.MatchString(v) {
			return a.inner, fmt.Errorf("%w: axis %s: value %q; accepted: letters, digits, dots, dashes and underscores", zkbench.ErrParams, a.inner.Name, v)
		}
	}
	return a.inner, sound(a.inner)
}

var (
	key  = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
	word = regexp.MustCompile(`^[A-Za-z0-9_.-]+$`)
)

// reserved returns the names that an axis may not have: those of the commands' flags and of a
// measurement's coordinates.
var reserved = sync.OnceValue(func() []string {
	return append(append(new(cli.Program).FlagNames(), measure.Coordinates()...), workload.MixKey, "side")
})

// sound returns ErrParams if an axis cannot be typed as a flag, or could be confused with what a
// measurement adds.
func sound(a workload.Axis) error {
	switch {
	case !key.MatchString(a.Name):
		return fmt.Errorf("%w: axis %q: accepted as a name: lower-case letters, digits and underscores, a letter first", zkbench.ErrParams, a.Name)
	case slices.Contains(reserved(), a.Long()):
		return fmt.Errorf("%w: axis %s: the name is taken by a flag or a coordinate of run; accepted: another name", zkbench.ErrParams, a.Name)
	case len(slices.Compact(slices.Sorted(slices.Values(a.Default)))) < len(a.Default):
		return fmt.Errorf("%w: axis %s: a value is repeated; accepted: each value once", zkbench.ErrParams, a.Name)
	case len(a.Default) == 0:
		return fmt.Errorf("%w: axis %s: no values; accepted: one or more", zkbench.ErrParams, a.Name)
	}
	return nil
}
