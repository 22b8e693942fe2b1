package merkle_test

import (
	"flag"
	"os"
	"testing"

	"github.com/zkbench/zkbench/internal/measure"
	workloads "github.com/zkbench/zkbench/internal/workload/goldilocks"
)

var options = measure.Flags(flag.CommandLine, workloads.MerkleBuild(), workloads.MerkleOpen(), workloads.MerkleFile())

func BenchmarkMerkleBuild(b *testing.B) { measure.Benchmark(b, workloads.MerkleBuild(), options) }

func BenchmarkMerkleOpen(b *testing.B) { measure.Benchmark(b, workloads.MerkleOpen(), options) }

func BenchmarkMerkleFile(b *testing.B) { measure.Benchmark(b, workloads.MerkleFile(), options) }

func TestParallelBenchmarkMerkleBuild(t *testing.T) {
	measure.TestParallel(t, os.Stdout, workloads.MerkleBuild(), options)
}

func TestParallelBenchmarkMerkleOpen(t *testing.T) {
	measure.TestParallel(t, os.Stdout, workloads.MerkleOpen(), options)
}

func TestParallelBenchmarkMerkleFile(t *testing.T) {
	measure.TestParallel(t, os.Stdout, workloads.MerkleFile(), options)
}
