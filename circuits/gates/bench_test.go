package gates_test

import (
	"flag"
	"os"
	"testing"

	"github.com/zkbench/zkbench/internal/workload"
	workloads "github.com/zkbench/zkbench/internal/workload/circuits"
)

var options *workload.Options

func TestMain(m *testing.M) {
	options = workload.Flags(flag.CommandLine, workloads.Gates().Axes...)
	flag.Parse()
	os.Exit(m.Run())
}

func BenchmarkGates(b *testing.B) { workload.Benchmark(b, workloads.Gates(), options) }

func TestParallelBenchmarkGates(t *testing.T) {
	workload.TestParallel(t, os.Stdout, workloads.Gates(), options)
}
