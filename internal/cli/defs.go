package cli

import (
	"slices"

	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/internal/workload/circuits"
	"github.com/zkbench/zkbench/internal/workload/goldilocks"
	"github.com/zkbench/zkbench/internal/workload/hash"
	"github.com/zkbench/zkbench/internal/workload/token"
)

// family is the workloads of one room.
type family struct {
	name string
	defs []workload.Def
}

// Defs joins the definitions of all families, in the order of list.
func Defs() []workload.Def {
	return slices.Concat(token.Defs(), circuits.Defs(), hash.Defs(), goldilocks.Defs())
}

// families are defs by their rooms, in the order of list.
func families(defs []workload.Def) []family {
	all := []family{{"token", token.Defs()}, {"circuits", circuits.Defs()}, {"hash", hash.Defs()}, {"goldilocks", goldilocks.Defs()}}
	for i := range all {
		all[i].defs = slices.DeleteFunc(all[i].defs, func(d workload.Def) bool {
			return !slices.ContainsFunc(defs, func(o workload.Def) bool { return o.Name == d.Name })
		})
	}
	return all
}
