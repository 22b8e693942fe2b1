package keccak_test

import (
	"flag"
	"os"
	"testing"

	"github.com/zkbench/zkbench/internal/measure"
	workloads "github.com/zkbench/zkbench/internal/workload/hash"
)

var options = measure.Flags(flag.CommandLine, workloads.KeccakNative())

func BenchmarkKeccakNative(b *testing.B) {
	measure.Benchmark(b, workloads.KeccakNative(), options)
}

func TestParallelBenchmarkKeccakNative(t *testing.T) {
	t.Parallel()
	measure.TestParallel(t, os.Stdout, workloads.KeccakNative(), options)
}
