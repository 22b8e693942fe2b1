package head_test

import (
	"flag"
	"os"
	"testing"

	"github.com/zkbench/zkbench/internal/measure"
	workloads "github.com/zkbench/zkbench/internal/workload/token"
)

var options = measure.Flags(flag.CommandLine, workloads.HeadSign())

func BenchmarkHeadSign(b *testing.B) {
	measure.Benchmark(b, workloads.HeadSign(), options)
}

func TestParallelBenchmarkHeadSign(t *testing.T) {
	measure.TestParallel(t, os.Stdout, workloads.HeadSign(), options)
}
