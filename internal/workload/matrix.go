package workload

import (
	"fmt"

	"github.com/zkbench/zkbench/internal/record"
	"github.com/zkbench/zkbench/internal/usage"
)

// maxCases bounds a matrix: beyond it a slip in a range would run for days.
const maxCases = 100_000

// Cases returns the matrix of def: the product of its axes, the last one
// fastest. lists holds what the user typed, by the axis' key; an axis without
// an entry takes its default.
func Cases(def Def, lists map[string]string) ([]Case, error) {
	cases := []Case{{}}
	for _, axis := range def.Axes {
		values := axis.Default
		if list, typed := lists[axis.Key]; typed {
			var err error
			if values, err = axis.Parse(list); err != nil {
				return nil, err
			}
		}
		if err := usage.AtMost("cases", int64(len(cases))*int64(len(values)), maxCases); err != nil {
			return nil, fmt.Errorf("matrix of %s: %w", def.ID(), err)
		}
		next := make([]Case, 0, len(cases)*len(values))
		for _, c := range cases {
			for _, v := range values {
				next = append(next, NewCase(append(c.Axes(), record.Axis{Key: axis.Key, Value: v})...))
			}
		}
		cases = next
	}
	return cases, nil
}

// Plan is a workload with the cases to be run.
type Plan struct {
	Def   Def
	Cases []Case
}
