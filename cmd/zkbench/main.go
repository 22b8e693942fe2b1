// Zkbench builds, load-tests and compares zero-knowledge payment proofs.
//
//	zkbench run                the main job: transfers proved and verified
//	zkbench run sender --curves BN254 --workers NumCPU --duration 10s
//	zkbench list               workloads, their axes and accepted values
//
// Exit codes: 0 all is fine, 1 an operation or a check failed, 2 wrong usage or
// input, 3 stopped before the end.
package main

import (
	"os"

	"github.com/zkbench/zkbench/internal/cli/zkbench"
)

func main() {
	os.Exit(zkbench.Program().Run(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
