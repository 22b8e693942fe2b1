// Package convert lets the packages below bench make and read its types, of which others see
// only what they need. Package bench sets its functions.
package convert

import "github.com/zkbench/zkbench/internal/workload"

var (
	// Def is the bench.Def of a workload, or of what is wrong with it.
	Def func(workload.Def, error) any
	// Case is the bench.Case of a case.
	Case func(workload.Case) any
	// Workload is that of a bench.Def.
	Workload func(def any) (workload.Def, error)
	// Axes are those of a slice of bench.Axis.
	Axes func(any) ([]workload.Axis, error)
)
