package keccak_test

import (
	"flag"
	"os"
	"testing"

	"github.com/zkbench/zkbench/internal/measure"
	workloads "github.com/zkbench/zkbench/internal/workload/stark"
)

var options = measure.Flags(flag.CommandLine, workloads.KeccakStark(), workloads.ProofBatch())

func BenchmarkKeccakStark(b *testing.B) {
	measure.Benchmark(b, workloads.KeccakStark(), options)
}

func BenchmarkProofBatch(b *testing.B) {
	measure.Benchmark(b, workloads.ProofBatch(), options)
}

func TestParallelBenchmarkProofBatch(t *testing.T) {
	t.Parallel()
	measure.TestParallel(t, os.Stdout, workloads.ProofBatch(), options)
}

func TestParallelBenchmarkKeccakStark(t *testing.T) {
	t.Parallel()
	measure.TestParallel(t, os.Stdout, workloads.KeccakStark(), options)
}
