package pairing_test

import (
	"flag"
	"os"
	"testing"

	"github.com/zkbench/zkbench/internal/measure"
	"github.com/zkbench/zkbench/internal/testing/testsize"
	workloads "github.com/zkbench/zkbench/internal/workload/circuits"
)

var options = measure.Flags(flag.CommandLine, workloads.Pairing())

func BenchmarkPairing(b *testing.B) { measure.Benchmark(b, workloads.Pairing(), options) }

func TestParallelBenchmarkPairing(t *testing.T) {
	testsize.Full(t)
	measure.TestParallel(t, os.Stdout, workloads.Pairing(), options)
}
