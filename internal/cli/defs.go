package cli

import (
	"slices"

	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/internal/workload/circuits"
	"github.com/zkbench/zkbench/internal/workload/hash"
	"github.com/zkbench/zkbench/internal/workload/token"
)

// Defs joins the definitions of all families, in the order of list.
func Defs() []workload.Def {
	return slices.Concat(token.Defs(), circuits.Defs(), hash.Defs())
}
