// Package convert lets the packages below bench make and read bench's types, although bench does
// not export their contents. Its variables are conversion functions, which package bench sets.
package convert

import "github.com/zkbench/zkbench/internal/workload"

var (
	// Def makes a bench.Def from a workload, or from the error in a
	// workload's definition.
	Def func(workload.Def, error) any
	// Case makes a bench.Case from a case of package workload.
	Case func(workload.Case) any
	// Workload returns the workload that a bench.Def contains, or the error
	// in its definition.
	Workload func(def any) (workload.Def, error)
	// Axes converts a []bench.Axis to axes of package workload.
	Axes func(any) ([]workload.Axis, error)
)
