// Benchmarking runs the benchmarks of a public study of confidential tokens
// (docs/measure.md). It has the flags of the study's own script:
//
//	go run ./cmd/benchmarking --count 10 --timeout 4s --benchName BenchmarkSender
//
// The command "zkbench suite study" runs the same benchmarks. To continue a run that was
// stopped, use "zkbench suite --resume DIR".
package main

import (
	"os"

	"github.com/zkbench/zkbench/internal/cli/zkbench"
)

func main() {
	os.Exit(zkbench.Benchmarking(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
