package cli

import (
	"slices"

	"github.com/zkbench/zkbench/internal/suite"
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/internal/workload/circuits"
	"github.com/zkbench/zkbench/internal/workload/goldilocks"
	"github.com/zkbench/zkbench/internal/workload/hash"
	"github.com/zkbench/zkbench/internal/workload/token"
)

// Defs joins the definitions of all families, in the order of list.
func Defs() []workload.Def {
	return slices.Concat(token.Defs(), circuits.Defs(), hash.Defs(), goldilocks.Defs())
}

// families are defs by their rooms, in the order of list.
func families(defs []workload.Def) []suite.Family {
	all := []suite.Family{{Name: "token", Defs: token.Defs()}, {Name: "circuits", Defs: circuits.Defs()}, {Name: "hash", Defs: hash.Defs()}, {Name: "goldilocks", Defs: goldilocks.Defs()}}
	for i := range all {
		all[i].Defs = slices.DeleteFunc(all[i].Defs, func(d workload.Def) bool {
			return !slices.ContainsFunc(defs, func(o workload.Def) bool { return o.Name == d.Name })
		})
	}
	return all
}
