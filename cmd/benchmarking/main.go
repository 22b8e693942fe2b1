// Benchmarking runs the benchmarks of the study of confidential tokens by the flags of the
// study's script:
//
//	go run ./cmd/benchmarking --count 10 --timeout 4s --benchName BenchmarkSender
//
// It is zkbench suite study: what was stopped goes on with zkbench suite --resume DIR.
package main

import (
	"os"

	"github.com/zkbench/zkbench/internal/cli/zkbench"
)

func main() {
	os.Exit(zkbench.Benchmarking(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
