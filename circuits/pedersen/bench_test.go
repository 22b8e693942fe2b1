package pedersen_test

import (
	"flag"
	"os"
	"testing"

	"github.com/zkbench/zkbench/internal/workload"
	workloads "github.com/zkbench/zkbench/internal/workload/circuits"
)

var options *workload.Options

func TestMain(m *testing.M) {
	options = workload.Flags(flag.CommandLine, workloads.Pedersen().Axes...)
	flag.Parse()
	os.Exit(m.Run())
}

func BenchmarkPedersen(b *testing.B) { workload.Benchmark(b, workloads.Pedersen(), options) }

func TestParallelBenchmarkPedersen(t *testing.T) {
	workload.TestParallel(t, os.Stdout, workloads.Pedersen(), options)
}
