package keccak_test

import (
	"flag"
	"os"
	"testing"

	"github.com/zkbench/zkbench/internal/workload"
	workloads "github.com/zkbench/zkbench/internal/workload/circuits"
)

var options *workload.Options

func TestMain(m *testing.M) {
	options = workload.Flags(flag.CommandLine, workloads.Keccak().Axes...)
	flag.Parse()
	os.Exit(m.Run())
}

func BenchmarkKeccak(b *testing.B) { workload.Benchmark(b, workloads.Keccak(), options) }

func TestParallelBenchmarkKeccak(t *testing.T) {
	workload.TestParallel(t, os.Stdout, workloads.Keccak(), options)
}
