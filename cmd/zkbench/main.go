// Zkbench builds, load-tests and compares zero-knowledge payment proofs.
//
//	zkbench run                prove and verify transfers, with the default settings
//	zkbench run sender --curves BN254 --workers NumCPU --duration 10s
//	zkbench list               list the workloads; with a name, its axes and accepted values
//	zkbench help COMMAND       describe a command
//
// An axis is a parameter of a workload, for example its curve.
//
// The exit code is
//
//	0  if all is well
//	1  if an operation or a check failed, or something is beyond the limit of --gate or --fail-if
//	2  for wrong usage or input
//	3  if the command was stopped before its end, or its measurements are inconclusive
package main

import (
	"os"

	"github.com/zkbench/zkbench/internal/cli/zkbench"
)

func main() {
	os.Exit(zkbench.Program().Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
