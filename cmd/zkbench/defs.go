package main

import (
	"github.com/zkbench/zkbench/internal/workload"
	"github.com/zkbench/zkbench/internal/workload/token"
)

// defs joins the definitions of all families, in the order of list.
func defs() []workload.Def {
	return token.Defs()
}
