package keccak_test

import (
	"flag"
	"os"
	"testing"

	"github.com/zkbench/zkbench/internal/workload"
	workloads "github.com/zkbench/zkbench/internal/workload/hash"
)

var options *workload.Options

func TestMain(m *testing.M) {
	options = workload.Flags(flag.CommandLine, workloads.KeccakNative().Axes...)
	flag.Parse()
	os.Exit(m.Run())
}

func BenchmarkKeccakNative(b *testing.B) {
	workload.Benchmark(b, workloads.KeccakNative(), options)
}

func TestParallelBenchmarkKeccakNative(t *testing.T) {
	workload.TestParallel(t, os.Stdout, workloads.KeccakNative(), options)
}
