package merkle_test

import (
	"flag"
	"os"
	"testing"

	"github.com/zkbench/zkbench/internal/workload"
	workloads "github.com/zkbench/zkbench/internal/workload/goldilocks"
)

var options *workload.Options

func TestMain(m *testing.M) {
	build := workloads.MerkleBuild()
	options = workload.Flags(flag.CommandLine, build.Axes[:3]...) // the executor's axis is there
	flag.Parse()
	os.Exit(m.Run())
}

func BenchmarkMerkleBuild(b *testing.B) { workload.Benchmark(b, workloads.MerkleBuild(), options) }

func BenchmarkMerkleOpen(b *testing.B) { workload.Benchmark(b, workloads.MerkleOpen(), options) }

func TestParallelBenchmarkMerkleBuild(t *testing.T) {
	workload.TestParallel(t, os.Stdout, workloads.MerkleBuild(), options)
}

func TestParallelBenchmarkMerkleOpen(t *testing.T) {
	workload.TestParallel(t, os.Stdout, workloads.MerkleOpen(), options)
}
