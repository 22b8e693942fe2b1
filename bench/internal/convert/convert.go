// Package convert lets the packages below bench make and read bench's types, although bench does
// not export their contents. Package bench sets the variables.
package convert

import "github.com/zkbench/zkbench/internal/workload"

var (
	// Def returns a workload, or the error in its definition, as a bench.Def.
	Def func(workload.Def, error) any
	// Case returns a case as a bench.Case.
	Case func(workload.Case) any
	// Workload returns the workload of a bench.Def.
	Workload func(def any) (workload.Def, error)
	// Axes converts a []bench.Axis to axes of package workload.
	Axes func(any) ([]workload.Axis, error)
)
