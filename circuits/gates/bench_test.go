package gates_test

import (
	"flag"
	"os"
	"testing"

	"github.com/zkbench/zkbench/internal/measure"
	workloads "github.com/zkbench/zkbench/internal/workload/circuits"
)

var options = measure.Flags(flag.CommandLine, workloads.Gates())

func BenchmarkGates(b *testing.B) { measure.Benchmark(b, workloads.Gates(), options) }

func TestParallelBenchmarkGates(t *testing.T) {
	measure.TestParallel(t, os.Stdout, workloads.Gates(), options)
}
