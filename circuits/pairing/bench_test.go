package pairing_test

import (
	"flag"
	"os"
	"testing"

	"github.com/zkbench/zkbench/internal/workload"
	workloads "github.com/zkbench/zkbench/internal/workload/circuits"
)

var options *workload.Options

func TestMain(m *testing.M) {
	options = workload.Flags(flag.CommandLine, workloads.Pairing().Axes...)
	flag.Parse()
	os.Exit(m.Run())
}

func BenchmarkPairing(b *testing.B) { workload.Benchmark(b, workloads.Pairing(), options) }

func TestParallelBenchmarkPairing(t *testing.T) {
	workload.TestParallel(t, os.Stdout, workloads.Pairing(), options)
}
